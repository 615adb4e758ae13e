//! Every bound of talking to a forge, each with its reason.

use std::time::Duration;

/// The longest wait for a connection: the next round tries again.
pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// The longest exchange, from the first byte sent to the last byte read: a forge answers one pull request within seconds.
pub const EXCHANGE_TIMEOUT: Duration = Duration::from_secs(30);
/// The same for Azure DevOps, which holds requests back for up to 30 seconds before it answers 429.
pub const EXCHANGE_TIMEOUT_AZURE_DEVOPS: Duration = Duration::from_secs(60);
/// The most bytes of an answer, unpacked: a page of pull requests, each with 65,536 letters, which may be of four bytes.
pub const ANSWER_BYTES_MAX: usize = 8 << 20;
/// The pause before a read is sent for the second and last time, long enough for a proxy to drop a dead connection.
pub const READ_RETRY_PAUSE: Duration = Duration::from_millis(250);
/// Entries of a page: what [`ANSWER_BYTES_MAX`] holds at the worst, and no more than Gitea sends.
pub const PAGE_ENTRIES: usize = 30;
/// The most pages of a list: 900 entries. A repository of plans has a few open pull requests.
pub const PAGES_MAX: u32 = 30;
/// How many letters of a forge's own words are repeated.
pub const WORDS_LETTERS_MAX: usize = 300;
/// The longest name of a user, a branch or a title that is kept: no forge allows more than 255.
pub const NAME_LETTERS_MAX: usize = 300;
/// The wait after 429 without a time: GitHub asks for at least a minute.
pub const WAIT_DEFAULT: Duration = Duration::from_secs(60);
/// The longest wait that a forge may ask for: GitHub's budgets are by the hour.
pub const WAIT_MAX: Duration = Duration::from_secs(3_600);
