//! Rules between pods, at random: spread, affinity and anti-affinity over a few labels and apps, so that they meet.

use nodeform::model::{PodSpec, Preferred, SpreadConstraint, Strength, label};
use proptest::option::weighted;
use proptest::prelude::{Just, Strategy, any, prop_oneof};
use proptest::sample::select;

use super::build::PodBuilder;
use super::topology::{app, beside, everything, over};

/// The apps that pods are of.
pub(crate) const APPS: [&str; 3] = ["web", "db", "api"];

/// A rule between pods.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Tie {
    Spread { key: &'static str, app: &'static str, skew: u32, domains: Option<u32>, policies: (bool, bool) },
    Apart { key: &'static str, app: &'static str, everywhere: bool },
    Beside { key: &'static str, app: &'static str },
}

/// A rule over one of a few labels.
pub(crate) fn ties() -> impl Strategy<Value = Tie> {
    let key =
        || select(&[label::ZONE, label::ZONE, label::HOSTNAME, label::CAPACITY_TYPE, "example.com/team"][..]);
    let policies = prop_oneof![3 => Just((true, false)), 1 => (any::<bool>(), any::<bool>())];
    prop_oneof![
        3 => (key(), select(&APPS[..]), 1..4_u32, weighted(0.2, 1..5_u32), policies).prop_map(
            |(key, app, skew, domains, policies)| Tie::Spread { key, app, skew, domains, policies }
        ),
        2 => (key(), select(&APPS[..]), any::<bool>())
            .prop_map(|(key, app, everywhere)| Tie::Apart { key, app, everywhere }),
        2 => (key(), select(&APPS[..])).prop_map(|(key, app)| Tie::Beside { key, app }),
    ]
}

impl Tie {
    /// Binds a pod by it.
    pub(crate) fn apply(self, pod: PodBuilder) -> PodBuilder {
        pod.specified(|spec| self.bind(spec))
    }

    fn bind(self, spec: &mut PodSpec) {
        match self {
            Self::Spread { key, app: name, skew, domains, policies } => spec.spread.push(SpreadConstraint {
                max_skew: skew,
                selector: Some(app(name)),
                min_domains: domains,
                honors_node_affinity: policies.0,
                honors_node_taints: policies.1,
                ..over(key)
            }),
            Self::Apart { key, app, everywhere } => {
                let mut term = beside(key, app);
                term.namespace_selector = everywhere.then(everything);
                spec.anti_affinity.push(term);
            }
            Self::Beside { key, app } => spec.affinity.push(beside(key, app)),
        }
    }

    /// Lets pods wish for it.
    pub(crate) fn wish(self, spec: &mut PodSpec, weight: u32) {
        self.bind(spec);
        match self {
            Self::Spread { .. } => {
                spec.spread.last_mut().expect("was just added").strength = Strength::Preferred;
            }
            Self::Apart { .. } => {
                let term = spec.anti_affinity.pop().expect("was just added");
                spec.preferred_anti_affinity.push(Preferred { weight, term });
            }
            Self::Beside { .. } => {
                let term = spec.affinity.pop().expect("was just added");
                spec.preferred_affinity.push(Preferred { weight, term });
            }
        }
    }
}
