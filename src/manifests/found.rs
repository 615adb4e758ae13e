//! Collects objects by kind: each document is read as it comes, and only the parts that planning needs are kept.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::model::disruption_budget::DisruptionBudget;
use crate::model::storage::Storage;
use crate::model::{Digest, Group, Namespace, NamespaceLabels, Workload};

use super::admission::Admission;
use super::allow::{self, Scope};
use super::budget;
use super::cursor::{Cursor, Document};
use super::document::Taker;
use super::fault::{Fault, Faults};
use super::fields::Unknown;
use super::folder::{self, shell_word};
use super::group;
use super::home::{self, Home};
use super::hooks;
use super::kept::{self, KeptObject};
use super::kind::{self, Misspelt, NotUnderstood, Treatment, Why, WorkloadKind};
use super::live::{self, LivePod, PodObject};
use super::meta::Meta;
use super::node::{ClaimObject, NodeObject};
use super::objects::OurObject;
use super::older;
use super::operated::Operated;
use super::owners::{self, Owners};
use super::pod::PodBody;
use super::priority::Priorities;
use super::refusals::Told;
use super::renders::{self, Renders};
use super::rollout::{self, RolloutOfAnother};
use super::running::Made;
use super::said::Note;
use super::scaling::autoscaler::{self, Autoscaler};
use super::sides::Contradiction;
use super::source::{OBJECTS_MAX, Source};
use super::storage;
use super::stray::{self, Lenience};
use super::tree::{Tree, shortened};
use super::workload::{self, WorkloadObject};

/// Place of an object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The source's name.
    pub file: Arc<str>,
    /// The first line.
    pub line: usize,
}

/// Kind, namespace (empty if there is none) and name.
type Identity = (Arc<str>, Arc<str>, Arc<str>);

/// Everything read so far.
#[derive(Debug, Default)]
pub struct Found {
    /// Workloads.
    pub workloads: Vec<(WorkloadObject, Place)>,
    /// Rollouts that use the pod template of another workload.
    pub rollouts: Vec<(RolloutOfAnother, Place)>,
    /// Owners of workloads.
    pub owners: Owners,
    /// Autoscalers of workloads.
    pub autoscalers: Vec<Autoscaler>,
    /// Pods in the input that have not finished.
    pub pods: Vec<(LivePod, Arc<PodBody>)>,
    /// Nodes.
    pub nodes: Vec<NodeObject>,
    /// NodeClaims.
    pub claims: Vec<ClaimObject>,
    /// Azure's refusals, as reported.
    pub told: Vec<Told>,
    /// Claims, volumes and other storage objects.
    pub storage: Storage,
    /// PodDisruptionBudgets.
    pub budgets: Vec<DisruptionBudget>,
    /// Groups of pods that are bound together (gangs).
    pub groups: Vec<Group>,
    /// LimitRanges and RuntimeClasses.
    pub admission: Admission,
    /// PriorityClasses.
    pub priorities: Priorities,
    /// Namespaces with their labels.
    pub namespaces: NamespaceLabels,
    /// The UID of `kube-system`.
    pub cluster: Option<Arc<str>>,
    /// Objects of `policy`.
    pub ours: Vec<OurObject>,
    /// Workloads from manifests that are laid over a cluster's objects.
    pub laid: BTreeSet<Workload>,
    /// Objects created by a cluster: nodes, and objects with a UID.
    pub made: Made,
    /// Relevant objects that are not understood, by kind.
    pub not_understood: BTreeMap<String, NotUnderstood>,
    /// Objects from which a controller renders others.
    pub renders: BTreeSet<Renders>,
    /// Objects from which an operator creates pods.
    pub operated: BTreeSet<Operated>,
    /// Number of ignored objects, by kind.
    pub passed_over: BTreeMap<String, usize>,
    /// Number of objects.
    pub objects: usize,
    /// Number of finished pods.
    pub finished_pods: usize,
    /// Fields that the API server does not know.
    pub unknown: Unknown,
    /// Notes about how the input was put together.
    pub notes: Vec<Note>,
    /// Objects with two definitions, one from a cluster and one written by hand.
    pub contradictions: Vec<Contradiction>,
    /// The faults.
    pub faults: Faults,
    /// The objects themselves, cut to the parts that planning needs, if requested.
    pub kept: Option<Vec<KeptObject>>,
    /// Sources of documents that were skipped because they are not Kubernetes objects.
    pub strays: BTreeSet<Arc<str>>,
    /// Kinds that `kubectl get` listed, if known: a listed kind without objects has none in the cluster.
    pub listed: BTreeSet<String>,
    /// Leniency for the current source.
    lenience: Lenience,
    /// How often each name was generated from a `generateName`.
    generated: BTreeMap<Arc<str>, usize>,
    /// Distinct pod bodies, shared by replicas.
    bodies: BTreeSet<Arc<PodBody>>,
    /// Objects read before.
    seen: BTreeMap<Identity, Met>,
}

