//! Parses `--scale [KIND/]NAME=N` and finds the workload that it refers to.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use crate::manifests::fault::{Fault, Faults};
use crate::manifests::source::PODS_MAX;
use crate::manifests::workload::path;
use crate::model::Workload;

/// A number of pods for one workload, as given by the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scale {
    text: String,
    /// The name, optionally preceded by the kind, the namespace or both.
    parts: Vec<String>,
    pods: i64,
}

impl fmt::Display for Scale {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(&self.text)
    }
}

impl FromStr for Scale {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let usage = "write it as `NAME=N`, `KIND/NAME=N` or `KIND/NAMESPACE/NAME=N`";
        let (name, pods) = text.rsplit_once('=').ok_or(usage)?;
        let parts: Vec<String> = name.split('/').map(str::to_owned).collect();
        if parts.len() > 3 || parts.iter().any(String::is_empty) {
            return Err(usage.to_owned());
        }
        let pods: i64 = pods.parse().map_err(|_| format!("`{pods}` is not a number of pods; {usage}"))?;
        if !(0..=PODS_MAX).contains(&pods) {
            return Err(format!("the number of pods must be from 0 to {PODS_MAX}"));
        }
        Ok(Self { text: text.to_owned(), parts, pods })
    }
}

/// Short names in kubectl.
const SHORT: [(&str, &str); 7] = [
    ("cj", "cronjob"),
    ("deploy", "deployment"),
    ("ds", "daemonset"),
    ("rc", "replicationcontroller"),
    ("ro", "rollout"),
    ("rs", "replicaset"),
    ("sts", "statefulset"),
];

/// Workload kinds, in lower case.
const KINDS: [&str; 9] = [
    "cronjob",
    "daemonset",
    "deployment",
    "job",
    "replicaset",
    "replicationcontroller",
    "rollout",
    "scaledjob",
    "statefulset",
];

impl Scale {
    /// Replaces the names in it, but not its kind.
    pub fn rename(&mut self, hidden: impl Fn(&str) -> Arc<str>) {
        let is_kind = |part: &str| {
            let lower = part.to_ascii_lowercase();
            let singular = lower.strip_suffix('s').unwrap_or(&lower);
            KINDS.contains(&&*lower)
                || KINDS.contains(&singular)
                || SHORT.iter().any(|(short, _)| *short == lower)
        };
        let last = self.parts.len().saturating_sub(1);
        for (place, part) in self.parts.iter_mut().enumerate() {
            // The first of three parts is a kind; the first of two is a kind or a namespace.
            if place == last || place == 1 || (last == 1 && !is_kind(part)) {
                *part = hidden(part).to_string();
            }
        }
        self.text = format!("{}={}", self.parts.join("/"), self.pods);
    }

    fn means(&self, workload: &Workload) -> bool {
        let kind = |written: &str| {
            let lower = written.to_ascii_lowercase();
            let long = SHORT.iter().find(|(short, _)| *short == lower).map_or(&*lower, |(_, long)| long);
            let kind = workload.kind.to_ascii_lowercase();
            long == kind || long.strip_suffix('s') == Some(&*kind)
        };
        let is_name = |written: &str| written == &*workload.name;
        let is_namespace = |written: &str| written == workload.namespace.as_str();
        match &*self.parts {
            [name] => is_name(name),
            [before, name] => is_name(name) && (kind(before) || is_namespace(before)),
            [first, namespace, name] => is_name(name) && is_namespace(namespace) && kind(first),
            _ => false,
        }
    }

    fn fault(&self, message: impl Into<String>) -> Fault {
        Fault::at(&Arc::from(format!("`--scale {}`", self.text)), 0, message)
    }

    /// Returns the workload that it refers to; `candidates` maps each workload to whether it is a DaemonSet.
    fn meant(&self, candidates: &BTreeMap<Workload, bool>) -> Result<Workload, Fault> {
        let found: Vec<(&Workload, &bool)> = candidates.iter().filter(|(one, _)| self.means(one)).collect();
        match &*found {
            [] => {
                let fault = self.fault("names no workload of the input");
                let name = self.parts.last().map_or("", String::as_str);
                let nearest = candidates
                    .iter()
                    .filter(|(_, is_daemon)| !**is_daemon)
                    .min_by_key(|(one, _)| strsim::damerau_levenshtein(&one.name, name));
                Err(match nearest {
                    Some((nearest, _)) => {
                        fault.with_hint(format!("the nearest is `--scale {}={}`", path(nearest), self.pods))
                    }
                    None => fault.with_hint("the input holds no workload that can be scaled"),
                })
            }
            [(workload, true)] => {
                let fault = self.fault(format!("`{}` has a pod on every node that fits it", path(workload)));
                Err(fault.with_hint("a DaemonSet grows and shrinks with the nodes"))
            }
            [(workload, false)] => Ok((*workload).clone()),
            several => {
                let names: Vec<String> =
                    several.iter().take(5).map(|(one, _)| format!("`{}`", path(one))).collect();
                let fault = self.fault(format!("may mean {}", names.join(" or ")));
                Err(fault.with_hint(format!(
                    "write one of them: `--scale {}={}`",
                    path(several[0].0),
                    self.pods
                )))
            }
        }
    }
}

/// Returns the indices of options that match no workload.
pub fn missing(scale: &[Scale], candidates: &BTreeMap<Workload, bool>) -> BTreeSet<usize> {
    let is_missing = |scale: &Scale| !candidates.keys().any(|one| scale.means(one));
    scale.iter().enumerate().filter(|(_, scale)| is_missing(scale)).map(|(place, _)| place).collect()
}

/// Returns the requested number of pods by workload.
pub fn resolve(
    scale: &[&Scale],
    candidates: &BTreeMap<Workload, bool>,
    faults: &mut Faults,
) -> BTreeMap<Workload, i64> {
    let mut wanted: BTreeMap<Workload, i64> = BTreeMap::new();
    for one in scale {
        match one.meant(candidates) {
            Ok(workload) if wanted.get(&workload).is_some_and(|pods| *pods != one.pods) => {
                faults.add(one.fault(format!("`{}` is scaled twice, to different numbers", path(&workload))));
            }
            Ok(workload) => {
                wanted.insert(workload, one.pods);
            }
            Err(fault) => faults.add(fault),
        }
    }
    wanted
}
