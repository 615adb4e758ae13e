//! `nodeform explain`: the reasons for the outcome of a pod, a workload, a node, a pool or a size.

use std::collections::BTreeMap;

use super::arguments::{ExplainArguments, OneStrategyArgument};
use super::exit::{Exit, Failure};
use super::ui::Ui;
use super::{explain_plan, world};
use crate::catalog::Catalog;
use crate::model::{NodeName, PodKey, PoolName, SkuName, Zone};
use crate::offline::{Planned, World};
use crate::render::explain::pool::{InRegion, pool as explain_pool_lines, size_in_regions};
use crate::render::{Line, PlanView, Style, explain as render, explain::plan as explain_plan_lines};
use crate::snapshot::{Daemon, Snapshot};
use crate::solve::explain::{
    Meant, NodeExplanation, PodExplanation, PodOutcome, is_kind, is_workload_kind, pod_outcome, pods_meant,
};
use crate::solve::{NodeRef, Strategy, explain_node, explain_pod, explain_pool, explain_size};

/// Usage hint.
const WAYS: &str = "ask as in `nodeform explain pod/web-0 my-manifests/`, `deployment/NAME`, `node/NAME`, `pool/NAME` or `size/NAME`";

pub(super) fn run(arguments: &ExplainArguments, ui: Ui) -> Result<Exit, Failure> {
    let ExplainArguments { target, namespace, all_regions, strategy, world: from } = arguments;
    let Some((kind, space, name)) = asked(target) else {
        return Err(Failure::error(format!("`{target}` is not KIND/NAME")).hint(WAYS));
    };
    let namespace = namespace.as_deref().or(space);
    let is_size = matches!(kind, "size" | "sizes");
    if *all_regions && !is_size {
        return Err(Failure::error("`--all-regions` is for `size/NAME` only"));
    }
    if from.is_empty() {
        return Err(Failure::error("there is nothing to explain from: no input was named")
            .hint(format!("name the manifests: `nodeform explain {target} my-manifests/`")));
    }
    if let Some(path) = from.input.saved_plan() {
        let lines = explain_plan::explain(path, (kind, name), namespace)?;
        ui.wrapped(&lines)?;
        return Ok(Exit::Done);
    }
    let strategy = strategy.map(|strategy| match strategy {
        OneStrategyArgument::Cheapest => Strategy::Cheapest,
        OneStrategyArgument::Karpenter => Strategy::Karpenter,
    });
    let world = world::world(from, strategy, ui)?;
    let planned = world::planned(&world)?;
    let mut lines = match kind {
        "node" | "nodes" | "no" | "nodeclaim" | "nodeclaims" => node(&world, &planned, name)?,
        "pool" | "pools" | "nodepool" | "nodepools" => pool(&world, &planned, name)?,
        _ if is_size => size(&world, &planned, name)?,
        "pod" | "pods" | "po" => pods(&world, &planned, (kind, name), namespace)?,
        other if is_workload_kind(&world.snapshot, other) => pods(&world, &planned, (kind, name), namespace)?,
        other => return Err(Failure::error(format!("`{other}` cannot be explained")).hint(WAYS)),
    };
    if *all_regions {
        lines.extend(in_regions(&world, name));
    }
    ui.wrapped(&lines)?;
    Ok(Exit::Done)
}

/// Parses `KIND/NAME` into kind, namespace and name; also accepts `KIND/NAMESPACE/NAME` as in plans, and the kind's
/// group as in `-o name` here and in kubectl.
fn asked(target: &str) -> Option<(&str, Option<&str>, &str)> {
    let (kind, rest) = target.split_once('/')?;
    let kind = kind.split_once('.').map_or(kind, |(kind, _)| kind);
    let (space, name) = rest.split_once('/').map_or((None, rest), |(space, name)| (Some(space), name));
    (!name.is_empty() && space.is_none_or(|space| !space.is_empty())).then_some((kind, space, name))
}

