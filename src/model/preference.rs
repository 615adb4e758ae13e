//! Soft preferences of pods: their kinds, their weights, and how much they may cost.
//!
//! Never decides whether a preference is met.

use super::{LabelKey, PodAffinityTerm, PodSpec, SoftTaints, Strength, Taint, label};

/// What Kubernetes makes of a wish without a weight of its own, such as `ScheduleAnyway`: as heavy as any can be.
pub const WEIGHT_MAX: u32 = 100;

/// A soft preference of a pod: which of its lists it stands in, and where in that list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum Preference {
    /// A term of preferred node affinity.
    NodeAffinity(usize),
    /// To stand where no taint discourages the pod that it does not tolerate (`PreferNoSchedule`).
    SoftTaints,
    /// A spread constraint that is `ScheduleAnyway`, by its place among all constraints.
    Spread(usize),
    /// A term of preferred pod affinity.
    PodAffinity(usize),
    /// A term of preferred pod anti-affinity.
    PodAntiAffinity(usize),
}

/// How a preference is met.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum Form {
    /// Pods that would be apart from each other are spread evenly over the domains, none more than one ahead.
    Evenly,
    /// As it is written.
    Whole,
}

/// What the preferences of pods may cost beyond the fleet that meets none of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum ExtraCost {
    /// So many hundredths of what that fleet costs.
    Percent(u32),
    /// Whatever it takes.
    Unlimited,
}

impl Default for ExtraCost {
    fn default() -> Self {
        Self::Percent(5)
    }
}

impl ExtraCost {
    /// Returns whether this is the default; for formats that leave defaults out.
    #[must_use]
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl PodSpec {
    /// Returns the soft preferences in a world of these taints, each with its weight, in the order of the lists.
    #[must_use]
    pub fn preferences(&self, taints: &SoftTaints) -> Vec<(Preference, u32)> {
        let node = self.node_affinity.preferred.iter().enumerate();
        let node = node.map(|(place, term)| (Preference::NodeAffinity(place), term.weight));
        let soft = |strength: Strength| strength == Strength::Preferred;
        let spread = self.spread.iter().enumerate().filter(|(_, constraint)| soft(constraint.strength));
        let spread = spread.map(|(place, _)| (Preference::Spread(place), WEIGHT_MAX));
        let near = self.preferred_affinity.iter().enumerate();
        let near = near.map(|(place, term)| (Preference::PodAffinity(place), term.weight));
        let away = self.preferred_anti_affinity.iter().enumerate();
        let away = away.map(|(place, term)| (Preference::PodAntiAffinity(place), term.weight));
        let is_discouraged = taints.untolerated(&self.tolerations).next().is_some();
        let taints = is_discouraged.then_some((Preference::SoftTaints, WEIGHT_MAX));
        node.chain(taints).chain(spread).chain(near).chain(away).collect()
    }

    /// Returns whether there is any soft preference in a world of these taints.
    #[must_use]
    pub fn has_preferences(&self, taints: &SoftTaints) -> bool {
        let has_spread = || self.spread.iter().any(|constraint| constraint.strength == Strength::Preferred);
        !self.node_affinity.preferred.is_empty()
            || !self.preferred_affinity.is_empty()
            || !self.preferred_anti_affinity.is_empty()
            || has_spread()
            || taints.untolerated(&self.tolerations).next().is_some()
    }

    /// Returns the label over which a preference spreads pods, or holds them together or apart; none for what is
    /// asked of the node itself.
    #[must_use]
    pub fn preference_key(&self, preference: Preference) -> Option<&LabelKey> {
        match preference {
            Preference::NodeAffinity(_) | Preference::SoftTaints => None,
            Preference::Spread(place) => self.spread.get(place).map(|constraint| &constraint.topology_key),
            Preference::PodAffinity(place) => {
                self.preferred_affinity.get(place).map(|preferred| &preferred.term.topology_key)
            }
            Preference::PodAntiAffinity(place) => {
                self.preferred_anti_affinity.get(place).map(|preferred| &preferred.term.topology_key)
            }
        }
    }

    /// Returns the preferred term by which pods of this content, and of this namespace alone, are to be apart from
    /// each other in domains larger than a node: such a term has the form [`Form::Evenly`] beside the whole one.
    #[must_use]
    pub fn apart_from_its_like(&self, preference: Preference) -> Option<&PodAffinityTerm> {
        let Preference::PodAntiAffinity(place) = preference else { return None };
        let term = &self.preferred_anti_affinity.get(place)?.term;
        let selector = term.selector.as_ref().filter(|selector| !selector.0.is_empty())?;
        let is_own = term.namespaces.is_empty() && term.namespace_selector.is_none();
        let is_larger = term.topology_key.as_str() != label::HOSTNAME;
        (is_own && is_larger && selector.selects(&self.labels)).then_some(term)
    }

    /// Returns a preference in words: the field's own name, and what it is over or asks for.
    #[must_use]
    pub fn preference_in_words(&self, preference: Preference, taints: &SoftTaints) -> String {
        let over = |name: &str| match self.preference_key(preference) {
            Some(key) => format!("{name} over {key}"),
            None => name.to_owned(),
        };
        match preference {
            Preference::NodeAffinity(place) => {
                let term = self.node_affinity.preferred.get(place).map(|preferred| &preferred.term);
                let each = term.into_iter().flat_map(super::Requirements::iter);
                let each: Vec<String> = each.map(|(key, wanted)| format!("{key} {wanted}")).collect();
                format!("nodeAffinity to {}", each.join(" and "))
            }
            Preference::SoftTaints => {
                let each: Vec<String> = taints.untolerated(&self.tolerations).map(Taint::to_string).collect();
                format!("no node with {}", each.join(" or "))
            }
            Preference::Spread(_) => over("topologySpreadConstraints"),
            Preference::PodAffinity(_) => over("podAffinity"),
            Preference::PodAntiAffinity(_) => over("podAntiAffinity"),
        }
    }
}
