//! Which ways to have a size a refusal of Azure is about.
//!
//! Must never decide for how long a refusal counts: who asks passes those that do.

use std::sync::Arc;

use crate::model::{InstanceType, Offering, Refusal, ResourceName, label};

/// A refusal, with what it says of larger sizes of the same series.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// What Azure said.
    pub refusal: Refusal,
    /// The series and the thousandths of a core of the size, where something is known of it.
    size: Option<(Arc<str>, i64)>,
}

impl Refused {
    /// Takes a refusal, with what is known of its size among these.
    pub fn of<'a>(refusal: Refusal, types: impl IntoIterator<Item = &'a InstanceType>) -> Self {
        let kind = types.into_iter().find(|kind| refusal.size.as_ref() == Some(&kind.name));
        let size = kind.and_then(|kind| Some((series_of(kind)?.clone(), cpu_of(kind))));
        Self { refusal, size }
    }

    /// Returns whether a way to have a size was refused: the size itself, or a smaller one of its series, as Karpenter's
    /// Azure provider has it.
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

/// Takes what was refused off instance types. They stay known, and so do their prices.
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
