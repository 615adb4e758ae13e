//! The store of a live cluster, through histories of a cluster that is written by several: whatever comes late, what a plan
//! is made from in the end is what a dump of the cluster would have said, and no answer to a write is ever forgotten.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use nodeform::manifests::Source;
use nodeform::offline::{self, Request};
use nodeform::snapshot::file;
use nodeform::world::World;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::{ProptestConfig, Strategy, any, prop_assert, prop_assert_eq, prop_oneof, proptest};
use proptest::sample::Index;
use serde_json::{Value, json};

const PODS: &str = "/api/v1/pods";
const NODES: &str = "/api/v1/nodes";

/// One thing that happens.
#[derive(Clone, Debug)]
enum Step {
    /// Somebody writes a pod or a node; where it is this process, the answer comes after so many steps.
    Write { is_node: bool, which: u8, answered_after: Option<u8> },
    /// Somebody deletes one.
    Delete { is_node: bool, which: Index },
    /// A kind is listed, in pages of two; the last page comes after so many steps.
    List { is_node: bool, comes_after: u8 },
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (any::<bool>(), 0_u8..6, option::of(0_u8..4))
            .prop_map(|(is_node, which, answered_after)| Step::Write { is_node, which, answered_after }),
        1 => (any::<bool>(), any::<Index>()).prop_map(|(is_node, which)| Step::Delete { is_node, which }),
        3 => (any::<bool>(), 0_u8..4).prop_map(|(is_node, comes_after)| Step::List { is_node, comes_after }),
    ]
}

/// What is on its way to this process.
#[derive(Clone, Debug)]
enum Message {
    Answer(&'static str, Value),
    Listed(&'static str, Vec<Vec<u8>>),
}

/// The cluster as it is, and what is on its way.
#[derive(Default)]
struct Cluster {
    version: u64,
    objects: BTreeMap<(&'static str, String), Value>,
    /// By the step at which it comes.
    under_way: Vec<(usize, Message)>,
}

const fn path(is_node: bool) -> &'static str {
    if is_node { NODES } else { PODS }
}

impl Cluster {
    fn write(&mut self, is_node: bool, which: u8) -> Value {
        self.version += 1;
        let name = format!("o{which}");
        let metadata = json!({
            "name": name, "uid": format!("uid-{name}"), "resourceVersion": self.version.to_string(),
            "labels": {"at": self.version.to_string()}, "managedFields": [{"manager": "kubectl"}],
        });
        let mut object = match is_node {
            true => json!({"apiVersion": "v1", "kind": "Node", "metadata": metadata, "status": {
                "allocatable": {"cpu": "2", "memory": "8Gi", "pods": "30"}}}),
            false => json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": [
                {"name": "c", "resources": {"requests": {"cpu": format!("{}m", 1 + self.version)}}}]}}),
        };
        if !is_node {
            object["metadata"]["namespace"] = json!("web");
        }
        self.objects.insert((path(is_node), name), object.clone());
        object
    }

    fn delete(&mut self, is_node: bool, which: &Index) {
        let names: Vec<_> = self.objects.keys().filter(|(kind, _)| *kind == path(is_node)).cloned().collect();
        if !names.is_empty() {
            self.version += 1;
            self.objects.remove(which.get(&names));
        }
    }

    fn pages(&self, is_node: bool) -> Vec<Vec<u8>> {
        let of_kind = self.objects.iter().filter(|((kind, _), _)| *kind == path(is_node));
        let items: Vec<Value> = of_kind.map(|(_, object)| object.clone()).collect();
        let kind = if is_node { "NodeList" } else { "PodList" };
        let page = |items: &[Value]| {
            let metadata = json!({"resourceVersion": self.version.to_string()});
            json!({"apiVersion": "v1", "kind": kind, "metadata": metadata, "items": items})
                .to_string()
                .into_bytes()
        };
        if items.is_empty() { vec![page(&[])] } else { items.chunks(2).map(page).collect() }
    }
}