/// Explains one pod; for several pods, their outcomes and the one with the worst outcome.
fn pods(
    world: &World,
    planned: &Planned,
    (kind, name): (&str, &str),
    namespace: Option<&str>,
) -> Result<Vec<Line>, Failure> {
    let World { snapshot, policy, .. } = world;
    let (solution, target) = (&planned.solution, &planned.solution.target);
    let meant = match pods_meant(snapshot, (kind, name), namespace) {
        Meant::Pods(meant) => meant,
        Meant::InSeveral(spaces) => {
            let spaces: Vec<String> = spaces.iter().map(|space| format!("`-n {space}`")).collect();
            return Err(Failure::error(format!("`{kind}/{name}` is in several namespaces"))
                .hint(format!("say which: {}", spaces.join(", "))));
        }
        Meant::Nothing => {
            let daemon = daemon(world, (kind, name), namespace);
            return daemon.map(render::daemon).ok_or_else(|| no_such_pod(world, (kind, name), namespace));
        }
    };
    let mut outcomes: BTreeMap<PodOutcome, usize> = BTreeMap::new();
    let mut worst: Option<(PodOutcome, &PodKey)> = None;
    for pod in &meant {
        let outcome = pod_outcome(solution, pod);
        *outcomes.entry(outcome.clone()).or_default() += 1;
        if worst.as_ref().is_none_or(|(known, _)| outcome < *known) {
            worst = Some((outcome, &pod.key));
        }
    }
    let mut lines = Vec::new();
    if meant.len() > 1 {
        let space = &meant[0].key.namespace;
        let title = match kind {
            "pod" | "pods" | "po" => format!("pods `{space}/{name}…`"),
            _ => format!("{kind} `{space}/{name}`"),
        };
        lines.extend(render::pods(&title, &outcomes, target));
        lines.push(Line::blank());
    }
    if let Some((_, key)) = worst {
        let explanation = explain_pod(snapshot, policy, solution, key);
        let mut said = render::pod(&explanation, target);
        if let (PodOutcome::Runs(_), Some(line)) =
            (&explanation.outcome, explain_plan_lines::comes(&PlanView::new(planned.plan.plan(), None), key))
        {
            said[0] = line;
        }
        said.splice(1..1, running(world, planned, &explanation));
        lines.extend(said);
    }
    Ok(lines)
}

/// Returns lines about a running pod: where it runs, whether and why it moves, and what the move saves.
fn running(world: &World, planned: &Planned, explanation: &PodExplanation) -> Vec<Line> {
    let view = PlanView::new(planned.plan.plan(), None);
    let mut lines = explain_plan_lines::running(&view, &explanation.pod);
    if let PodOutcome::Runs(name) = &explanation.outcome {
        let reference = NodeRef::Existing(name.clone());
        let node = explain_node((&world.snapshot, &world.policy), &planned.solution, &reference);
        lines.truncate(1);
        lines.extend(node_fate(&node, name.as_str()));
    }
    lines.extend(explain_plan_lines::preempted(&view, &explanation.pod));
    lines
}

/// Returns a line about what happens to a pod's node.
fn node_fate(node: &NodeExplanation, name: &str) -> Option<Line> {
    let title = render::node(node, name, None).into_iter().next()?.text();
    Some(Line::new(Style::Plain, format!("  {title}")))
}

/// Finds a DaemonSet without pods in the input: its pods are added with nodes and are not pending.
fn daemon<'w>(world: &'w World, (kind, name): (&str, &str), namespace: Option<&str>) -> Option<&'w Daemon> {
    let is_meant = |daemon: &&Daemon| {
        *daemon.name == *name && namespace.is_none_or(|space| daemon.namespace.as_str() == space)
    };
    world.snapshot.daemons.iter().filter(|_| is_kind(kind, "DaemonSet")).find(is_meant)
}

