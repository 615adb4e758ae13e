//! Quotas of the subscription: no plan needs more vCPUs than are left, and what stays Pending says what would help. Every
//! plan is judged, once more from its file, and settled.

use std::sync::Arc;

use nodeform::catalog::Catalog;
use nodeform::check::check;
use nodeform::manifests::Source;
use nodeform::model::{Region, Usage};
use nodeform::offline::{self, Laid, Request, World};
use nodeform::plan::{ClaimSpec, Plan, file};
use nodeform::render::{Detail, PlanView, plain_text, plan_text};
use nodeform::sim;
use nodeform::snapshot::file as snapshot_file;
use nodeform::solve::{explain_size, solve};

const D: &str = "{key: karpenter.azure.com/sku-family, operator: In, values: [D]}";
const OF_VERSION_5: &str = "{key: karpenter.azure.com/sku-version, operator: In, values: ['5']}";
const ON_DEMAND: &str = "{key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}";
const ANY_CAPACITY: &str = "{key: karpenter.sh/capacity-type, operator: In, values: [spot, on-demand]}";
const AMD: &str = "{key: kubernetes.io/arch, operator: In, values: [amd64]}";

/// A pool that asks for this.
fn pool(requirements: &[&str]) -> String {
    format!(
        "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {{name: general}}\nspec:\n  disruption: \
         {{consolidateAfter: 0s, budgets: [{{nodes: '100%'}}]}}\n  template:\n    spec:\n      \
         nodeClassRef: {{group: karpenter.azure.com, kind: AKSNodeClass, name: default}}\n      requirements: [{}]\n---\n",
        requirements.join(", ")
    )
}

/// So many pods that each fill most of four vCPUs.
fn pods(replicas: usize) -> String {
    format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: web}}\nspec:\n  replicas: {replicas}\n  selector: \
         {{matchLabels: {{app: web}}}}\n  template:\n    metadata: {{labels: {{app: web}}}}\n    spec:\n      containers: \
         [{{name: web, resources: {{requests: {{cpu: '3', memory: 6Gi}}}}}}]\n---\n"
    )
}

/// A node of the pool that carries one of them.
fn node(name: &str, size: &str) -> String {
    let labels = format!(
        "karpenter.sh/nodepool: general, karpenter.sh/capacity-type: on-demand, node.kubernetes.io/instance-type: {size}, \
         topology.kubernetes.io/zone: westeurope-1, karpenter.sh/initialized: 'true', karpenter.sh/registered: 'true', \
         kubernetes.io/arch: amd64, kubernetes.io/os: linux"
    );
    format!(
        "apiVersion: v1\nkind: Node\nmetadata: {{name: {name}, labels: {{{labels}}}}}\nstatus:\n  capacity: {{cpu: '4', \
         memory: 16Gi, pods: '110'}}\n  allocatable: {{cpu: 3860m, memory: 14Gi, pods: '110'}}\n  conditions: [{{type: Ready, \
         status: 'True'}}]\n---\n\
         apiVersion: v1\nkind: Pod\nmetadata: {{name: old-{name}, labels: {{app: old}}, ownerReferences: [{{apiVersion: \
         apps/v1, kind: ReplicaSet, name: old, controller: true, uid: o}}]}}\nspec:\n  nodeName: {name}\n  containers: [{{name: \
         old, resources: {{requests: {{cpu: '3', memory: 6Gi}}}}}}]\nstatus: {{phase: Running}}\n---\n"
    )
}

fn usages(rows: &[(&str, i64, i64)]) -> Vec<Usage> {
    rows.iter()
        .map(|(name, used, limit)| Usage { name: Arc::from(*name), used: *used, limit: *limit })
        .collect()
}

fn request(manifests: &str, rows: &[(&str, i64, i64)]) -> Request {
    Request {
        sources: vec![Source::new("world.yaml", manifests)],
        usages: Some(usages(rows)),
        location: Some(Region::new("westeurope")),
        without_system_daemons: true,
        ..Request::default()
    }
}

fn world_of(request: Request) -> World {
    offline::world(request).unwrap_or_else(|problems| panic!("{problems:#?}"))
}

fn planned(world: &World) -> Plan {
    let planned = offline::plan(world).unwrap_or_else(|refused| panic!("the judge: {:#?}", refused.findings));
    let plan = planned.plan.plan().clone();
    let read = file::read(&file::write(&plan)).expect("a plan file can be read");
    assert_eq!(check(&read.snapshot(), &read.policy(), &read), [], "the file alone is enough for the judge");
    let after = World { snapshot: sim::after(&world.snapshot, &plan), ..world.clone() };
    let again = offline::plan(&after).unwrap_or_else(|refused| panic!("the judge: {:#?}", refused.findings));
    assert!(again.plan.plan().spec.waves.is_empty(), "not settled:\n{}", page(again.plan.plan()));
    plan
}

fn judged(manifests: &str, rows: &[(&str, i64, i64)]) -> Plan {
    planned(&world_of(request(manifests, rows)))
}

