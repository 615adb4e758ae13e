//! Limits for communication with Azure, each with its reason.

use std::time::Duration;

/// Maximum number of retries of a request. Invariant S8: at most 8 retries of one operation.
pub const RETRIES_MAX: u32 = 8;
/// Maximum number of retries without an answer, or with truncated JSON: half a minute bridges a restart; longer
/// outages, and servers that are not Azure, are reported.
pub const RETRIES_UNANSWERED_MAX: u32 = 5;
/// Maximum number of pages of a list: the largest list, 30,000 VMs of a subscription at 50 a page, has 600.
pub const PAGES_MAX: u32 = 1000;
/// Maximum number of bytes of an answer, uncompressed. The list of sizes of a region has about 12 MiB.
pub const ANSWER_BYTES_MAX: usize = 64 << 20;
/// Maximum number of bytes of a link from Azure; its contract states 4 KiB.
pub const LINK_BYTES_MAX: usize = 16 << 10;
/// Timeout for connecting; the SDKs' default.
pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(20);
/// Timeout for silence within an answer; the SDKs' default.
pub const READ_TIMEOUT: Duration = Duration::from_secs(60);
/// Timeout for a whole exchange: a page of sizes is slow, ten minutes are a fault (B4).
pub const EXCHANGE_TIMEOUT: Duration = Duration::from_secs(180);
/// First delay before a retry; it doubles.
pub const BACKOFF_FIRST: Duration = Duration::from_millis(500);
/// Maximum delay before a retry that Azure did not request.
pub const BACKOFF_MAX: Duration = Duration::from_secs(30);
/// Interval for polling an operation if Azure sets none: each may be polled 15 times a minute.
pub const POLL_DEFAULT: Duration = Duration::from_secs(5);
/// Maximum interval between two polls that Azure may set; longer ones are capped.
pub const POLL_MAX: Duration = Duration::from_secs(60);
/// How long a resource may be missing after the operation that created it succeeded: Azure's reads lag behind its writes
/// by seconds.
pub const APPEARS_WAIT: Duration = Duration::from_secs(60);
/// Maximum number of retries of a token request, within [`TOKEN_RETRY_TIME_MAX`].
pub const TOKEN_RETRIES_MAX: u32 = 4;
/// How long a token request is retried.
pub const TOKEN_RETRY_TIME_MAX: Duration = Duration::from_secs(30);
/// Maximum number of bytes of an environment file; Azure's own have 3 KiB.
pub const ENVIRONMENT_FILE_BYTES_MAX: u64 = 1 << 20;
/// Maximum speed of a simulator's clock.
pub const CLOCK_SPEED_MAX: u32 = 100_000;
