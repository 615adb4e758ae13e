//! Limits for communication with a forge, each with its reason.

use std::time::Duration;

/// Timeout for connecting: the next round retries.
pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Timeout for an exchange, from the first byte sent to the last byte read: a forge answers one pull request within
/// seconds.
pub const EXCHANGE_TIMEOUT: Duration = Duration::from_secs(30);
/// The same for Azure DevOps, which holds requests back for up to 30 seconds before it answers 429.
pub const EXCHANGE_TIMEOUT_AZURE_DEVOPS: Duration = Duration::from_secs(60);
/// Maximum number of bytes of an answer, uncompressed: a page of pull requests with 65,536 characters of up to four
/// bytes each.
pub const ANSWER_BYTES_MAX: usize = 8 << 20;
/// Delay before a read is sent for the second and last time, long enough for a proxy to drop a dead connection.
pub const READ_RETRY_PAUSE: Duration = Duration::from_millis(250);
/// Number of entries of a page: what [`ANSWER_BYTES_MAX`] holds in the worst case, and at most what Gitea sends.
pub const PAGE_ENTRIES: usize = 30;
/// Maximum number of pages of a list: 900 entries. A repository of plans has a few open pull requests.
pub const PAGES_MAX: u32 = 30;
/// Maximum number of characters that are repeated of a forge's message.
pub const WORDS_LETTERS_MAX: usize = 300;
/// Maximum length of a kept name of a user or branch, or title: no forge allows more than 255.
pub const NAME_LETTERS_MAX: usize = 300;
/// Wait after a 429 without a time: GitHub requires at least a minute.
pub const WAIT_DEFAULT: Duration = Duration::from_secs(60);
/// Maximum wait that a forge may request: GitHub's budgets are hourly.
pub const WAIT_MAX: Duration = Duration::from_secs(3_600);
