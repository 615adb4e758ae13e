//! Emptiness: removes empty nodes without replacement, as many as budgets allow.

use crate::model::MicroUsdPerHour;

use super::allowance::Left;
use super::candidate::{self, Candidate, Class};
use super::scene::Scene;
use super::{Command, Method, names};

/// Returns the command that removes empty nodes.
pub(super) fn command(scene: &Scene<'_, '_>) -> Option<Command> {
    let method = Method::Emptiness;
    let mut candidates = candidate::all(scene, Class::Graceful);
    candidates.retain(|one| one.is_empty() && one.may_go(scene, method) && one.is_consolidatable(scene));
    candidate::sort(&mut candidates);
    let mut left = Left::of(scene, method.reason());
    let going: Vec<&Candidate<'_>> = candidates.iter().filter(|one| left.take(one.pool)).collect();
    let savings = going.iter().map(|one| one.amount()).sum();
    (!going.is_empty()).then(|| Command {
        method,
        nodes: names(&going),
        replacements: Vec::new(),
        moved: Vec::new(),
        savings: MicroUsdPerHour(savings),
    })
}
