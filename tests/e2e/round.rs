//! One round: the pods of a planned world are created in an order, and what the scheduler does with them is said.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt;
use std::thread;
use std::time::{Duration, Instant};

use nodeform::model::{NodeName, Pod, PodKey, PodPlace, ResourceName};
use serde_json::{Value, json};

use super::stage::{POLL, Stage};
use super::stories::Planned;
use super::{storage, wire};

/// A pod is stranded when nothing has changed for this long: longer than the second that the scheduler waits before it
/// tries again.
const QUIET: Duration = Duration::from_secs(2);

/// The same where no pod may be stranded: nobody waits that long for nothing, and a machine may be busy.
const QUIET_FOR_SURE: Duration = Duration::from_secs(10);

/// The longest that a round may take, where the scheduler says nothing of some pod.
const ROUND_WAIT_MAX: Duration = Duration::from_secs(60);

const GATE: &str = "nodeform.test/wait";

/// The order in which pods are created, which is that in which they are tried.
#[derive(Clone, Copy)]
pub(crate) enum Order {
    /// By name, as plans list them.
    AsPlanned,
    /// From the last to the first.
    Reversed,
    /// By cores, then by memory.
    LargestFirst,
}

impl fmt::Display for Order {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::AsPlanned => "as planned",
            Self::Reversed => "reversed",
            Self::LargestFirst => "largest first",
        })
    }
}

/// What the scheduler is told of the plan.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Guidance {
    /// The node of each pod, as `status.nominatedNodeName`.
    Nominated,
    /// Nothing.
    Alone,
}

/// What became of the pods that the plan placed.
#[derive(Default)]
pub(crate) struct Outcome {
    /// How many are bound to the node of the plan.
    pub(crate) as_planned: usize,
    /// Those bound elsewhere, where it was nominated.
    pub(crate) elsewhere: Vec<String>,
    /// Those bound nowhere, each with what the scheduler says.
    pub(crate) stranded: Vec<String>,
    /// Those that cannot be there at all, as in any cluster: the API server refuses them, or another scheduler
    /// binds them.
    pub(crate) left_out: Vec<String>,
}

/// Creates the pods of a world and waits for the scheduler.
pub(crate) fn play(stage: &Stage<'_>, planned: &Planned, order: Order, guidance: Guidance) -> Outcome {
    let mut outcome = Outcome::default();
    stage.clear();
    stage.furnish(planned);
    let was: BTreeMap<&PodKey, &PodPlace> =
        planned.before.pods.iter().map(|pod| (&pod.key, &pod.place)).collect();
    let mut placed: Vec<(&Pod, &NodeName)> = Vec::new();
    for pod in &planned.after.pods {
        match &pod.place {
            PodPlace::Bound(node) if pod.is_daemon || was.get(&pod.key) == Some(&&pod.place) => {
                create(stage, planned, pod, Some(node)).expect("what runs is taken");
            }
            PodPlace::Bound(node) => placed.push((pod, node)),
            PodPlace::Waiting => {}
        }
    }
    stage.seen();
    sort(&mut placed, order);
    placed.retain(|(pod, _)| match create_one(stage, planned, pod, guidance) {
        Ok(()) => true,
        Err(why) => {
            outcome.left_out.push(format!("{}: {why}", pod.key));
            false
        }
    });
    if guidance == Guidance::Nominated {
        release(stage, &placed);
    }
    let keys: Vec<&PodKey> = placed.iter().map(|(pod, _)| &pod.key).collect();
    let quiet = if guidance == Guidance::Alone { QUIET } else { QUIET_FOR_SURE };
    let seen = settled(stage, &keys, quiet);
    for (pod, node) in placed {
        match bound(seen.get(&pod.key)) {
            Some(name) if name == node.as_str() => outcome.as_planned += 1,
            Some(name) => outcome.elsewhere.push(format!("{}: {name} instead of {node}", pod.key)),
            None => outcome.stranded.push(format!("{} for {node}: {}", pod.key, said(seen.get(&pod.key)))),
        }
    }
    outcome
}

fn sort(placed: &mut [(&Pod, &NodeName)], order: Order) {
    match order {
        Order::AsPlanned => {}
        Order::Reversed => placed.reverse(),
        Order::LargestFirst => {
            placed.sort_by_key(|(pod, _)| {
                let size = [ResourceName::Cpu, ResourceName::Memory].map(|name| pod.spec.requests.get(&name));
                Reverse(size)
            });
        }
    }
}

