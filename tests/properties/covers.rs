//! What a second plan may do of an approved one, on sketches of plans: two pools, a few sizes, nodes that come and go.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::SignedDuration;
use nodeform::model::{
    CapacityType, ClaimName, ClassName, Digest, DisruptionReason, ExpireAfter, MicroUsdPerHour, NodeName,
    PodKey, PoolName, Region, Requirements, Resources, SkuName, WhatIf, Wishes, Zone,
};
use nodeform::plan::execution::{
    ClusterIdentity, DiskPlacement, KubeletSpec, Launch, LaunchChoice, Machine, MachineId, NetworkSpec,
    NodeIdentity, OsDiskSpec, Removal, SecuritySpec,
};
use nodeform::plan::{
    Change, ChangeId, Choice, ClaimSpec, ClaimSpecId, Create, Delete, Evidence, Execution, ExistingNode,
    Inputs, Plan, PlanSpec, PlannedChange, Step, Wave,
};
use nodeform::review::covers::{Covered, Fate, covers};
use proptest::collection::vec;
use proptest::prelude::{Just, ProptestConfig, Strategy, any, prop_assert, prop_assert_eq, proptest};
use proptest::sample::Index;

/// Cases of each property where nobody says another number.
const CASES: u32 = 256;

fn config() -> ProptestConfig {
    let standard = ProptestConfig::default();
    // 256 is what proptest takes where the environment says nothing.
    let cases = if standard.cases == 256 { CASES } else { standard.cases };
    ProptestConfig { cases, ..super::config() }
}

/// A node that comes.
#[derive(Clone, Debug, PartialEq)]
struct Coming {
    /// What it is called in its plan.
    name: u8,
    pool: u8,
    /// Which sizes may be tried, by number; the first is tried first.
    sizes: Vec<u8>,
    /// What the dearest costs; unknown where it is zero.
    most: i64,
    has_waiting_pods: bool,
}

/// A node that goes.
#[derive(Clone, Debug, PartialEq)]
struct Going {
    vm: u8,
    is_empty: bool,
    /// In minutes; none is without end.
    grace: Option<i64>,
    /// The nodes that it waits for, by name.
    after: BTreeSet<u8>,
}

/// A plan, in short.
#[derive(Clone, Debug, Default, PartialEq)]
struct Sketch {
    coming: Vec<Coming>,
    going: Vec<Going>,
}

fn coming() -> impl Strategy<Value = Coming> {
    (0_u8..2, vec(0_u8..3, 1..3), 0_i64..4, any::<bool>()).prop_map(
        |(pool, mut sizes, most, has_waiting_pods)| {
            sizes.dedup();
            Coming { name: 0, pool, sizes, most, has_waiting_pods }
        },
    )
}

fn going() -> impl Strategy<Value = Going> {
    (any::<bool>(), proptest::option::of(0_i64..3), vec(0_u8..5, 0..3)).prop_map(
        |(is_empty, grace, after)| Going { vm: 0, is_empty, grace, after: after.into_iter().collect() },
    )
}

fn sketches() -> impl Strategy<Value = Sketch> {
    (vec(coming(), 0..5), vec(going(), 0..5)).prop_map(|(mut coming, mut going)| {
        coming.iter_mut().zip(0..).for_each(|(node, name)| node.name = name);
        going.iter_mut().zip(0..).for_each(|(node, vm)| node.vm = vm);
        let mut sketch = Sketch { coming, going };
        sketch.tidy();
        sketch
    })
}

/// A step from one plan to the next: most ask for less, some for more.
#[derive(Clone, Debug)]
enum Turn {
    DropComing(Index),
    DropGoing(Index),
    Cheaper(Index),
    Dearer(Index),
    FewerSizes(Index),
    MoreGrace(Index),
    LessGrace(Index),
    WaitsForMore(Index, Index),
    WaitsForFewer(Index),
    Emptied(Index),
    Renamed(u8),
    Nothing,
}

fn turns() -> impl Strategy<Value = Vec<Turn>> {
    let one = || any::<Index>();
    let step = proptest::prop_oneof![
        one().prop_map(Turn::DropComing),
        one().prop_map(Turn::DropGoing),
        one().prop_map(Turn::Cheaper),
        one().prop_map(Turn::Dearer),
        one().prop_map(Turn::FewerSizes),
        one().prop_map(Turn::MoreGrace),
        one().prop_map(Turn::LessGrace),
        (one(), one()).prop_map(|(node, of)| Turn::WaitsForMore(node, of)),
        one().prop_map(Turn::WaitsForFewer),
        one().prop_map(Turn::Emptied),
        (1_u8..100).prop_map(Turn::Renamed),
        Just(Turn::Nothing),
    ];
    vec(step, 0..5)
}

