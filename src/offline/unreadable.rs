//! Unreadable objects of a live cluster: each is reported, and the others are planned.
//!
//! A stand-in with the readable fields replaces a pod, node, NodeClaim or PodDisruptionBudget, with the most cautious
//! reading of the rest: the node and the pod are not disrupted, and no pod of the budget's namespace is evicted. Never
//! treats such an object as absent: it would be created again or removed.

use serde_json::{Value, json};

use crate::manifests::{self, Fault, ReadOptions, Source};
use crate::model::label;
use crate::snapshot::{Gap, GapKind};

/// Kinds whose faults are handled elsewhere: users configure nodes with them.
const POLICY: [&str; 5] =
    ["<nodepools>", "<aksnodeclasses>", "<nodefleets>", "<nodeoverlays>", "<capacitybuffers>"];

/// Maximum number of objects to set aside: with more of them the cluster as a whole is unreadable.
const SET_ASIDE_MAX: usize = 1_000;

/// The readable part of a live cluster's sources.
pub(super) struct Readable {
    /// The sources, with stand-ins.
    pub(super) sources: Vec<Source>,
    /// The unreadable objects and the consequences.
    pub(super) gaps: Vec<Gap>,
}

/// Sets aside the unreadable objects in the sources of these faults; `None` if unreadable objects are not the cause.
pub(super) fn set_aside(sources: &[Source], faults: &[Fault]) -> Option<Readable> {
    let is_faulty = |source: &Source| {
        !POLICY.contains(&source.name.as_str()) && faults.iter().any(|fault| *fault.file == *source.name)
    };
    let mut gaps: Vec<Gap> = Vec::new();
    let mut readable: Vec<Source> = Vec::new();
    for source in sources {
        readable.push(match is_faulty(source) {
            true => readable_of(source, &mut gaps)?,
            false => source.clone(),
        });
    }
    (!gaps.is_empty() && gaps.len() <= SET_ASIDE_MAX).then_some(Readable { sources: readable, gaps })
}

/// Returns the page with stand-ins; `None` if it is not a list.
fn readable_of(source: &Source, gaps: &mut Vec<Gap>) -> Option<Source> {
    let mut page: Value = serde_json::from_slice(&source.bytes).ok()?;
    let items = page.get_mut("items")?.as_array_mut().map(std::mem::take)?;
    let list = Page { name: &source.name, page: &page };
    let mut wrong: Vec<(usize, String)> = Vec::new();
    list.find_wrong(&items, 0, &mut wrong);
    let mut kept: Vec<Value> = Vec::new();
    for (place, item) in items.into_iter().enumerate() {
        let Some((_, because)) = wrong.iter().find(|(at, _)| *at == place) else {
            kept.push(item);
            continue;
        };
        let Aside { stand_in, consequence } = aside(list.kind(), &item);
        // A stand-in must itself be readable.
        kept.extend(stand_in.filter(|stand_in| list.faults(std::slice::from_ref(stand_in)).is_empty()));
        gaps.push(Gap {
            kind: GapKind::Unread,
            what: format!("{} ({because})", list.named(&item)),
            consequence: consequence.to_owned(),
        });
    }
    Some(Source::new(source.name.clone(), list.with(&kept)))
}

/// A page of a list, without its items.
struct Page<'a> {
    name: &'a str,
    page: &'a Value,
}

impl Page<'_> {
    fn kind(&self) -> &str {
        self.page["kind"].as_str().unwrap_or_default().trim_end_matches("List")
    }

    fn with(&self, items: &[Value]) -> Vec<u8> {
        let mut page = self.page.clone();
        page["items"] = Value::Array(items.to_vec());
        page.to_string().into_bytes()
    }

    fn faults(&self, items: &[Value]) -> Vec<Fault> {
        let (kept, mut faults) = manifests::keep(vec![Source::new(self.name, self.with(items))]);
        faults.extend(manifests::read_kept(kept, &ReadOptions::default()).1);
        faults
    }

    /// Finds the faulty items, each with its fault, by bisection, so that few valid items are checked alone.
    fn find_wrong(&self, items: &[Value], first: usize, wrong: &mut Vec<(usize, String)>) {
        let faults = self.faults(items);
        let Some(fault) = faults.first() else { return };
        if items.len() <= 1 {
            let path = manifests::path_text(&fault.path);
            let path = if path.is_empty() { String::new() } else { format!("`{path}`: ") };
            return wrong.push((first, format!("{path}{}", fault.message)));
        }
        let (left, right) = items.split_at(items.len() / 2);
        self.find_wrong(left, first, wrong);
        self.find_wrong(right, first + left.len(), wrong);
    }

    fn named(&self, item: &Value) -> String {
        let text = |field: &str| item["metadata"][field].as_str();
        let namespace = text("namespace").map(|namespace| format!("{namespace}/")).unwrap_or_default();
        let kind = match self.kind() {
            "Pod" => "pod",
            "Node" => "node",
            kind => kind,
        };
        format!("{kind} `{namespace}{}`", text("name").unwrap_or("?"))
    }
}

/// The treatment of an unreadable object.
struct Aside {
    stand_in: Option<Value>,
    consequence: &'static str,
}

fn aside(kind: &str, item: &Value) -> Aside {
    match kind {
        "Pod" => pod(item),
        "Node" | "NodeClaim" => Aside {
            stand_in: Some(protected(item, &["providerID", "nodeName"])),
            consequence: "its node is kept as it is, and no pod is placed on it",
        },
        "PodDisruptionBudget" => {
            let mut stand_in = meta(item);
            stand_in["spec"] = json!({"maxUnavailable": 0, "selector": {}});
            let consequence = "no pod of its namespace is evicted";
            Aside { stand_in: Some(stand_in), consequence }
        }
        _ => Aside { stand_in: None, consequence: "it is planned as if it were not there" },
    }
}