fn page(plan: &Plan) -> String {
    plain_text(&plan_text(&PlanView::new(plan, None), Detail::All))
}

/// The sizes that are bought, with how.
fn bought(plan: &Plan) -> Vec<String> {
    let title = |claim: &ClaimSpec| format!("{} {}", claim.primary.size, claim.primary.capacity_type);
    let mut bought: Vec<String> = plan.spec.creates().map(|(_, _, claim)| title(claim)).collect();
    bought.sort();
    bought
}

/// Why pods stay Pending: how many, and the reason.
fn pending(plan: &Plan) -> Vec<(usize, String)> {
    let unplaced = &plan.evidence.report.unplaced;
    unplaced.iter().map(|group| (group.pods.len(), format!("{}: {}", group.rule, group.because))).collect()
}

/// The pool of D v5 on amd64.
fn d_v5() -> String {
    pool(&[D, OF_VERSION_5, AMD, ON_DEMAND])
}

/// Every family of D v5 on amd64, in the letters that the list of usages has, with this limit.
fn families(limit: i64) -> Vec<(&'static str, i64, i64)> {
    [
        "standardDSv5Family",
        "StandardDDSv5Family",
        "STANDARDDASv5FAMILY",
        "standardDADSv5Family",
        "standarddv5family",
        "standardDDv5Family",
        "standardDLSv5Family",
        "standardDLDSv5Family",
    ]
    .into_iter()
    .map(|family| (family, 0, limit))
    .collect()
}

