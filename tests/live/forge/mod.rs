//! Clients of forges: against a real Gitea, and against fakes that the official descriptions judge.

mod azure_devops;
mod bad_input;
pub(crate) mod fake;
mod fields;
mod gitea;
mod github;
mod github_app;
mod gitlab;
pub(crate) mod judge;
mod judged;
pub(crate) mod kept;
pub(crate) mod real;
mod specification;
