//! Every bound of talking to Azure, each with its reason.

use std::time::Duration;

/// The most times a request is sent again. Invariant S8: at most 8 retries of one operation.
pub const RETRIES_MAX: u32 = 8;
/// The most times a request is sent again where nobody answers, or JSON ends early: half a minute bridges a restart, and
/// what is down or no Azure for longer is told.
pub const RETRIES_UNANSWERED_MAX: u32 = 5;
/// The most pages of a list: the largest list, 30,000 VMs of a subscription at 50 a page, is 600.
pub const PAGES_MAX: u32 = 1000;
/// The most bytes of an answer, unpacked. The list of sizes of a region has about 12 MiB.
pub const ANSWER_BYTES_MAX: usize = 64 << 20;
/// The most bytes of a link that Azure gives; its contract names 4 KiB.
pub const LINK_BYTES_MAX: usize = 16 << 10;
/// How long connecting may take; the SDKs' default.
pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(20);
/// How long Azure may be silent within an answer; the SDKs' default.
pub const READ_TIMEOUT: Duration = Duration::from_secs(60);
/// How long a whole exchange may take: a page of sizes is slow, ten minutes are a fault (B4).
pub const EXCHANGE_TIMEOUT: Duration = Duration::from_secs(180);
/// The first wait before a retry; it doubles.
pub const BACKOFF_FIRST: Duration = Duration::from_millis(500);
/// The longest wait before a retry that Azure did not ask for.
pub const BACKOFF_MAX: Duration = Duration::from_secs(30);
/// How often an operation is asked for where Azure says nothing: 15 a minute are allowed for each.
pub const POLL_DEFAULT: Duration = Duration::from_secs(5);
/// The longest that Azure may ask to wait between two polls; longer ones are cut.
pub const POLL_MAX: Duration = Duration::from_secs(60);
/// Retries of a token's request, within [`TOKEN_RETRY_TIME_MAX`].
pub const TOKEN_RETRIES_MAX: u32 = 4;
/// How long a token's request is repeated.
pub const TOKEN_RETRY_TIME_MAX: Duration = Duration::from_secs(30);
/// The most bytes of an environment file; Azure's own have 3 KiB.
pub const ENVIRONMENT_FILE_BYTES_MAX: u64 = 1 << 20;
/// The fastest clock that a simulator may ask for.
pub const CLOCK_SPEED_MAX: u32 = 100_000;