fn with(rows: &[(&'static str, i64, i64)]) -> Vec<(&'static str, i64, i64)> {
    let named = |name: &str| rows.iter().any(|(other, _, _)| other.eq_ignore_ascii_case(name));
    families(0).into_iter().filter(|(name, _, _)| !named(name)).chain(rows.iter().copied()).collect()
}

#[test]
fn a_family_is_bought_as_far_as_its_quota_goes_and_then_the_next() {
    let manifests = d_v5() + &pods(3);
    let free = bought(&judged(&manifests, &[]));
    let rows = with(&[("standarddasv5FAMILY", 90, 100), ("standardDSv5Family", 0, 100), ("cores", 90, 1000)]);
    let limited = judged(&manifests, &rows);
    assert_eq!(pending(&limited), []);
    assert_ne!(bought(&limited), free);
    let vcpus = |size: &str| bought(&limited).iter().filter(|bought| bought.contains(size)).count();
    assert!(vcpus("as_v5") <= 2, "{:?}", bought(&limited));
}

#[test]
fn what_no_quota_is_left_for_stays_pending_with_family_limit_used_needed_and_the_next_best() {
    let rows = with(&[("standardDSv5Family", 8, 12), ("cores", 8, 350)]);
    let plan = judged(&(d_v5() + &pods(3)), &rows);
    assert_eq!(bought(&plan), ["Standard_D4s_v5 on-demand"]);
    let pending = pending(&plan);
    let [(2, because)] = pending.as_slice() else {
        panic!("two pods are Pending for one reason: {pending:?}")
    };
    let said = "limits: quota `standardDSv5Family` is 12 vCPUs, 8 used (12 with this plan), and a node needs 4; the next best, family `";
    assert!(because.starts_with(said), "{because}");
    assert!(because.contains("leaves too little as well (0 of 0 vCPUs used); `Standard_"), "{because}");
    assert!(because.contains("NodePool `general` excludes it: `karpenter.azure.com/sku-"), "{because}");
    let shown = page(&plan).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(shown.contains("quota `standardDSv5Family` is 12 vCPUs"), "{shown}");
}

#[test]
fn the_quota_of_the_region_counts_whatever_the_family() {
    let rows: Vec<_> = families(1_000).into_iter().chain([("cores", 342, 350)]).collect();
    let plan = judged(&(d_v5() + &pods(5)), &rows);
    assert_eq!(pending(&plan).iter().map(|(pods, _)| pods).sum::<usize>(), 3);
    let (_, because) = &pending(&plan)[0];
    assert!(
        because.starts_with("limits: quota `cores` is 350 vCPUs, 342 used (350 with this plan)"),
        "{because}"
    );
    // Spot is counted apart.
    assert!(
        because.contains("would fit (spot (`lowPriorityCores`), ")
            && because.ends_with("excludes it: `karpenter.sh/capacity-type` In [on-demand]"),
        "{because}"
    );
}

#[test]
fn spot_has_one_quota_for_all_families_and_needs_none_of_theirs() {
    let manifests = pool(&[D, OF_VERSION_5, AMD, ANY_CAPACITY]) + &pods(3);
    let spot = judged(&manifests, &with(&[("cores", 0, 0), ("lowPriorityCores", 0, 100)]));
    assert_eq!(pending(&spot), []);
    assert!(bought(&spot).iter().all(|bought| bought.ends_with("spot")), "{:?}", bought(&spot));
    let none: Vec<_> =
        families(100).into_iter().chain([("cores", 0, 100), ("LOWPRIORITYCORES", 3, 3)]).collect();
    let none = judged(&manifests, &none);
    assert_eq!(pending(&none), []);
    assert!(bought(&none).iter().all(|bought| bought.ends_with("on-demand")), "{:?}", bought(&none));
}

#[test]
fn what_a_plan_removes_frees_nothing_for_what_it_creates() {
    // The one pod of the node needs half of it.
    let manifests = d_v5() + &node("n1", "Standard_D8s_v5");
    let changes = |limit| {
        let plan = judged(&manifests, &with(&[("standardDSv5Family", 8, limit), ("cores", 8, 350)]));
        (bought(&plan), plan.spec.deletes().count())
    };
    assert_eq!(changes(12), (vec!["Standard_D4s_v5 on-demand".to_owned()], 1));
    assert_eq!(changes(11), (Vec::new(), 0), "both are there for a while");
}

/// A pod that waits, beside others that run.
fn waiting_pod() -> String {
    "apiVersion: v1\nkind: Pod\nmetadata: {name: web-0}\nspec: {containers: [{name: web, resources: {requests: {cpu: '3', \
     memory: 6Gi}}}]}\nstatus: {phase: Pending}\n---\n"
        .to_owned()
}

#[test]
fn nodes_that_run_are_among_what_azure_says_is_used() {
    let manifests = d_v5() + &node("n1", "Standard_D4s_v5") + &node("n2", "Standard_D4s_v5") + &waiting_pod();
    let full = judged(&manifests, &with(&[("standardDSv5Family", 8, 11), ("cores", 8, 350)]));
    assert_eq!((bought(&full), pending(&full).len()), (Vec::new(), 1), "{}", page(&full));
    let room = judged(&manifests, &with(&[("standardDSv5Family", 8, 12), ("cores", 8, 350)]));
    assert_eq!((bought(&room).len(), pending(&room).len()), (1, 0), "{}", page(&room));
}

#[test]
fn a_limit_beyond_32_bits_and_a_negative_one_limit_nothing_here() {
    let rows: Vec<_> = families(3_000_000_000).into_iter().chain([("cores", 0, -1)]).collect();
    let manifests = d_v5() + &pods(4);
    assert_eq!(bought(&judged(&manifests, &rows)), bought(&judged(&manifests, &[])));
}

#[test]
fn unknown_quotas_limit_nothing_and_are_said_once() {
    let plan = judged(&(d_v5() + &pods(8)), &[("virtualMachines", 1, 1)]);
    assert_eq!(pending(&plan), []);
    let said: Vec<String> =
        plan.evidence.report.warnings.iter().map(|warning| warning.object.clone()).collect();
    let quotas: Vec<&String> = said.iter().filter(|object| object.starts_with("quota")).collect();
    assert_eq!(quotas.len(), 1, "{said:?}");
    assert!(quotas[0].contains("`cores`"), "{quotas:?}");
}

#[test]
fn a_snapshot_keeps_the_usages_and_another_list_replaces_them() {
    let manifests = d_v5() + &pods(3);
    let rows = with(&[("standardDSv5Family", 0, 4), ("cores", 0, 350)]);
    let text = snapshot_file::write(&offline::snapshot(request(&manifests, &rows)).expect("it is right"));
    let laid = || Some(Laid { snapshot: Source::new("s.json", text.as_str()), ..Laid::default() });
    let from = |usages| Request { laid: laid(), usages, without_system_daemons: true, ..Request::default() };
    assert_eq!(bought(&planned(&world_of(from(None)))).len(), 1);
    assert_eq!(bought(&planned(&world_of(from(Some(usages(&[])))))), bought(&judged(&manifests, &[])));
    let seen = |text: &str| offline::seen(&Source::new("s.json", text)).expect("a snapshot");
    let other = text.replacen("\"limit\": 4\n", "\"limit\": 8\n", 1);
    assert_ne!(text, other, "the file has the limit");
    let difference = offline::difference(&seen(&text), &seen(&other));
    assert_eq!(difference.others.len(), 1, "{difference:?}");
    assert_eq!(difference.others[0].name, "quota standarddsv5family");
    assert_eq!(difference.others[0].what, ["limit 4 to 8"]);
}

#[test]
fn a_size_that_no_quota_is_left_for_says_so_when_it_is_explained() {
    let rows = with(&[("standardDSv5Family", 0, 100)]);
    let World { snapshot, policy, .. } = world_of(request(&(d_v5() + &pods(1)), &rows));
    let solution = solve(&snapshot, &policy);
    let explained = format!("{:?}", explain_size(&snapshot, &policy, &solution, &"Standard_D4as_v5".into()));
    assert!(
        explained.contains("quota `STANDARDDASv5FAMILY` is 0 vCPUs, 0 used, and a node needs 4"),
        "{explained}"
    );
}

#[test]
fn the_embedded_catalogue_knows_the_family_of_every_size() {
    let catalog = Catalog::embedded(&Region::new("eastus")).expect("is known");
    let unknown: Vec<_> =
        catalog.size_quotas().into_iter().filter(|(_, quota)| quota.family.is_empty()).collect();
    assert_eq!(unknown, []);
}
