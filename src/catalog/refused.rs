//! Matches refusals of Azure to the offerings that they apply to.
//!
//! Must never decide how long a refusal is valid: callers pass only valid ones.

use std::sync::Arc;

use crate::model::{InstanceType, Offering, Refusal, ResourceName, label};

/// A refusal, with the data needed to apply it to larger sizes of the same series.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Azure's refusal.
    pub refusal: Refusal,
    /// Series and millicores of the size, if known.
    size: Option<(Arc<str>, i64)>,
}

impl Refused {
    /// Creates a refusal, looking up its size among these types.
    pub fn of<'a>(refusal: Refusal, types: impl IntoIterator<Item = &'a InstanceType>) -> Self {
        let kind = types.into_iter().find(|kind| refusal.size.as_ref() == Some(&kind.name));
        let size = kind.and_then(|kind| Some((series_of(kind)?.clone(), cpu_of(kind))));
        Self { refusal, size }
    }

    /// Returns whether an offering was refused: the size itself, or a smaller one of its series, as in Karpenter's
    /// Azure provider.
    #[must_use]
    pub fn is_about(&self, kind: &InstanceType, offering: &Offering) -> bool {
        self.is_about_size(kind) && self.refusal.is_about(offering)
    }

    fn is_about_size(&self, kind: &InstanceType) -> bool {
        match (&self.refusal.size, &self.size) {
            (None, _) => true,
            (Some(name), _) if *name == kind.name => true,
            (Some(_), None) => false,
            (Some(_), Some((series, cpu))) => {
                self.refusal.because.is_of_larger()
                    && series_of(kind).is_some_and(|own| own == series)
                    && cpu_of(kind) >= *cpu
            }
        }
    }
}

/// Marks refused offerings of instance types as unavailable. The types and prices stay known.
pub(super) fn rule_out(types: &mut [InstanceType], refusals: &[Refusal]) {
    let refused: Vec<Refused> =
        refusals.iter().map(|refusal| Refused::of(refusal.clone(), types.iter())).collect();
    for kind in types {
        let about: Vec<&Refused> = refused.iter().filter(|refused| refused.is_about_size(kind)).collect();
        for offering in &mut kind.offerings {
            offering.is_available &= !about.iter().any(|refused| refused.refusal.is_about(offering));
        }
    }
}

fn series_of(kind: &InstanceType) -> Option<&Arc<str>> {
    kind.requirements.get(label::SKU_SERIES)?.single()
}

fn cpu_of(kind: &InstanceType) -> i64 {
    kind.capacity.get(&ResourceName::Cpu)
}
