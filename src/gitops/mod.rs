//! GitOps workflow of plans: proposing them on branches, and applying merged ones.
//!
//! ```text
//!  world ─▶ beside what stands ─▶ plan ─▶ branch (proposed) ─ people merge ─▶ folders ─▶ planned again ─▶ what is applied
//! ```
//!
//! `nodeform propose`, `nodeform apply --merged` and the controller share these functions. Must never apply a plan itself,
//! print, or read the environment: callers provide places and the time.

mod access;
mod approvals;
mod bounds;
mod closed;
mod commit;
mod fault;
mod fleet;
mod folders;
mod forward;
mod place;
mod planning;
mod pull_requests;
mod push;
mod second;
mod signing;
mod standing;
mod taking;
mod withdrawn;

pub use access::{Access, Token, USER};
pub use approvals::Asking;
pub use bounds::TOLD_MAX;
pub use closed::close;
pub use fault::GitOpsFault;
pub use fleet::{FLEETS, Fleet, fleet, read_fleet};
pub use folders::{Folder, Folders, Merged, PassedOver, Refused};
pub use forward::{Advanced, Noting, advance};
pub use place::{BRANCH, PATH, Place};
pub use planning::{PROPOSED, narrow, planned, together};
pub use pull_requests::{OpenOne, PullRequests, Written, connect, keep_up, open, say_differences};
pub use push::{Going, Gone, NamedText, Proposing, Pushed, files};
pub use second::{Narrowed, narrowed};
pub use signing::{signed, signers, signing_key};
pub use standing::{Around, Known, Proposal, Standing};
pub use taking::{NotTaken, Struck, Taking, taken};
pub use withdrawn::withdrawn;