impl Sketch {
    /// Waits only for what comes.
    fn tidy(&mut self) {
        let names: BTreeSet<u8> = self.coming.iter().map(|node| node.name).collect();
        self.going.iter_mut().for_each(|node| node.after.retain(|name| names.contains(name)));
    }

    fn after(&self, steps: &[Turn]) -> Self {
        let mut next = self.clone();
        for step in steps {
            next.take(step);
            next.tidy();
        }
        next
    }

    fn take(&mut self, step: &Turn) {
        let (comes, goes) = (self.coming.len(), self.going.len());
        match step {
            Turn::DropComing(at) if comes > 0 => drop(self.coming.remove(at.index(comes))),
            Turn::DropGoing(at) if goes > 0 => drop(self.going.remove(at.index(goes))),
            Turn::Cheaper(at) if comes > 0 => {
                let node = &mut self.coming[at.index(comes)];
                node.most = if node.most == 0 { 3 } else { (node.most - 1).max(1) };
            }
            Turn::Dearer(at) if comes > 0 => self.coming[at.index(comes)].most += 1,
            Turn::FewerSizes(at) if comes > 0 => {
                let node = &mut self.coming[at.index(comes)];
                if node.sizes.len() > 1 {
                    node.sizes.pop();
                }
            }
            Turn::MoreGrace(at) if goes > 0 => {
                let node = &mut self.going[at.index(goes)];
                node.grace = node.grace.map(|grace| grace + 1).filter(|grace| *grace < 4);
            }
            Turn::LessGrace(at) if goes > 0 => {
                let node = &mut self.going[at.index(goes)];
                node.grace = Some(node.grace.unwrap_or(4) - 1);
            }
            Turn::WaitsForMore(at, of) if goes > 0 && comes > 0 => {
                let name = self.coming[of.index(comes)].name;
                self.going[at.index(goes)].after.insert(name);
            }
            Turn::WaitsForFewer(at) if goes > 0 => drop(self.going[at.index(goes)].after.pop_first()),
            Turn::Emptied(at) if goes > 0 => self.going[at.index(goes)].is_empty = true,
            Turn::Renamed(by) => {
                let renamed = |name: &u8| name.wrapping_add(*by);
                self.coming.iter_mut().for_each(|node| node.name = renamed(&node.name));
                self.coming.reverse();
                for node in &mut self.going {
                    node.after = node.after.iter().map(renamed).collect();
                }
            }
            Turn::DropComing(_)
            | Turn::DropGoing(_)
            | Turn::Cheaper(_)
            | Turn::Dearer(_)
            | Turn::FewerSizes(_)
            | Turn::MoreGrace(_)
            | Turn::LessGrace(_)
            | Turn::WaitsForMore(..)
            | Turn::WaitsForFewer(_)
            | Turn::Emptied(_)
            | Turn::Nothing => {}
        }
    }

    fn plan(&self) -> Plan {
        let mut execution = Execution {
            cluster: ClusterIdentity {
                uid: "uid".into(),
                id: "/subscriptions/s/managedClusters/c".into(),
                node_resource_group: "nodes".into(),
                location: "westeurope".into(),
            },
            seen_at: None,
            machines: BTreeMap::from([(MachineId(Arc::from("machine")), machine())]),
            launches: BTreeMap::new(),
            nodes: BTreeMap::new(),
            removals: BTreeMap::new(),
            nominations: BTreeMap::new(),
            made_for: BTreeMap::new(),
        };
        let (mut claims, mut changes) = (BTreeMap::new(), BTreeMap::new());
        let mut wave = Wave::default();
        for node in &self.coming {
            let (id, create) = node.create();
            execution.launches.insert(create.spec.clone(), node.launch());
            claims.insert(create.spec.clone(), node.claim());
            if node.has_waiting_pods {
                execution.nominations.insert(id.clone(), vec![PodKey::new("default", "web")]);
            }
            wave.steps.entry(Step::Create).or_default().push(id.clone());
            changes.insert(id, PlannedChange { change: Change::Create(create), preconditions: Vec::new() });
        }
        for node in &self.going {
            let (id, delete) = node.delete();
            execution.nodes.insert(id.clone(), node.identity());
            let grace = node.grace.map(SignedDuration::from_mins);
            let after = node.after.iter().map(|name| coming_id(*name)).collect();
            execution.removals.insert(id.clone(), Removal { grace, after, owners: Vec::new() });
            wave.steps.entry(Step::Drain).or_default().push(id.clone());
            wave.steps.entry(Step::Delete).or_default().push(id.clone());
            changes.insert(id, PlannedChange { change: Change::Delete(delete), preconditions: Vec::new() });
        }
        let spec = PlanSpec {
            cluster: Some("uid".into()),
            scope: Vec::new(),
            parent: None,
            what_if: WhatIf::default(),
            targets: Vec::new(),
            wishes: Wishes::default(),
            expires_at: None,
            inputs: Inputs::default(),
            claims,
            changes,
            waves: vec![wave],
            execution: Some(execution),
        };
        Plan { spec, evidence: Evidence::unseen(Region::new("westeurope")) }
    }
}