fn pod(item: &Value) -> Aside {
    if !item["spec"]["nodeName"].is_string() {
        return Aside { stand_in: None, consequence: "it is not planned, and stays Pending" };
    }
    let mut stand_in = protected(item, &[]);
    stand_in["spec"] = json!({"nodeName": item["spec"]["nodeName"], "containers": [{"name": "unreadable"}]});
    stand_in["status"] = json!({"phase": item["status"]["phase"].as_str().unwrap_or("Running")});
    Aside { stand_in: Some(stand_in), consequence: "it counts as a pod that must not be disrupted" }
}

/// Returns a stand-in that is protected from disruption: the object's identity, and these identifying fields of `spec`
/// and `status`.
fn protected(item: &Value, fields: &[&str]) -> Value {
    let mut stand_in = meta(item);
    stand_in["metadata"]["annotations"][label::DO_NOT_DISRUPT] = json!("true");
    for part in ["spec", "status"] {
        for field in fields.iter().filter(|field| item[part][**field].is_string()) {
            stand_in[part][*field] = item[part][*field].clone();
        }
    }
    stand_in
}

fn meta(item: &Value) -> Value {
    let mut meta = json!({});
    for field in ["name", "namespace", "uid", "resourceVersion", "creationTimestamp", "labels"] {
        let value = &item["metadata"][field];
        if value.is_string() || field == "labels" && value.is_object() {
            meta[field] = value.clone();
        }
    }
    json!({"metadata": meta})
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::{Value, json};

    use crate::launch::tests::world::{FACTS, moving};
    use crate::manifests::Source;
    use crate::manifests::listed::SNAPSHOT_KINDS;
    use crate::model::PodPlace;
    use crate::offline::{self, Laid, Request, World};
    use crate::plan::Plan;
    use crate::snapshot::file;

    /// Returns the objects of a world with an expired node, as an API server lists them.
    fn objects() -> Vec<Value> {
        serde_saphyr::from_multiple(&moving()).expect("YAML")
    }

    fn world_of(objects: &[Value]) -> World {
        let mut pages: BTreeMap<String, Vec<Value>> = BTreeMap::new();
        for object in objects {
            let text = |field: &str| object[field].as_str().expect("text").to_owned();
            let list = format!("{} {}List", text("apiVersion"), text("kind"));
            pages.entry(list).or_default().push(object.clone());
        }
        let page = |(list, items): (String, Vec<Value>)| {
            let (version, kind) = list.split_once(' ').expect("both");
            let name = format!("<{}s>", kind.trim_end_matches("List").to_lowercase());
            let page = json!({"apiVersion": version, "kind": kind, "metadata": {}, "items": items});
            Source::new(name, page.to_string())
        };
        let sources = pages.into_iter().map(page).collect();
        let azure = Some(serde_json::from_str(FACTS).expect("facts"));
        let at = Some("2026-11-26T02:00:00Z".parse().expect("a time"));
        let listed = SNAPSHOT_KINDS.iter().map(|kind| kind.word.to_owned()).collect();
        let seen = offline::snapshot(Request { sources, listed, azure, at, ..Request::default() });
        let snapshot = Source::new("<live>", file::write(&seen.expect("it can be read")));
        let laid = Some(Laid { snapshot, ..Laid::default() });
        offline::world(Request { laid, ..Request::default() }).expect("it can be planned")
    }

    fn planned(world: &World) -> Plan {
        offline::plan(world).expect("the judge accepts it").plan.plan().clone()
    }

    /// Returns the world with one object changed to something that no Kubernetes version has.
    fn odd(kind: &str, name: &str, change: impl Fn(&mut Value)) -> World {
        let mut objects = objects();
        let is_it = |object: &&mut Value| object["kind"] == kind && object["metadata"]["name"] == name;
        change(objects.iter_mut().find(is_it).expect("it is there"));
        world_of(&objects)
    }

    fn gaps(world: &World, of: &str) -> Vec<String> {
        let gaps = world.snapshot.gaps.iter().map(ToString::to_string);
        gaps.filter(|gap| gap.contains(of)).collect()
    }

    #[test]
    fn without_such_an_object_the_node_goes_for_its_age() {
        assert_eq!(planned(&world_of(&objects())).spec.deletes().count(), 1);
    }

    #[test]
    fn a_pod_that_cannot_be_read_is_named_and_not_disrupted_while_others_are_planned() {
        let spread = json!([{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "Perhaps"}]);
        let world = odd("Pod", "a", |pod| pod["spec"]["topologySpreadConstraints"] = spread.clone());
        assert_eq!(gaps(&world, "pod `a`").len(), 1, "{:#?}", world.snapshot.gaps);
        assert!(gaps(&world, "pod `a`")[0].contains("Perhaps"), "{:#?}", world.snapshot.gaps);
        assert!(world.snapshot.pods.iter().any(|pod| &*pod.key.name == "b"), "the other is there");
        let stand_in = world.snapshot.pods.iter().find(|pod| &*pod.key.name == "a").expect("it is there");
        assert!(stand_in.is_do_not_disrupt && matches!(stand_in.place, PodPlace::Bound(_)), "{stand_in:?}");
        planned(&world);
    }

    #[test]
    fn a_node_that_cannot_be_read_is_named_and_stays() {
        let world = odd("Node", "aks-apps-old", |node| node["status"]["allocatable"]["cpu"] = json!("much"));
        assert_eq!(gaps(&world, "node `aks-apps-old`").len(), 1, "{:#?}", world.snapshot.gaps);
        assert_eq!(planned(&world).spec.deletes().count(), 0);
    }
}
