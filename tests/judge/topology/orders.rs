//! The judge against a search over every order of binding, with kube-scheduler's filters step by step.
//!
//! The filters are written down once more here, by pod and node, as Kubernetes' source has them; nothing of
//! the judge's counting is used.

use std::collections::{BTreeMap, BTreeSet};

use nodeform::check::Rule;
use nodeform::model::{
    CapacityType, LabelKey, LabelSelector, Node, Operator, Pod, PodAffinityTerm, PodPlace, PodSpec,
    Requirement, Requirements, SpreadConstraint, Strength, label,
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::{
    Just, ProptestConfig, Strategy as _, any, prop_assert, prop_assert_eq, prop_oneof, proptest,
};
use proptest::sample::select;

use super::findings;
use crate::support::build::{PodBuilder, World};
use crate::support::by_hand::by_hand;
use crate::support::topology::{app, beside, everything, labelled, over};
use crate::support::{node, pod, pool, world};

/// The most pods whose orders are searched.
const PODS_MAX: usize = 7;

/// Cases where nobody says another number; each plans and judges a small world.
const CASES: u32 = 150;

const RACK: &str = "example.com/rack";

fn config() -> ProptestConfig {
    let standard = ProptestConfig::default();
    // 256 is what proptest takes where the environment says nothing.
    let cases = if standard.cases == 256 { CASES } else { standard.cases };
    ProptestConfig { cases, failure_persistence: None, max_shrink_iters: 4000, ..standard }
}

/// A node that pods are bound to.
struct Site {
    name: String,
    labels: BTreeMap<LabelKey, String>,
    is_tainted: bool,
}

/// A pod that is bound.
#[derive(Clone)]
struct Bound<'a> {
    pod: &'a Pod,
    site: usize,
}

/// A world with pods to bind, and where each is to go.
#[derive(Clone)]
struct Trial {
    world: World,
    /// The node of each pod, by name; `NEW` is one that is made.
    places: Vec<(String, String)>,
}

impl std::fmt::Debug for Trial {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { world, places } = self;
        writeln!(formatter, "{places:?}")?;
        for node in &world.snapshot.nodes {
            writeln!(
                formatter,
                "{} {:?} {:?}",
                node.name,
                node.labels.get(label::ZONE),
                node.labels.get(RACK)
            )?;
        }
        for pod in &world.snapshot.pods {
            let PodSpec { labels, spread, affinity, .. } = &*pod.spec;
            writeln!(formatter, "{} {:?} {labels:?} {spread:?} {affinity:?}", pod.key, pod.place)?;
        }
        Ok(())
    }
}

/// The node that is made where a pod is to go there.
const NEW: &str = "new";
const NEW_ZONE: &str = "3";

impl Trial {
    fn sites(&self) -> Vec<Site> {
        let site = |node: &Node| Site {
            name: node.name.to_string(),
            labels: node.labels.iter().map(|(key, value)| (key.clone(), value.to_string())).collect(),
            is_tainted: !node.taints.is_empty(),
        };
        let mut sites: Vec<Site> = self.world.snapshot.nodes.iter().map(site).collect();
        if self.places.iter().any(|(_, node)| node == NEW) {
            let labels = [
                (label::ZONE, format!("westeurope-{NEW_ZONE}")),
                (label::CAPACITY_TYPE, "on-demand".to_owned()),
                (label::HOSTNAME, NEW.to_owned()),
            ];
            let labels = labels.into_iter().map(|(key, value)| (LabelKey::new(key), value)).collect();
            sites.push(Site { name: NEW.to_owned(), labels, is_tainted: false });
        }
        sites
    }

    /// Whether the judge objects by a rule to binding the pods as it is said.
    fn is_refused(&self, rule: Rule) -> bool {
        let mut plan = by_hand(self.world.clone());
        let mut by_node: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (pod, node) in &self.places {
            by_node.entry(node).or_default().push(pod);
        }
        for (node, pods) in by_node {
            plan = match node {
                NEW => plan.making("default", ("Standard_D8s_v5", NEW_ZONE, CapacityType::OnDemand), &pods),
                _ => plan.keeping(node, &pods),
            };
        }
        findings(plan).iter().any(|finding| finding.rule == rule)
    }

