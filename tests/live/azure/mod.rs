//! Talking to Azure over TLS on loopback: a small server by script, no network beyond this machine.

#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "a test fails by `unwrap`, reads and writes scratch files and the clock, and says what it skips"
)]

mod answers;
mod bodies;
mod events;
mod exchange;
mod hostile;
mod lists;
mod official;
mod operations;
mod sending;
pub(crate) mod server;
mod signing_in;
mod throttling;