/// An object read before.
#[derive(Debug)]
struct Met {
    digest: Digest,
    place: Place,
    has_uid: bool,
}

impl Taker for Found {
    fn object(&mut self, file: &Arc<str>, mut tree: Tree) {
        self.objects += 1;
        if self.objects > OBJECTS_MAX {
            let message = format!("the input holds more than {OBJECTS_MAX} objects");
            let hint = "leave out kinds that are not planned with";
            return self.faults.add(Fault::at(file, tree.line, message).with_hint(hint));
        }
        if self.lenience.passes_over(&tree) {
            // Do not count it: an input with only such documents is a mistake, such as the output of a failed command
            // or a chart's values.
            self.objects -= 1;
            return self.stray(file);
        }
        if tree.as_map().is_none() {
            return self.faults.add(stray::no_object(file, &tree));
        }
        self.unknown.look(file, &tree);
        let digest = self.cut(&mut tree);
        let document = Document::new(file, &tree);
        let is_planned_with = self.read(document.cursor(), digest);
        document.into_faults().into_iter().for_each(|fault| self.faults.add(fault));
        if let Some(kept) = self.kept.as_mut().filter(|_| is_planned_with) {
            kept.push(KeptObject { file: Arc::clone(file), tree });
        }
    }

    fn fault(&mut self, fault: Fault) {
        if self.lenience.is_unreadable_passed_over {
            return self.stray(&fault.file);
        }
        self.faults.add(fault);
    }

    fn goes_on(&self) -> bool {
        self.objects <= OBJECTS_MAX && !self.faults.is_full()
    }
}

impl Found {
    /// Creates one that also keeps the objects themselves.
    #[must_use]
    pub fn keeping() -> Self {
        Self { kept: Some(Vec::new()), ..Self::default() }
    }

    /// Prepares for the documents of a source.
    pub fn begin(&mut self, source: &Source) {
        self.lenience = Lenience::of(source);
    }

    /// Skips a document that is not a Kubernetes object; an unreadable source counts as one document.
    fn stray(&mut self, file: &Arc<str>) {
        self.strays.insert(Arc::clone(file));
        self.pass_over(stray::NO_OBJECT);
    }

    fn pass_over(&mut self, kind: &str) {
        *self.passed_over.entry(kind.to_owned()).or_default() += 1;
    }

    /// Cuts an object of a known kind down to the parts that planning needs, and gives it a name if it has a
    /// `generateName`. Returns the digest of the original.
    fn cut(&mut self, tree: &mut Tree) -> Option<Digest> {
        let rule = {
            let (version, kind) = (tree.text("apiVersion")?, tree.text("kind")?);
            let (group, _) = kind::group_and_version(version);
            let other = || {
                let is_like_one = kind::treatment(version, kind) == Treatment::Other
                    && kind::is_like_a_workload(tree)
                    && kind::holds_pod_template(version, tree);
                is_like_one.then_some(allow::ANY_WORKLOAD)
            };
            allow::rule_of(group, kind).or_else(other)?
        };
        let digest = tree.digest();
        if let Some(prefix) = kept::generated_prefix(tree) {
            // The cluster would append random characters; the digest of the content is stable.
            let name: Arc<str> = Arc::from(format!("{prefix}{}", digest.base32(5)));
            let times = self.generated.entry(Arc::clone(&name)).or_default();
            *times += 1;
            let name = if *times == 1 { name } else { Arc::from(format!("{name}-{times}")) };
            kept::set_name(tree, name);
        }
        rule.cut(tree);
        Some(digest)
    }