    /// Whether the pods can be bound one after another, each when the filter lets it.
    fn has_order(&self, filter: Filter) -> bool {
        let sites = self.sites();
        let site_of = |name: &str| sites.iter().position(|site| site.name == name).expect("is a node");
        let pods = &self.world.snapshot.pods;
        let mut bound = Vec::new();
        for pod in pods {
            if let PodPlace::Bound(node) = &pod.place {
                bound.push(Bound { pod, site: site_of(node.as_str()) });
            }
        }
        let waiting: Vec<Bound<'_>> = self
            .places
            .iter()
            .map(|(name, node)| {
                let pod = pods.iter().find(|pod| *pod.key.name == **name).expect("is a pod");
                Bound { pod, site: site_of(node) }
            })
            .collect();
        assert!(waiting.len() <= PODS_MAX, "a search takes too long");
        let (mut seen, mut open) = (BTreeSet::from([0_u32]), vec![0_u32]);
        while let Some(done) = open.pop() {
            if done.count_ones() as usize == waiting.len() {
                return true;
            }
            let is_done = |number: usize| done & (1 << number) != 0;
            let there = waiting.iter().enumerate().filter(|(number, _)| is_done(*number));
            let there: Vec<Bound<'_>> = bound.iter().chain(there.map(|(_, pod)| pod)).cloned().collect();
            for (number, next) in waiting.iter().enumerate().filter(|(number, _)| !is_done(*number)) {
                let then = done | (1 << number);
                if !seen.contains(&then) && filter(next, &sites, &there) {
                    seen.insert(then);
                    open.push(then);
                }
            }
        }
        false
    }
}

/// Whether kube-scheduler binds a pod to its site beside those that are bound.
type Filter = fn(&Bound<'_>, &[Site], &[Bound<'_>]) -> bool;

/// `PodTopologySpread`: the label must be there, and the count of its value with the pod itself may be ahead of
/// the least by the skew.
fn spread_filter(next: &Bound<'_>, sites: &[Site], bound: &[Bound<'_>]) -> bool {
    let spec = &*next.pod.spec;
    let required: Vec<&SpreadConstraint> =
        spec.spread.iter().filter(|constraint| constraint.strength == Strength::Required).collect();
    required.iter().all(|constraint| {
        let selector = effective(constraint, spec);
        let mut counts: BTreeMap<&str, i64> = BTreeMap::new();
        for (number, site) in sites.iter().enumerate() {
            let has_all = required.iter().all(|other| site.labels.contains_key(&other.topology_key));
            let is_selected = !constraint.honors_node_affinity || selects(spec, site);
            let is_tolerated = !constraint.honors_node_taints || !site.is_tainted;
            if !has_all || !is_selected || !is_tolerated {
                continue;
            }
            let matching = bound.iter().filter(|other| {
                other.site == number
                    && !other.pod.is_terminating
                    && other.pod.key.namespace == next.pod.key.namespace
                    && selector.as_ref().is_some_and(|selector| {
                        selector.0.iter().next().is_some() && selector.selects(&other.pod.spec.labels)
                    })
            });
            let count = i64::try_from(matching.count()).expect("is small");
            *counts.entry(&site.labels[&constraint.topology_key]).or_default() += count;
        }
        let Some(value) = sites[next.site].labels.get(&constraint.topology_key) else { return false };
        let domains_min = constraint.min_domains.unwrap_or(1) as usize;
        let least = if counts.len() < domains_min { 0 } else { counts.values().min().copied().unwrap_or(0) };
        let itself = selector.is_some_and(|selector| selector.selects(&spec.labels));
        let there = counts.get(value.as_str()).copied().unwrap_or(0);
        there + i64::from(itself) - least <= i64::from(constraint.max_skew)
    })
}

fn effective(constraint: &SpreadConstraint, spec: &PodSpec) -> Option<LabelSelector> {
    let mut selector = constraint.selector.clone()?;
    for key in &constraint.match_label_keys {
        if let Some(value) = spec.labels.get(key) {
            selector.0.add(key.clone(), Requirement::one(value));
        }
    }
    Some(selector)
}

