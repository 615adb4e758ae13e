//! `nodeform explain`: why a pod, a node or a size fares as it does.

use super::arguments::ExplainArguments;
use super::exit::{Exit, Failure};
use super::ui::Ui;
use super::world;
use crate::model::{NodeName, PodKey, SkuName};
use crate::offline::{Planned, World};
use crate::render::{Line, explain as render};
use crate::solve::explain::{NodeExplanation, PodOutcome};
use crate::solve::{NodeRef, explain_node, explain_pod, explain_size};

pub(super) fn run(arguments: &ExplainArguments, ui: Ui) -> Result<Exit, Failure> {
    let ExplainArguments { target, namespace, world: from } = arguments;
    let ways = "ask as in `nodeform explain pod/web-0 my-manifests/`, `node/NAME` or `size/NAME`";
    let Some((kind, name)) = target.split_once('/').filter(|(_, name)| !name.is_empty()) else {
        return Err(Failure::error(format!("`{target}` is not KIND/NAME")).hint(ways));
    };
    if from.input.is_empty() && from.laid.snapshot.is_none() {
        return Err(Failure::error("there is nothing to explain from: no input was named")
            .hint(format!("name the manifests: `nodeform explain {target} my-manifests/`")));
    }
    let world = world::world(from, ui)?;
    let planned = world::planned(&world)?;
    let lines = match kind {
        "pod" | "pods" | "po" => pod(&world, &planned, &PodKey::new(namespace, name))?,
        "node" | "nodes" | "no" => node(&world, &planned, name)?,
        "size" | "sizes" => size(&world, &planned, name)?,
        other => return Err(Failure::error(format!("`{other}` cannot be explained")).hint(ways)),
    };
    ui.lines(&lines)?;
    Ok(Exit::Done)
}

fn pod(world: &World, planned: &Planned, key: &PodKey) -> Result<Vec<Line>, Failure> {
    let explanation = explain_pod(&world.snapshot, &world.policy, &planned.solution, key);
    if explanation.outcome == PodOutcome::Unknown {
        let pods = || world.snapshot.pods.iter();
        let elsewhere = pods().find(|pod| pod.key.name == key.name);
        let nearest = pods().min_by_key(|pod| strsim::levenshtein(&pod.key.name, &key.name));
        let hint = match (elsewhere, nearest) {
            (Some(pod), _) => format!("it is in namespace `{0}`: add `-n {0}`", pod.key.namespace),
            (None, Some(pod)) => {
                format!("the nearest name is `{}`, in namespace `{}`", pod.key.name, pod.key.namespace)
            }
            (None, None) => "the input holds no pods and no workloads".to_owned(),
        };
        return Err(Failure::error(format!("pod `{key}` is not in the input")).hint(hint));
    }
    Ok(render::pod(&explanation, &planned.solution.target))
}

fn node(world: &World, planned: &Planned, name: &str) -> Result<Vec<Line>, Failure> {
    let reference = new_node(planned, name).unwrap_or_else(|| NodeRef::Existing(NodeName::new(name)));
    let explanation = explain_node(&world.snapshot, &planned.solution, &reference);
    if explanation == NodeExplanation::Unknown {
        return Err(Failure::error(format!("node `{name}` is neither in the input nor in the plan"))
            .hint("`nodeform plan --all` lists the nodes by name"));
    }
    Ok(render::node(&explanation, name))
}

/// Finds a node of the plan by the name of its claim or VM. A pod is on one node only, so the pods tell
/// which node of the solution it is.
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

/// Returns whether a user who writes `name` means this size: `d4s_v5` is short for `Standard_D4s_v5`.
fn is_meant(size: &SkuName, name: &str) -> bool {
    let bare = |text: &str| {
        let lower = text.to_ascii_lowercase();
        lower.strip_prefix("standard_").map_or_else(|| lower.clone(), str::to_owned)
    };
    bare(size.as_str()) == bare(name)
}
