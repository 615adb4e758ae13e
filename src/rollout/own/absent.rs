//! Confirms that an unlisted object is gone: it is requested by its id before anything relies on that.
//!
//! Azure's lists lag, and any list can miss an item. A second VM, and the deletion of a Node, a NodeClaim or a network
//! interface, wait until a request for that object has returned "not found".

use std::fmt;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use crate::model::NodeName;
use crate::plan::ChangeId;
use crate::rollout::action::Effect;
use crate::rollout::ground::{Ground, act};
use crate::rollout::memory::Memory;
use crate::rollout::outcome::Standing;
use crate::world::seen::Seen;

/// How long a confirmation is valid, in the cloud's clock: the dependent action happens within that time.
pub(in crate::rollout) const HOLDS: SignedDuration = SignedDuration::from_mins(5);

/// If at least this many VMs named by NodeClaims are missing, and more than [`MISSING_SHARE`] per cent, the list is
/// considered faulty.
const MISSING_LEAST: usize = 5;

/// See [`MISSING_LEAST`].
const MISSING_SHARE: usize = 30;

/// An unlisted object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Absent {
    /// A VM, by id in lower case.
    Vm(Arc<str>),
    /// A network interface, by id in lower case.
    Interface(Arc<str>),
    /// A Node.
    Node(NodeName),
}

impl Absent {
    pub(in crate::rollout) fn vm(id: &str) -> Self {
        Self::Vm(id.to_ascii_lowercase().into())
    }

    pub(in crate::rollout) fn interface(id: &str) -> Self {
        Self::Interface(id.to_ascii_lowercase().into())
    }

    /// Returns whether a look shows the object, or could not read its list.
    pub(in crate::rollout) fn is_seen(&self, seen: &Seen) -> bool {
        match self {
            Self::Vm(id) => seen.vms.as_ref().is_none_or(|vms| vms.contains_key(id)),
            Self::Interface(id) => seen.interfaces.as_ref().is_none_or(|nics| nics.contains_key(id)),
            Self::Node(name) => seen.nodes.as_ref().is_none_or(|nodes| nodes.contains_key(name)),
        }
    }
}

impl fmt::Display for Absent {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let last = |id: &str| id.rsplit('/').next().unwrap_or(id).to_owned();
        match self {
            Self::Vm(id) => write!(formatter, "VM `{}`", last(id)),
            Self::Interface(id) => write!(formatter, "NIC `{}`", last(id)),
            Self::Node(name) => write!(formatter, "node `{name}`"),
        }
    }
}

impl Ground<'_> {
    /// Returns the action that confirms that an unlisted object is gone; `None` if it is confirmed.
    pub(in crate::rollout) fn confirm(&self, change: &ChangeId, absent: Absent) -> Option<Standing> {
        match confirmed(self.memory, &absent, self.world.at) {
            true => None,
            false => Some(act(change, Effect::Confirm(absent))),
        }
    }
}

/// Returns whether an object was recently confirmed to be gone.
pub(in crate::rollout) fn confirmed(memory: &Memory, absent: &Absent, now: Timestamp) -> bool {
    let holds = memory.wait(HOLDS);
    memory.confirmed.get(absent).is_some_and(|at| now.duration_since(*at) <= holds)
}

/// Reports that more VMs are missing at the same time than plausible; then nothing is started. Counts the VMs that
/// NodeClaims name, unless these are deleted or being removed.
#[must_use]
pub fn too_many_missing(seen: &Seen) -> Option<String> {
    let (claims, vms) = (seen.claims.as_ref()?, seen.vms.as_ref()?);
    let known = claims.values().filter(|claim| {
        claim.deleting_since.is_none() && !claim.annotations.contains_key(crate::rollout::journal::REMOVAL)
    });
    let ids = known.filter_map(|claim| claim.provider_id.as_deref()?.strip_prefix("azure://"));
    let (mut all, mut missing) = (0_usize, 0_usize);
    for id in ids {
        all += 1;
        missing += usize::from(!vms.contains_key(id.to_ascii_lowercase().as_str()));
    }
    (missing >= MISSING_LEAST && missing * 100 > all * MISSING_SHARE).then(|| {
        format!(
            "Azure's list of VMs to be complete again: it lacks {missing} of the {all} VMs that NodeClaims name"
        )
    })
}
