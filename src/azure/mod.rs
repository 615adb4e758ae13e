//! Client for Azure Resource Manager: identity, cloud, and sending the requests that `arm` built.
//!
//! ```text
//!  environment ─▶ Cloud ─────────┐
//!              └▶ SignIn ─▶ token ┴▶ Azure ─▶ budget ─▶ pipeline ─▶ transport ─▶ (Azure)
//!                                     └─ get · list · begin · poll · finish ─▶ answer, or Failure
//! ```
//!
//! Not pure: this module waits, sends and reads the clock; it decides nothing. Must never log or return a header, a body
//! or a query: the events have method, path, status, duration and request id.

mod answer;
mod budget;
mod client;
mod clock;
mod cloud;
mod environment_file;
mod failure;
mod jitter;
pub mod limits;
mod list;
mod operation;
mod outgoing;
mod permit;
mod scrub;
mod send;
mod sign_in;
mod token;
mod transport;
mod trouble;

pub use client::{Azure, Settings, SetupFault};
pub(crate) use cloud::is_loopback;
pub use cloud::{Cloud, CloudFault};
pub use environment_file::EnvironmentFault;
pub use failure::{Call, Failure, NotArm};
pub use operation::{Operation, Progress};
pub use permit::Permit;
pub use sign_in::{SignIn, SignInFault};
pub(crate) use transport::cause;
pub use transport::{TransportFault, Unreachable};
pub use trouble::Trouble;

/// The environment as a value: a variable's text by its name; an empty text counts as unset.
pub type Environment<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Returns the first of these variables that is set.
fn variable(environment: Environment<'_>, names: &[&str]) -> Option<String> {
    names.iter().find_map(|name| environment(name).filter(|text| !text.trim().is_empty()))
}
