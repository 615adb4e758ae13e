//! Soft preferences: plans as many as the user's budget allows as if they were required.
//!
//! A preference is met by making it required on a copy of the world ([`firm`]), so the rules and steps for required
//! rules apply to it. [`wishes`] and [`met`] select the pods whose preferences count, [`course`] decides how many are
//! honored, and [`said`] reports the others. Never places a pod.

mod choice;
mod course;
mod firm;
mod fitting;
mod met;
mod said;
mod wishes;

pub(super) use course::solve;