/// Whether the only term of a pod's node affinity selects a node.
fn selects(spec: &PodSpec, site: &Site) -> bool {
    let holds = |term: &Requirements| {
        term.iter().all(|(key, wanted)| site.labels.get(key).is_some_and(|value| wanted.accepts(value)))
    };
    spec.node_affinity.required.as_ref().is_none_or(|terms| terms.iter().any(holds))
}

/// `InterPodAffinity`, the affinity of the pod itself: pods that meet all its terms are counted by the domains of
/// each; the first of a kind may go anywhere that has the labels.
fn affinity_filter(next: &Bound<'_>, sites: &[Site], bound: &[Bound<'_>]) -> bool {
    let terms = &next.pod.spec.affinity;
    let meets_all = |pod: &Pod| {
        let meets = |selector: &LabelSelector| selector.selects(&pod.spec.labels);
        terms.iter().all(|term| term.selector.as_ref().is_some_and(meets))
            && pod.key.namespace == next.pod.key.namespace
    };
    let mut counts: BTreeMap<(&LabelKey, &str), usize> = BTreeMap::new();
    for other in bound.iter().filter(|other| meets_all(other.pod)) {
        for term in terms {
            if let Some(value) = sites[other.site].labels.get(&term.topology_key) {
                *counts.entry((&term.topology_key, value)).or_default() += 1;
            }
        }
    }
    let labels = &sites[next.site].labels;
    if terms.iter().any(|term| !labels.contains_key(&term.topology_key)) {
        return false;
    }
    let is_near = |term: &PodAffinityTerm| {
        counts.contains_key(&(&term.topology_key, labels[&term.topology_key].as_str()))
    };
    terms.iter().all(is_near) || (counts.is_empty() && meets_all(next.pod))
}

/// Nodes of some zones and racks; a rack is not everywhere.
fn nodes() -> impl proptest::strategy::Strategy<Value = World> {
    let rack = option::of(select(&["a", "b"][..]));
    let one = (select(&["1", "2", "3"][..]), rack, any::<bool>(), option::weighted(0.2, Just("team")));
    vec(one, 2..=4).prop_map(|nodes| {
        let mut built = world().pool(pool("default"));
        for (number, (zone, rack, is_spot, taint)) in nodes.into_iter().enumerate() {
            let one = node(&format!("n{number}")).zone(zone);
            let one = rack.into_iter().fold(one, |one, rack| one.labelled(RACK, rack));
            let one = taint.into_iter().fold(one, |one, taint| one.taint(taint));
            built = built.node(if is_spot { one.spot() } else { one });
        }
        built
    })
}

/// A kind of pod, and which node it is on, as a place in the list; one past the end is the new one.
type Draw = (usize, usize);

/// Puts running pods and pods to bind into a world; a few of those that run are being deleted.
fn peopled(world: World, kinds: &[PodBuilder], running: Vec<Draw>, placed: Vec<Draw>) -> Trial {
    let nodes: Vec<String> = world.snapshot.nodes.iter().map(|node| node.name.to_string()).collect();
    let mut trial = Trial { world, places: Vec::new() };
    for (number, (kind, site)) in running.into_iter().enumerate() {
        let pod = kinds[kind % kinds.len()].clone().named(&format!("run-{number}"));
        let pod = pod.on(&nodes[site % nodes.len()]);
        let pod = if site % 7 == 6 { pod.terminating() } else { pod };
        trial.world = trial.world.pod(pod);
    }
    for (number, (kind, site)) in placed.into_iter().enumerate() {
        let name = format!("new-{number}");
        trial.world = trial.world.pod(kinds[kind % kinds.len()].clone().named(&name));
        let place = site % (nodes.len() + 1);
        trial.places.push((name, nodes.get(place).cloned().unwrap_or_else(|| NEW.to_owned())));
    }
    trial
}

fn draws(most: usize) -> impl proptest::strategy::Strategy<Value = Vec<Draw>> {
    vec((0..60_usize, 0..60_usize), 0..=most)
}