fn coming_id(name: u8) -> ChangeId {
    ChangeId(format!("c{name}").into())
}

impl Coming {
    fn create(&self) -> (ChangeId, Create) {
        let name = format!("pool-{}", self.name);
        let spec = ClaimSpecId(format!("{}/{:?}/{}", self.pool, self.sizes, self.most).into());
        let create = Create {
            vm: format!("aks-{name}").into(),
            claim: ClaimName::new(name),
            spec,
            requests: Resources::none(),
        };
        (coming_id(self.name), create)
    }

    fn price(&self) -> Option<MicroUsdPerHour> {
        (self.most > 0).then_some(MicroUsdPerHour(self.most))
    }

    fn choice(size: u8) -> Choice {
        Choice {
            size: SkuName::new(format!("size-{size}")),
            zone: Zone::new("westeurope-1"),
            capacity_type: CapacityType::OnDemand,
        }
    }

    fn launch(&self) -> Launch {
        let choices = self.sizes.iter().map(|size| LaunchChoice {
            choice: Self::choice(*size),
            price_max: self.price(),
            machine: MachineId(Arc::from("machine")),
        });
        Launch { choices: choices.collect(), annotations: BTreeMap::new(), capacity: Resources::none() }
    }

    fn claim(&self) -> ClaimSpec {
        ClaimSpec {
            pool: PoolName::new(format!("pool-{}", self.pool)),
            class: ClassName::new("default"),
            primary: Self::choice(self.sizes[0]),
            requirements: Requirements::none(),
            price_max: self.price(),
            labels: BTreeMap::new(),
            annotations: BTreeMap::new(),
            taints: Vec::new(),
            startup_taints: Vec::new(),
            expire_after: ExpireAfter::Never,
            termination_grace_period: None,
        }
    }
}

impl Going {
    fn delete(&self) -> (ChangeId, Delete) {
        let target = ExistingNode {
            node: NodeName::new(format!("node-{}", self.vm)),
            claim: Some(ClaimName::new(format!("claim-{}", self.vm))),
            pool: Some(PoolName::new("pool-0")),
            provider_id: None,
        };
        let reason = if self.is_empty { DisruptionReason::Empty } else { DisruptionReason::Underutilized };
        (ChangeId(format!("d{}", self.vm).into()), Delete { target, reason })
    }

    fn identity(&self) -> NodeIdentity {
        NodeIdentity {
            node_uid: Some(format!("node-{}", self.vm).into()),
            claim_uid: Some(format!("claim-{}", self.vm).into()),
            vm_id: Some(format!("vm-{}", self.vm).into()),
            ..NodeIdentity::default()
        }
    }
}

/// What every VM is made of.
fn machine() -> Machine {
    Machine {
        image: "/CommunityGalleries/g/images/i/versions/202511.20.0".into(),
        generation: 2,
        os_disk: OsDiskSpec { size_gb: 128, placement: DiskPlacement::Managed },
        network: NetworkSpec {
            subnet: "/subscriptions/s/subnets/nodes".into(),
            security_group: None,
            backend_pools: Vec::new(),
            accelerated_networking: true,
            pod_addresses: 0,
        },
        identities: Vec::new(),
        security: SecuritySpec::default(),
        tags: BTreeMap::new(),
        ultra_ssd: None,
        kubelet: KubeletSpec {
            max_pods: 50,
            kube_reserved: BTreeMap::new(),
            system_reserved: BTreeMap::new(),
            eviction_hard: BTreeMap::new(),
        },
        admin_user: "azureuser".into(),
        ssh_key: Digest::of_bytes(b"key"),
        bootstrap: Digest::of_bytes(b"bootstrap"),
    }
}