/// Returns the workload of this kind with the nearest name.
fn nearest_of_kind(world: &World, (kind, name): (&str, &str)) -> Option<String> {
    let Snapshot { pods, daemons, .. } = &world.snapshot;
    let workloads =
        pods.iter().filter_map(|pod| pod.workload.as_ref()).filter(|one| is_kind(kind, &one.kind));
    let workloads = workloads.map(|one| (&*one.kind, &*one.name, one.namespace.as_str()));
    let daemons = daemons.iter().filter(|_| is_kind(kind, "DaemonSet"));
    let daemons = daemons.map(|one| ("DaemonSet", &*one.name, one.namespace.as_str()));
    let (kind, near, space) = workloads
        .chain(daemons)
        .min_by_key(|(_, known, space)| (strsim::levenshtein(known, name), *known, *space))?;
    Some(format!("the nearest {kind} is `{near}`, in namespace `{space}`"))
}

fn no_such_pod(world: &World, (kind, name): (&str, &str), namespace: Option<&str>) -> Failure {
    let pods = || world.snapshot.pods.iter();
    let elsewhere = match pods_meant(&world.snapshot, (kind, name), None) {
        Meant::Pods(pods) => pods.first().map(|pod| pod.key.namespace.clone()),
        Meant::InSeveral(spaces) => spaces.first().map(|space| (*space).clone()),
        Meant::Nothing => None,
    };
    let nearest = pods().min_by_key(|pod| strsim::levenshtein(&pod.key.name, name));
    let elsewhere =
        elsewhere.or_else(|| daemon(world, (kind, name), None).map(|daemon| daemon.namespace.clone()));
    let hint = match (elsewhere, nearest_of_kind(world, (kind, name)), nearest) {
        (Some(space), _, _) => format!("it is in namespace `{space}`: add `-n {space}`"),
        (None, Some(near), _) => near,
        (None, None, Some(pod)) => {
            format!("the nearest pod is `{}`, in namespace `{}`", pod.key.name, pod.key.namespace)
        }
        (None, None, None) => "the input holds no pods and no workloads".to_owned(),
    };
    let space = namespace.map_or(String::new(), |space| format!(" of namespace `{space}`"));
    Failure::error(format!("`{kind}/{name}`{space} is not in the input")).hint(hint)
}

fn pool(world: &World, planned: &Planned, name: &str) -> Result<Vec<Line>, Failure> {
    let World { snapshot, policy, .. } = world;
    let explained = explain_pool(snapshot, policy, &planned.solution, &PoolName::new(name));
    let lines = explained.map(|explained| {
        let mut lines = explain_pool_lines(&explained);
        lines.extend(learned(world, &PoolName::new(name)));
        lines
    });
    lines.ok_or_else(|| {
        let names: Vec<String> = policy.pools.keys().map(|pool| format!("`{pool}`")).collect();
        let hint = if names.is_empty() {
            "the input holds no NodePool".to_owned()
        } else {
            format!("there is: {}", names.join(", "))
        };
        Failure::error(format!("pool `{name}` is not in the input")).hint(hint)
    })
}

/// Returns values learned from a pool's nodes, next to the computed ones.
fn learned(world: &World, name: &PoolName) -> Vec<Line> {
    let World { snapshot, policy, evidence, .. } = world;
    let class = policy.pools.get(name).and_then(|pool| policy.classes.get(&pool.class));
    let (Some(class), Some(network)) = (class, policy.fleet.network) else { return Vec::new() };
    let computed = snapshot.catalog.clone().with_learned(Vec::new()).offered(class, network);
    crate::render::explain::learned::learned(name, &evidence.nodes, &computed)
}

/// Returns the price of a size in each region of the embedded price list.
fn in_regions(world: &World, name: &str) -> Vec<Line> {
    let mut size = SkuName::new(name);
    let mut rows = Vec::new();
    for region in crate::catalog::regions() {
        let Ok(catalog) = Catalog::embedded(&region) else { continue };
        let sold = catalog.sizes().iter().find(|sold| is_meant(&sold.size.name, name));
        if let Some(sold) = sold {
            size = sold.size.name.clone();
        }
        let zones = |sold: &crate::catalog::PricedSize| {
            sold.size.zones.iter().map(|zone| Zone::new(format!("{region}-{zone}"))).collect()
        };
        let here = if region == world.snapshot.catalog.region { " (here)" } else { "" };
        rows.push(InRegion {
            region: format!("{region}{here}"),
            sold: sold.map(|sold| (zones(sold), sold.price.on_demand)),
        });
    }
    size_in_regions(&size, &rows)
}