    /// Reads an object; returns whether planning uses it.
    fn read(&mut self, object: Cursor<'_>, digest: Option<Digest>) -> bool {
        stray::judge(object);
        let (Some(version), Some(kind)) = (object.text("apiVersion"), object.text("kind")) else {
            return false;
        };
        if older::is_named(object, version, kind) {
            return false;
        }
        if let Some(home) = home::of(version, kind) {
            in_wrong_group(object, version, home);
            return false;
        }
        if let Some(Misspelt { nearest }) = kind::misspelt(version, kind) {
            unknown_kind(object, kind, nearest);
            return false;
        }
        if renders::is_of_kustomize(version) {
            of_kustomize(object, kind);
            return false;
        }
        let treatment = kind::treatment(version, kind);
        match treatment {
            Treatment::OtherVersion(wanted) => other_version(object, kind, version, wanted),
            Treatment::Renders => {
                self.renders.insert(Renders::read(kind, object.tree));
            }
            Treatment::Other if kind::holds_pod_template(version, object.tree) => {
                match self.generic(object, digest) {
                    Some(is_new) => return is_new,
                    None => self.not_understood(object, &kind::told(version, kind), Why::PodTemplate),
                }
            }
            Treatment::Other => match Operated::read(version, kind, object.tree) {
                Some(operated) => drop(self.operated.insert(operated)),
                None => self.pass_over(&shortened(kind)),
            },
            // An Event that changed between two dumps occurs twice without being a contradiction.
            Treatment::Event => match Told::of_event(object.tree) {
                Some(told) => {
                    self.told.push(told);
                    return true;
                }
                None => self.pass_over(kind),
            },
            Treatment::Workload(WorkloadKind::ReplicaSet) if is_past(object) => self.pass_over(kind),
            Treatment::Workload(_)
            | Treatment::Autoscaler
            | Treatment::LimitRange
            | Treatment::RuntimeClass
            | Treatment::Pod
            | Treatment::Node
            | Treatment::NodeClaim
            | Treatment::Storage(_)
            | Treatment::Budget
            | Treatment::Group(_)
            | Treatment::PriorityClass
            | Treatment::Namespace
            | Treatment::Ours => {
                let (group, _) = kind::group_and_version(version);
                let told = Arc::from(kind::told(version, kind));
                // PodGroups of Kubernetes and Volcano may have the same name.
                let known = if matches!(treatment, Treatment::Group(_)) { &told } else { kind };
                let is_new = self.is_new(object, known, (allow::scope_of(group, kind), digest));
                return is_new && self.keep(object, kind, treatment);
            }
        }
        false
    }

    /// Stores the content of an object; returns whether planning needs it.
    fn keep(&mut self, object: Cursor<'_>, kind: &Arc<str>, treatment: Treatment) -> bool {
        let place = Place { file: Arc::clone(object.document.file), line: object.tree.line };
        let has_uid = object.tree.at(&["metadata", "uid"]).is_some();
        if let Some(note) = hooks::idle(object, kind, treatment) {
            self.notes.push(note);
            return false;
        }
        if treatment == Treatment::Node || has_uid {
            self.made.files.insert(Arc::clone(&place.file));
        }
        self.made.has_uids |= has_uid && matches!(treatment, Treatment::Pod | Treatment::Workload(_));
        match treatment {
            Treatment::Workload(WorkloadKind::Rollout) if rollout::is_of_another(object) => {
                self.rollouts.extend(RolloutOfAnother::read(object).map(|rollout| (rollout, place)));
            }
            Treatment::Workload(kind) => {
                let Some(workload) = workload::read(object, kind) else { return false };
                if kind == WorkloadKind::ScaledJob {
                    self.autoscalers.extend(autoscaler::of_jobs(object, &workload.id));
                }
                self.workload(workload, place);
            }
            Treatment::LimitRange => self.admission.ranges.read(object),
            Treatment::RuntimeClass => self.admission.classes.read(object),
            Treatment::Autoscaler => self.autoscalers.extend(autoscaler::read(object)),
            Treatment::Pod => match live::read(object) {
                Some(PodObject::Live(pod, body)) => {
                    let body = self.shared(*body);
                    self.pods.push((*pod, body));
                }
                Some(PodObject::Finished) => {
                    self.finished_pods += 1;
                    return false;
                }
                None => {}
            },
            Treatment::Node => self.nodes.extend(NodeObject::read(object)),
            Treatment::NodeClaim => {
                self.claims.extend(ClaimObject::read(object));
                self.told.extend(Told::of_claim(object.tree));
            }
            Treatment::Storage(kind) => storage::read(&mut self.storage, object, kind),
            Treatment::Budget => self.budgets.extend(budget::read(object)),
            Treatment::Group(kind) => self.groups.extend(group::read(object, kind)),
            Treatment::PriorityClass => self.priorities.read(object),
            Treatment::Namespace => {
                let Some(meta) = Meta::read(object) else { return false };
                if &*meta.name == "kube-system" {
                    self.cluster = meta.uid;
                }
                self.namespaces.insert(Namespace::new(&*meta.name), meta.labels);
            }
            Treatment::Ours => {
                let Some(meta) = Meta::read(object) else { return false };
                self.ours.push(OurObject {
                    kind: Arc::clone(kind),
                    name: meta.name,
                    file: place.file,
                    value: object.tree.to_json(),
                    tree: object.tree.clone(),
                });
            }
            Treatment::OtherVersion(_) | Treatment::Renders | Treatment::Event | Treatment::Other => {
                return false;
            }
        }
        true
    }

