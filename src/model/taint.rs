//! Taints of nodes and tolerations of pods.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

/// What a taint does to pods that do not tolerate it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Effect {
    /// New pods are kept away.
    NoSchedule,
    /// New pods are kept away where something else is free.
    PreferNoSchedule,
    /// New pods are kept away and running ones are evicted.
    NoExecute,
}

impl Effect {
    /// Reads the effect as Kubernetes writes it.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        [Self::NoSchedule, Self::PreferNoSchedule, Self::NoExecute]
            .into_iter()
            .find(|effect| effect.as_str() == text)
    }

    /// Returns the effect as Kubernetes writes it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NoSchedule => "NoSchedule",
            Self::PreferNoSchedule => "PreferNoSchedule",
            Self::NoExecute => "NoExecute",
        }
    }
}

/// A taint of a node.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Taint {
    /// The key.
    pub key: Arc<str>,
    /// The value; empty when there is none.
    #[serde(default, skip_serializing_if = "super::written::is_default")]
    pub value: Arc<str>,
    /// The effect.
    pub effect: Effect,
}

impl Taint {
    /// Makes a taint.
    #[must_use]
    pub fn new(key: &str, value: &str, effect: Effect) -> Self {
        Self { key: Arc::from(key), value: Arc::from(value), effect }
    }

    /// Returns whether this taint keeps pods away that do not tolerate it, rather than only discouraging.
    #[must_use]
    pub const fn repels(&self) -> bool {
        match self.effect {
            Effect::NoSchedule | Effect::NoExecute => true,
            Effect::PreferNoSchedule => false,
        }
    }

    /// Returns whether one of these tolerations covers the taint.
    #[must_use]
    pub fn is_tolerated(&self, tolerations: &[Toleration]) -> bool {
        tolerations.iter().any(|toleration| toleration.tolerates(self))
    }

    /// Returns whether the taint comes and goes while a node starts up, so that a node which is not yet
    /// initialized is planned with as if it were gone (Karpenter's known ephemeral taints).
    #[must_use]
    pub fn is_ephemeral(&self) -> bool {
        match (&*self.key, self.effect) {
            ("node.kubernetes.io/not-ready", Effect::NoSchedule | Effect::NoExecute)
            | ("node.kubernetes.io/unreachable", Effect::NoSchedule)
            | ("karpenter.sh/unregistered", Effect::NoExecute) => true,
            ("node.cloudprovider.kubernetes.io/uninitialized", Effect::NoSchedule) => &*self.value == "true",
            (key, _) => key.starts_with("readiness.k8s.io/"),
        }
    }
}

impl fmt::Display for Taint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.value.is_empty() {
            write!(formatter, "{}:{}", self.key, self.effect.as_str())
        } else {
            write!(formatter, "{}={}:{}", self.key, self.value, self.effect.as_str())
        }
    }
}

/// A toleration of a pod. No key means every key, no effect every effect.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Toleration {
    /// The key; `None` tolerates every key.
    #[serde(default, skip_serializing_if = "super::written::is_default")]
    pub key: Option<Arc<str>>,
    /// The value that must be equal; `None` tolerates every value (`operator: Exists`).
    #[serde(default, skip_serializing_if = "super::written::is_default")]
    pub value: Option<Arc<str>>,
    /// The effect; `None` tolerates every effect.
    #[serde(default, skip_serializing_if = "super::written::is_default")]
    pub effect: Option<Effect>,
    /// How many seconds a running pod stays beside a `NoExecute` taint; `None` is for good. Where pods may come it says
    /// nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<i64>,
}

impl Toleration {
    /// Returns whether this toleration covers the taint.
    #[must_use]
    pub fn tolerates(&self, taint: &Taint) -> bool {
        let Self { key, value, effect, seconds: _ } = self;
        key.as_ref().is_none_or(|key| *key == taint.key)
            && value.as_ref().is_none_or(|value| *value == taint.value)
            && effect.is_none_or(|effect| effect == taint.effect)
    }

    /// Returns the toleration that covers just what both cover; `None` where that is nothing.
    #[must_use]
    pub fn meet(&self, other: &Self) -> Option<Self> {
        Some(Self {
            key: met(self.key.as_ref(), other.key.as_ref())?,
            value: met(self.value.as_ref(), other.value.as_ref())?,
            effect: met(self.effect.as_ref(), other.effect.as_ref())?,
            seconds: self.seconds.into_iter().chain(other.seconds).min(),
        })
    }
}

/// Returns what meets both wishes, of which `None` is met by everything.
fn met<T: Clone + PartialEq>(one: Option<&T>, other: Option<&T>) -> Option<Option<T>> {
    match (one, other) {
        (Some(one), Some(other)) => (one == other).then(|| Some(one.clone())),
        (one, other) => Some(one.or(other).cloned()),
    }
}

/// How a pod stands to taints.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stance {
    /// What it tolerates.
    pub tolerations: Vec<Toleration>,
    /// Whether taints that only discourage keep it away like others.
    pub refuses_soft: bool,
}

impl Stance {
    /// Returns the first of these taints that keeps the pod away.
    #[must_use]
    pub fn first_untolerated<'a>(&self, taints: &'a [Taint]) -> Option<&'a Taint> {
        let Self { tolerations, refuses_soft } = self;
        taints.iter().find(|taint| (*refuses_soft || taint.repels()) && !taint.is_tolerated(tolerations))
    }
}

/// Returns after how many seconds a taint evicts a pod with these tolerations that runs beside it: `None` where it never
/// does, or where the pod does not come there.
#[must_use]
pub fn evicted_after(taint: &Taint, tolerations: &[Toleration]) -> Option<i64> {
    let matching = || tolerations.iter().filter(|toleration| toleration.tolerates(taint));
    let is_forever = matching().any(|toleration| toleration.seconds.is_none());
    if taint.effect != Effect::NoExecute || is_forever {
        return None;
    }
    matching().filter_map(|toleration| toleration.seconds).min().map(|seconds| seconds.max(0))
}

/// The taints of a world's pools and nodes that only discourage.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SoftTaints(BTreeSet<Taint>);

impl SoftTaints {
    /// Finds them among all taints.
    pub fn of<'a>(taints: impl IntoIterator<Item = &'a Taint>) -> Self {
        Self(taints.into_iter().filter(|taint| !taint.repels()).cloned().collect())
    }

    /// Returns those that discourage a pod with these tolerations, sorted.
    pub fn untolerated<'a>(&'a self, tolerations: &'a [Toleration]) -> impl Iterator<Item = &'a Taint> {
        self.0.iter().filter(|taint| !taint.is_tolerated(tolerations))
    }
}

/// Returns the first taint that repels a pod with these tolerations.
#[must_use]
pub fn first_untolerated<'a>(taints: &'a [Taint], tolerations: &[Toleration]) -> Option<&'a Taint> {
    taints.iter().find(|taint| taint.repels() && !taint.is_tolerated(tolerations))
}