fn node(world: &World, planned: &Planned, name: &str) -> Result<Vec<Line>, Failure> {
    let reference = new_node(planned, name).unwrap_or_else(|| NodeRef::Existing(NodeName::new(name)));
    let explanation = explain_node((&world.snapshot, &world.policy), &planned.solution, &reference);
    if world.snapshot.supposed.absent.iter().any(|absent| absent.node.name.as_str() == name) {
        return Err(Failure::error(format!("node `{name}` is supposed not to be there"))
            .hint("ask without `--from-scratch` and `--without-zone` to see what happens to it"));
    }
    if explanation == NodeExplanation::Unknown {
        return Err(Failure::error(format!("node `{name}` is neither in the input nor in the plan"))
            .hint("`nodeform plan --all` lists the nodes by name"));
    }
    let mut held = planned.plan.plan().evidence.held.iter();
    let held = held.find(|held| held.node.as_str() == name && held.reason.is_some());
    Ok(render::node(&explanation, name, held.map(|held| held.because.as_str())))
}

/// Finds a new node of the plan by the name of its claim or VM. Each pod is on one node only, so its pods identify the
/// node in the solution.
fn new_node(planned: &Planned, name: &str) -> Option<NodeRef> {
    let plan = planned.plan.plan();
    let (id, _, _) =
        plan.spec.creates().find(|(_, create, _)| create.claim.as_str() == name || &*create.vm == name)?;
    let pods = &plan.evidence.placements.get(id)?.pods;
    planned.solution.target.new.iter().position(|node| node.pods == *pods).map(NodeRef::New)
}

fn size(world: &World, planned: &Planned, name: &str) -> Result<Vec<Line>, Failure> {
    let World { snapshot, policy, .. } = world;
    let size = SkuName::new(name);
    let network =
        policy.fleet.network.unwrap_or(crate::model::NetworkSetup::AzureOverlay { is_cilium: false });
    let offered: Vec<_> =
        policy.classes.values().map(|class| snapshot.catalog.offered(class, network)).collect();
    let refused = || offered.iter().flat_map(|offered| &offered.refused);
    let names = || offered.iter().flat_map(|offered| &offered.types).map(|kind| &kind.name);
    let size = names()
        .chain(refused().map(|refused| &refused.size))
        .find(|known| is_meant(known, name))
        .cloned()
        .unwrap_or(size);
    let explanation = explain_size(snapshot, policy, &planned.solution, &size);
    if let Some(refused) = refused().find(|refused| refused.size == size) {
        return Ok(render::size(&explanation, Some(&refused.because)));
    }
    if policy.classes.is_empty() || names().any(|known| *known == size) {
        return Ok(render::size(&explanation, None));
    }
    let nearest = names().min_by_key(|known| strsim::levenshtein(known.as_str(), name));
    let failure =
        Failure::error(format!("size `{name}` is not sold in region `{}`", snapshot.catalog.region));
    Err(match nearest {
        Some(nearest) => {
            failure.hint(format!("the nearest name is `{nearest}`; `nodeform catalog` lists all"))
        }
        None => failure.hint("`nodeform catalog` lists the sizes of a region"),
    })
}

/// Returns whether `name` refers to this size: `d4s_v5` is short for `Standard_D4s_v5`.
fn is_meant(size: &SkuName, name: &str) -> bool {
    let bare = |text: &str| {
        let lower = text.to_ascii_lowercase();
        lower.strip_prefix("standard_").map_or_else(|| lower.clone(), str::to_owned)
    };
    bare(size.as_str()) == bare(name)
}
