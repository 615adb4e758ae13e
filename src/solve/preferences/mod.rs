//! Soft preferences: as many as the user's budget pays for are planned as if they were required.
//!
//! A preference is met by making it required on a copy of the world ([`firm`]), so that every rule and step is the one
//! that required rules have. Which pods' preferences count at all is in [`wishes`] and [`met`], how many of them are
//! taken up in [`course`], and what is said of the others in [`said`]. Nothing here places a pod.

mod choice;
mod course;
mod firm;
mod fitting;
mod met;
mod said;
mod wishes;

pub(super) use course::solve;
