//! Suggests a family that a pod could use instead of one with too little quota: among those that its pool allows, and
//! those that a requirement of the pool excludes.
//!
//! Never decides anything.

use crate::model::{InstanceType, Offering, Quota};
use crate::solve::demand::Ask;
use crate::solve::fit::limits::{self, Ledger, Quotas};
use crate::solve::ledger::{self, Vm};
use crate::solve::supply::excluded::Excluded;
use crate::solve::supply::{Kind, PoolSupply, Usable};

/// A size with one of its offerings.
type Way<'p, 'a> = (&'p Kind<'a>, &'p Usable<'a>);

/// Describes the alternatives of a pod if quotas exclude all these ways. `ways` are sorted by price, and `blamed` is
/// the one that is reported.
#[must_use]
pub(super) fn next_best(
    pool: &PoolSupply<'_>,
    ask: &Ask,
    (ways, blamed): (&[Way<'_, '_>], &Vm<'_>),
    ledger: &Ledger,
) -> Option<String> {
    let quotas = ledger.quotas()?;
    let own = name(quotas, blamed);
    // If the whole region has too little, no other family helps.
    let is_short = |vm: &Vm<'_>| {
        let taken = quotas.quota.taken(vm.kind.name.as_str(), vm.capacity_type, &vm.kind.capacity);
        let left = ledger.quota_left(&name(quotas, vm)).map(|(most, used)| most.saturating_sub(used));
        left.is_some_and(|left| left < taken.vcpus)
    };
    let others = ways.iter().map(|(kind, usable)| usable.vm(kind));
    let others: Vec<Vm<'_>> =
        others.filter(|vm| is_short(vm) && name(quotas, vm) != own).filter(|_| is_short(blamed)).collect();
    // A quota of zero is less informative than one that is nearly used up.
    let has_some = |vm: &&Vm<'_>| ledger.quota_left(&name(quotas, vm)).is_some_and(|(most, _)| most > 0);
    let other = others.iter().find(has_some).or_else(|| others.first());
    let also = other.map(|vm| name(quotas, vm)).map(|name| {
        format!("the next best, {}, leaves too little as well ({})", titled(&name), state(ledger, &name))
    });
    let is_left = |kind: &InstanceType, offering: &Offering, price| {
        let vm = Vm { kind, capacity_type: offering.capacity_type, price: Some(price) };
        limits::exceeded(ledger, &ledger::charges(ledger, pool.pool, vm)).next().is_none()
    };
    let excluded = pool.excluded((ask, blamed.capacity_type), is_left).map(
        |Excluded { kind, offering, by: (key, wanted) }| {
            let vm = Vm { kind, capacity_type: offering.capacity_type, price: None };
            let name = name(quotas, &vm);
            format!(
                "`{}` would fit ({}, {}), but NodePool `{}` excludes it: `{key}` {wanted}",
                kind.name,
                titled(&name),
                state(ledger, &name),
                pool.pool.name,
            )
        },
    );
    let said: Vec<String> = also.into_iter().chain(excluded).collect();
    Some(if said.is_empty() { "no other family would help".to_owned() } else { said.join("; ") })
}

/// Returns the quota by which users know a VM: that of its family, or of spot.
fn name(Quotas { quota, .. }: &Quotas, vm: &Vm<'_>) -> String {
    let taken = quota.taken(vm.kind.name.as_str(), vm.capacity_type, &vm.kind.capacity);
    taken.names().next().unwrap_or_default().to_owned()
}

/// Returns the display name of a quota.
fn titled(name: &str) -> String {
    match name {
        Quota::SPOT => format!("spot (`{name}`)"),
        Quota::REGION => format!("a size of unknown family (`{name}`)"),
        family => format!("family `{family}`"),
    }
}

/// Describes how much of a quota is used.
fn state(ledger: &Ledger, name: &str) -> String {
    match ledger.quota_left(name) {
        Some((most, used)) => format!("{used} of {most} vCPUs used"),
        None => "without a known limit".to_owned(),
    }
}