fn pods_of(key: &PodKey) -> String {
    format!("/api/v1/namespaces/{}/pods", key.namespace)
}

/// Creates a pod that the scheduler is to bind, behind a gate where it is to know more first.
fn create_one(stage: &Stage<'_>, planned: &Planned, pod: &Pod, guidance: Guidance) -> Result<(), String> {
    if let Some(scheduler) = &pod.spec.scheduler {
        return Err(format!("scheduler `{scheduler}` binds it"));
    }
    match guidance {
        Guidance::Alone => create(stage, planned, pod, None),
        Guidance::Nominated => {
            let mut object = wire::pod(pod, &planned.documents);
            object["spec"]["schedulingGates"] = json!([{"name": GATE}]);
            post(stage, pod, &object)
        }
    }
}

fn create(stage: &Stage<'_>, planned: &Planned, pod: &Pod, node: Option<&NodeName>) -> Result<(), String> {
    let mut object = wire::pod(pod, &planned.documents);
    if let Some(node) = node {
        object["spec"]["nodeName"] = json!(node.as_str());
    }
    post(stage, pod, &object)
}

fn post(stage: &Stage<'_>, pod: &Pod, object: &Value) -> Result<(), String> {
    let answer = stage.create(&pods_of(&pod.key), object);
    if !answer.is_done() {
        return Err(answer.why());
    }
    for claim in storage::ephemeral_claims(pod, &answer.body) {
        let collection = format!("/api/v1/namespaces/{}/persistentvolumeclaims", pod.key.namespace);
        let made = stage.create(&collection, &claim);
        assert!(made.is_done(), "{}", made.why());
    }
    Ok(())
}

/// Names the node of every pod, and then opens the gates one after the other.
fn release(stage: &Stage<'_>, placed: &[(&Pod, &NodeName)]) {
    for (pod, node) in placed {
        let path = format!("{}/{}/status", pods_of(&pod.key), pod.key.name);
        stage.api.merge(&path, &json!({"status": {"nominatedNodeName": node.as_str()}}));
    }
    for (pod, _) in placed {
        let path = format!("{}/{}", pods_of(&pod.key), pod.key.name);
        stage.api.merge(&path, &json!({"spec": {"schedulingGates": null}}));
    }
}

/// Returns the pods once each is bound, or nothing happens any more.
fn settled(stage: &Stage<'_>, keys: &[&PodKey], quiet: Duration) -> BTreeMap<PodKey, Value> {
    let start = Instant::now();
    let (mut changed, mut left) = (start, usize::MAX);
    loop {
        storage::bind_claims(stage);
        let mut seen = BTreeMap::new();
        let mut pods = stage.api.get("/api/v1/pods");
        for pod in pods["items"].as_array_mut().map(std::mem::take).unwrap_or_default() {
            let text = |key: &str| pod["metadata"][key].as_str().unwrap_or_default().to_owned();
            seen.insert(PodKey::new(text("namespace"), text("name")), pod);
        }
        let open: Vec<&Value> =
            keys.iter().filter_map(|key| seen.get(key)).filter(|pod| bound(Some(pod)).is_none()).collect();
        if open.len() != left {
            (changed, left) = (Instant::now(), open.len());
        }
        let is_refused = |pod: &&&Value| said(Some(**pod)) != UNSAID;
        let is_quiet = changed.elapsed() > quiet && open.iter().all(|pod| is_refused(&pod));
        if left == 0 || is_quiet || start.elapsed() > ROUND_WAIT_MAX {
            return seen;
        }
        thread::sleep(POLL);
    }
}

const UNSAID: &str = "the scheduler says nothing";

/// Returns the node that a pod is bound to; none that is being evicted for another is.
fn bound(pod: Option<&Value>) -> Option<&str> {
    let pod = pod.filter(|pod| pod["metadata"]["deletionTimestamp"].is_null())?;
    pod["spec"]["nodeName"].as_str()
}

/// Returns why a pod is not bound.
fn said(pod: Option<&Value>) -> &str {
    let Some(pod) = pod else { return "it was evicted for another" };
    if !pod["metadata"]["deletionTimestamp"].is_null() {
        return "it is evicted for another";
    }
    let mut conditions = pod["status"]["conditions"].as_array().into_iter().flatten();
    let scheduled = conditions.rfind(|condition| condition["type"] == "PodScheduled");
    scheduled.and_then(|condition| condition["message"].as_str()).unwrap_or(UNSAID)
}