    fn workload(&mut self, workload: WorkloadObject, place: Place) {
        if let Some(owner) = &workload.owner {
            self.owners.add(workload.id.clone(), owner.clone());
        }
        self.workloads.push((workload, place));
    }

    /// Treats an object of any other kind as a workload if it has the full shape of one; returns whether it is new.
    fn generic(&mut self, object: Cursor<'_>, digest: Option<Digest>) -> Option<bool> {
        if !kind::is_like_a_workload(object.tree) {
            return None;
        }
        // Its problems are not faults: the same fields may mean something else in this kind.
        let trial = Document::new(object.document.file, object.tree);
        let read = workload::read(trial.cursor(), WorkloadKind::Other);
        let workload = read.filter(|_| trial.into_faults().is_empty())?;
        // The group distinguishes kinds with the same name.
        let version = object.tree.text("apiVersion").unwrap_or_default();
        let kind = Arc::from(format!("{version} {}", workload.id.kind));
        let is_new = self.is_new(object, &kind, (Scope::Namespaced, digest));
        if is_new {
            let place = Place { file: Arc::clone(object.document.file), line: object.tree.line };
            self.workload(workload, place);
        }
        Some(is_new)
    }

    fn shared(&mut self, body: PodBody) -> Arc<PodBody> {
        if let Some(present) = self.bodies.get(&body) {
            return Arc::clone(present);
        }
        let body = Arc::new(body);
        self.bodies.insert(Arc::clone(&body));
        body
    }

    /// Returns whether the object is new; a different one with the same name is a fault.
    fn is_new(
        &mut self,
        object: Cursor<'_>,
        kind: &Arc<str>,
        (scope, digest): (Scope, Option<Digest>),
    ) -> bool {
        let Some(metadata) = object.tree.get("metadata") else { return true };
        let (Some(name), Some(digest)) = (metadata.text("name"), digest) else { return true };
        let namespace = match scope {
            Scope::Namespaced => {
                metadata.text("namespace").filter(|text| !text.is_empty()).unwrap_or("default")
            }
            Scope::Cluster => "",
        };
        let key = (Arc::clone(kind), Arc::from(namespace), Arc::from(name));
        let place = Place { file: Arc::clone(object.document.file), line: object.tree.line };
        let met = Met { digest, place, has_uid: metadata.get("uid").is_some() };
        let name = if namespace.is_empty() { name.to_string() } else { format!("{namespace}/{name}") };
        let Some(first) = self.seen.get(&key) else {
            self.seen.insert(key, met);
            return true;
        };
        if first.digest != digest {
            let place = Cursor { tree: metadata.get("name").unwrap_or(metadata), ..object };
            let Place { file, line } = &first.place;
            let message =
                format!("{kind} {name} is defined twice with different content (also {file}:{line})");
            let fault = place
                .fault_here(message, Some("remove one of the two, or give one another name or namespace"));
            match (first.has_uid, met.has_uid) {
                (true, false) => self.contradictions.push(Contradiction { fault, written: met.place.file }),
                (false, true) => {
                    let written = Arc::clone(&first.place.file);
                    self.contradictions.push(Contradiction { fault, written });
                }
                (true, true) | (false, false) => self.faults.add(fault),
            }
        }
        false
    }