fn version(object: &Value) -> u64 {
    let text = object["metadata"]["resourceVersion"].as_str().expect("every object has a version");
    text.parse().expect("versions are numbers here")
}

fn name(object: &Value) -> &str {
    object["metadata"]["name"].as_str().expect("every object has a name")
}

fn known(world: &World, path: &str) -> BTreeMap<String, u64> {
    let listing = world.listing(path).unwrap_or_default();
    let objects =
        listing.objects().map(|text| serde_json::from_str::<Value>(text).expect("objects are JSON"));
    objects.map(|object| (name(&object).to_owned(), version(&object))).collect()
}

fn deliver(world: &mut World, message: Message, at: Timestamp) {
    match message {
        Message::Listed(path, pages) => world.listed(path, &pages, at).expect("it is a list"),
        Message::Answer(path, object) => {
            let name = name(&object);
            let namespace = if path == PODS { "/namespaces/web/pods" } else { "/nodes" };
            world.wrote(&format!("/api/v1{namespace}/{name}"), &object, at);
            let known = known(world, path);
            let seen = known.get(name);
            assert!(seen.is_none_or(|seen| *seen >= version(&object)), "an answer is seen at once");
        }
    }
}

/// The text of the snapshot that sources come to.
fn snapshot(pages: Vec<(&str, Vec<Vec<u8>>)>) -> String {
    let named = |(word, pages): (&str, Vec<Vec<u8>>)| {
        pages.into_iter().map(|page| Source::new(format!("<{word}>"), page)).collect::<Vec<_>>()
    };
    let sources = pages.into_iter().flat_map(named).collect();
    let request = Request { sources, at: Some(Timestamp::UNIX_EPOCH), ..Request::default() };
    file::write(&offline::snapshot(request).expect("the objects are sound"))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..super::config() })]

    #[test]
    fn what_plans_are_made_from_is_what_a_dump_would_say_however_late_anything_comes(
        steps in vec(step(), 1..40),
    ) {
        let (mut cluster, mut world) = (Cluster::default(), World::default());
        let at = |step: usize| Timestamp::UNIX_EPOCH + SignedDuration::from_secs(i64::try_from(step).expect("few steps"));
        let mut newest: BTreeMap<(&str, String), u64> = BTreeMap::new();
        for (now, step) in steps.iter().enumerate() {
            match step {
                Step::Write { is_node, which, answered_after } => {
                    let object = cluster.write(*is_node, *which);
                    if let Some(after) = answered_after {
                        let message = Message::Answer(path(*is_node), object);
                        cluster.under_way.push((now + usize::from(*after), message));
                    }
                }
                Step::Delete { is_node, which } => cluster.delete(*is_node, which),
                Step::List { is_node, comes_after } => {
                    let message = Message::Listed(path(*is_node), cluster.pages(*is_node));
                    cluster.under_way.push((now + usize::from(*comes_after), message));
                }
            }
            let (come, stay) = std::mem::take(&mut cluster.under_way).into_iter().partition(|(due, _)| *due <= now);
            cluster.under_way = stay;
            for (_, message) in come {
                deliver(&mut world, message, at(now));
            }
            for kind in [PODS, NODES] {
                for (name, version) in known(&world, kind) {
                    let before = newest.insert((kind, name), version).unwrap_or_default();
                    prop_assert!(version >= before, "an object never becomes older");
                }
            }
        }
        // What is still on its way comes behind the last lists, in any order.
        let end = steps.len();
        for is_node in [true, false] {
            deliver(&mut world, Message::Listed(path(is_node), cluster.pages(is_node)), at(end));
        }
        for (_, message) in cluster.under_way.iter().filter(|(_, it)| matches!(it, Message::Listed(..))).cloned() {
            deliver(&mut world, message, at(end));
        }
        let kept = |path| world.listing(path).expect("it was listed").pages();
        prop_assert_eq!(
            snapshot(vec![("nodes", kept(NODES)), ("pods", kept(PODS))]),
            snapshot(vec![("nodes", cluster.pages(true)), ("pods", cluster.pages(false))])
        );
    }
}