/// The sum of the highest prices of these creates; none where one is not known.
fn most<'a>(plan: &Plan, creates: impl IntoIterator<Item = &'a ChangeId>) -> Option<MicroUsdPerHour> {
    let price = |id: &ChangeId| {
        let create = plan.spec.changes.get(id)?.change.create()?;
        plan.spec.claims.get(&create.spec)?.price_max
    };
    creates.into_iter().map(price).sum()
}

fn kept(covered: &Covered) -> BTreeMap<&ChangeId, &ChangeId> {
    covered.approved.iter().filter_map(|(id, fate)| Some((id, &fate.kept()?.fresh))).collect()
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn a_plan_covers_itself(sketch in sketches()) {
        let plan = sketch.plan();
        let covered = covers(&plan, &plan);
        prop_assert!(covered.is_whole(), "{:#?}", covered);
        let kept = kept(&covered);
        prop_assert_eq!(kept.len(), plan.spec.changes.len());
        for (approved, fate) in &covered.approved {
            let fate = fate.kept().expect("it is kept");
            let removal = plan.spec.execution.as_ref().and_then(|execution| execution.removals.get(approved));
            prop_assert_eq!(fate.grace, removal.and_then(|removal| removal.grace));
        }
    }

    #[test]
    fn what_covers_a_plan_covers_what_that_covers(
        sketch in sketches(),
        first in turns(),
        then in turns(),
    ) {
        let second = sketch.after(&first);
        let third = second.after(&then);
        let (one, two, three) = (sketch.plan(), second.plan(), third.plan());
        if covers(&one, &two).is_whole() && covers(&two, &three).is_whole() {
            let covered = covers(&one, &three);
            prop_assert!(covered.is_whole(), "{:#?}\n{:#?}", third, covered);
        }
    }

    #[test]
    fn what_is_covered_stays_so_when_something_is_dropped(
        sketch in sketches(),
        steps in turns(),
        drops in vec((any::<bool>(), any::<Index>()), 1..4),
    ) {
        let fresh = sketch.after(&steps);
        if covers(&sketch.plan(), &fresh.plan()).is_whole() {
            let drops: Vec<Turn> = drops
                .into_iter()
                .map(|(comes, at)| if comes { Turn::DropComing(at) } else { Turn::DropGoing(at) })
                .collect();
            let fewer = fresh.after(&drops);
            let covered = covers(&sketch.plan(), &fewer.plan());
            prop_assert!(covered.is_whole(), "{:#?}\n{:#?}", fewer, covered);
        }
    }

    #[test]
    fn whatever_is_kept_was_approved_once_and_costs_no_more(sketch in sketches(), other in sketches(), steps in turns()) {
        let approved = sketch.plan();
        for fresh in [other.plan(), sketch.after(&steps).plan()] {
            let covered = covers(&approved, &fresh);
            let kept = kept(&covered);
            prop_assert_eq!(covered.approved.len(), approved.spec.changes.len());
            let taken: BTreeSet<&ChangeId> = kept.values().copied().collect();
            prop_assert_eq!(taken.len(), kept.len(), "each stands for one");
            prop_assert!(taken.iter().all(|id| !covered.strange.contains_key(*id)));
            let creates: BTreeSet<&ChangeId> =
                kept.keys().copied().filter(|id| approved.spec.changes[*id].change.create().is_some()).collect();
            let asked = most(&fresh, creates.iter().map(|id| kept[*id]));
            if let Some(approved) = most(&approved, creates) {
                prop_assert!(asked.is_some_and(|asked| asked <= approved), "{:?} of {:?}", asked, approved);
            }
            let ordered: Vec<&ChangeId> = covered.waves.iter().flatten().collect();
            prop_assert_eq!(ordered.iter().copied().collect::<BTreeSet<_>>(), kept.keys().copied().collect());
            prop_assert_eq!(ordered.len(), kept.len());
        }
    }

    #[test]
    fn of_two_clusters_nothing_is_covered(sketch in sketches()) {
        let (approved, mut fresh) = (sketch.plan(), sketch.plan());
        if let Some(execution) = &mut fresh.spec.execution {
            execution.cluster.uid = "other".into();
        }
        let covered = covers(&approved, &fresh);
        prop_assert_eq!(covered.strange.len(), fresh.spec.changes.len());
        prop_assert!(covered.approved.values().all(|fate| !matches!(fate, Fate::Kept(_))));
    }
}