    /// Turns contradicting definitions into faults when neither is laid over the other.
    pub fn refuse_contradictions(&mut self) {
        for contradiction in std::mem::take(&mut self.contradictions) {
            self.faults.add(contradiction.fault);
        }
    }

    fn not_understood(&mut self, object: Cursor<'_>, kind: &str, why: Why) {
        let metadata = object.tree.get("metadata");
        let text = |key| metadata.and_then(|metadata| metadata.text(key));
        let name = text("name").or_else(|| text("generateName")).unwrap_or("without a name");
        let name =
            text("namespace").map_or_else(|| name.to_owned(), |namespace| format!("{namespace}/{name}"));
        let entry = self
            .not_understood
            .entry(kind.to_owned())
            .or_insert_with(|| NotUnderstood { why, names: BTreeMap::new() });
        entry.why = entry.why.min(why);
        *entry.names.entry(shortened(&name)).or_default() += 1;
    }
}

/// Returns whether a ReplicaSet is represented by its owner.
fn is_past(object: Cursor<'_>) -> bool {
    let owner = Meta::read(object).and_then(|meta| meta.owner);
    owner.is_some_and(|owner| owners::owns_replica_sets(&owner.kind))
}
const SAVED_PLAN: &str = "look at it with `nodeform show FILE`";
const SNAPSHOT: &str = "plan from it with `nodeform plan --snapshot FILE`";

fn unknown_kind(object: Cursor<'_>, kind: &str, nearest: Option<&str>) {
    if let Some(place) = object.get("kind") {
        if matches!(kind, "Plan" | "Snapshot") {
            let hint = if kind == "Plan" { SAVED_PLAN } else { SNAPSHOT };
            return place.fault(format!("is a {kind} of nodeform, not a manifest"), Some(hint));
        }
        let hint = nearest.map(|nearest| format!("did you mean `{nearest}`?"));
        place.fault(format!("there is no kind {:?} in this group", shortened(kind)), hint.as_deref());
    }
}

/// Reports a known kind in the wrong group, with the right one.
fn in_wrong_group(object: Cursor<'_>, version: &str, home: Home) {
    let Some(place) = object.get("apiVersion") else { return };
    let Home { kind, api_version } = home;
    let group = |api_version| match kind::group_and_version(api_version) {
        ("", _) => "the core group".to_owned(),
        (group, _) => format!("`{}`", shortened(group)),
    };
    place.fault(
        format!("{kind} is in {}, not in {}", group(api_version), group(version)),
        Some(&format!("write `apiVersion: {api_version}`")),
    );
}

/// Refuses a file of kustomize itself, because it does not contain the manifests that it lists.
fn of_kustomize(object: Cursor<'_>, kind: &str) {
    let file: &str = object.document.file;
    let folder = if file.starts_with('<') { "DIR" } else { folder::parent(file) };
    let hint = format!("pass its folder and `--render`: `nodeform plan --render {}`", shell_word(folder));
    if let Some(place) = object.get("apiVersion") {
        place.fault(format!("a {kind} of kustomize is not a manifest"), Some(&hint));
    }
}

fn other_version(object: Cursor<'_>, kind: &str, version: &str, wanted: &str) {
    if let Some(place) = object.get("apiVersion") {
        // `kubectl convert` only knows built-in kinds.
        let is_own = |group: &str| !group.contains('.') || group.ends_with(".k8s.io");
        let converts = is_own(kind::group_and_version(wanted).0);
        let helped = if converts { "; `kubectl convert` rewrites it" } else { "" };
        place.fault(
            format!("version `{}` of {} is not supported", shortened(version), shortened(kind)),
            Some(&format!("write `apiVersion: {wanted}`{helped}")),
        );
    }
}