fn constraint() -> impl proptest::strategy::Strategy<Value = SpreadConstraint> {
    let key = select(&[label::ZONE, label::ZONE, label::HOSTNAME, label::CAPACITY_TYPE, RACK][..]);
    let selector = prop_oneof![6 => Just(Some(app("web"))), 1 => Just(Some(everything())), 1 => Just(None)];
    let rest = (1..=2_u32, option::weighted(0.3, 1..=4_u32), any::<bool>(), any::<bool>(), any::<bool>());
    (key, selector, rest).prop_map(
        |(key, selector, (max_skew, min_domains, affinity, taints, by_revision))| SpreadConstraint {
            max_skew,
            selector,
            min_domains,
            honors_node_affinity: affinity,
            honors_node_taints: taints,
            match_label_keys: if by_revision { vec![LabelKey::new("rev")] } else { Vec::new() },
            ..over(key)
        },
    )
}

/// Small pods of two revisions, with the constraints, with some that have them not, and some that they do
/// not select.
fn spread_kinds(constraints: &[SpreadConstraint], is_choosy: bool) -> Vec<PodBuilder> {
    let small = |app: &str, revision: &str| {
        pod(app).cpu("10m").memory("16Mi").label("app", app).label("rev", revision)
    };
    let bound_to = |pod: PodBuilder| {
        let zones: &[&str] = &["westeurope-1", "westeurope-2"];
        let pod = if is_choosy { pod.or_term(&[(label::ZONE, Operator::In, zones)]) } else { pod };
        pod.specified(|spec| spec.spread.extend(constraints.iter().cloned()))
    };
    let owners = ["a", "b"].map(|revision| bound_to(small("web", revision)));
    let [first, second] = owners;
    vec![first.clone(), first, second, bound_to(small("other", "a")), small("web", "a"), small("other", "b")]
}

fn spreads(
    constraints: impl proptest::strategy::Strategy<Value = Vec<SpreadConstraint>>,
) -> impl proptest::strategy::Strategy<Value = Trial> {
    (nodes(), constraints, any::<bool>(), draws(6), draws(PODS_MAX)).prop_map(
        |(world, constraints, is_choosy, running, placed)| {
            peopled(world, &spread_kinds(&constraints, is_choosy), running, placed)
        },
    )
}

fn term() -> impl proptest::strategy::Strategy<Value = PodAffinityTerm> {
    let key = select(&[label::ZONE, label::ZONE, label::HOSTNAME, RACK][..]);
    let selector = select(
        &[("app", "web"), ("app", "web"), ("app", "db"), ("app", "cache"), ("tier", "back"), ("tier", "all")]
            [..],
    );
    (key, selector).prop_map(|(key, (name, value))| PodAffinityTerm {
        selector: Some(if value == "all" { everything() } else { labelled(name, value) }),
        ..beside(key, "web")
    })
}

/// Pods of three kinds: two with terms, of which one shares a label with the third.
fn near(trials: Vec<Vec<PodAffinityTerm>>) -> Vec<PodBuilder> {
    let small =
        |app: &str, tier: &str| pod(app).cpu("10m").memory("16Mi").label("app", app).label("tier", tier);
    let kinds = [small("web", "front"), small("db", "back"), small("web", "back")];
    let tied = kinds.into_iter().zip(trials);
    let tied = tied.map(|(pod, terms)| pod.specified(|spec| spec.affinity = terms));
    tied.chain([small("cache", "back")]).collect()
}

fn nears() -> impl proptest::strategy::Strategy<Value = Trial> {
    let terms = vec(vec(term(), 1..=2), 3);
    let running = prop_oneof![2 => Just(Vec::new()), 1 => draws(2)];
    (nodes(), terms, running, draws(PODS_MAX))
        .prop_map(|(world, terms, running, placed)| peopled(world, &near(terms), running, placed))
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn an_affinity_is_refused_where_no_order_binds_the_pods(trial in nears()) {
        prop_assert_eq!(trial.is_refused(Rule::PodAffinity), !trial.has_order(affinity_filter));
    }

    #[test]
    fn a_spread_is_refused_where_no_order_binds_the_pods(trial in spreads(vec(constraint(), 1))) {
        prop_assert_eq!(trial.is_refused(Rule::Spread), !trial.has_order(spread_filter));
    }

    // Several constraints may leave no common order though each has one: that is not seen.
    #[test]
    fn several_spreads_are_refused_only_where_no_order_binds_the_pods(trial in spreads(vec(constraint(), 2..=3))) {
        prop_assert!(!trial.is_refused(Rule::Spread) || !trial.has_order(spread_filter));
    }
}
