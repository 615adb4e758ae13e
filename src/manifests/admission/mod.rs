//! Simulates the API server's admission of pods: applies the LimitRanges and RuntimeClasses of the input to pods that
//! no API server has admitted.
//!
//! A pod that would be rejected is still planned, and reported.

pub mod limit_range;
pub mod runtime_class;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::model::Namespace;

use super::found::Place;
use super::live::LivePod;
use super::pod::{self, PodBody, Unadmitted};
use super::said::{Remark, Said, listed};
use super::workload::{WorkloadObject, path};
use limit_range::LimitRanges;
use runtime_class::RuntimeClasses;

/// Objects that change pods at admission.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Admission {
    /// LimitRanges by namespace.
    pub ranges: LimitRanges,
    /// RuntimeClasses.
    pub classes: RuntimeClasses,
}

impl Admission {
    /// Admits the pods of workloads, and hand-written pods.
    pub fn admit(
        &self,
        workloads: &mut [(WorkloadObject, Place)],
        pods: &mut [(LivePod, Arc<PodBody>)],
        said: &mut Said,
    ) {
        let mut missing = BTreeMap::new();
        for (workload, _) in workloads {
            self.note_missing(&workload.body, || path(&workload.id), &mut missing);
            let refusals = self.admit_one(&mut workload.body, &workload.id.namespace);
            said.remarks.extend(refused(&path(&workload.id), refusals));
        }
        for (pod, body) in pods.iter_mut().filter(|(_, body)| body.unadmitted.is_some()) {
            self.note_missing(body, || format!("Pod/{}", pod.key), &mut missing);
            let mut admitted = PodBody::clone(body);
            let refusals = self.admit_one(&mut admitted, &pod.key.namespace);
            said.remarks.extend(refused(&format!("Pod/{}", pod.key), refusals));
            *body = Arc::new(admitted);
        }
        said.remarks.extend(missing.into_iter().map(without_class));
    }

    /// Records the RuntimeClass that a pod references but the input lacks.
    fn note_missing(&self, body: &PodBody, whose: impl FnOnce() -> String, missing: &mut Missing) {
        let class = body.unadmitted.as_ref().and_then(|unadmitted| unadmitted.runtime_class.as_ref());
        if let Some(class) = class.filter(|class| !self.classes.has(class)) {
            missing.entry(Arc::clone(class)).or_default().insert(format!("`{}`", whose()));
        }
    }

    /// Admits a pod, and returns the reasons why the API server would reject it.
    fn admit_one(&self, body: &mut PodBody, namespace: &Namespace) -> Vec<String> {
        let Some(Unadmitted { mut written, runtime_class }) = body.unadmitted.take() else {
            return Vec::new();
        };
        self.ranges.default(namespace, &mut written);
        let mut refusals = self.ranges.refusals(namespace, &written);
        refusals.extend(written.overcommitted());
        if let Some(class) = &runtime_class {
            refusals.extend(self.classes.apply(class, body, &mut written));
        }
        let requests = written.requests();
        body.spec.is_without_requests = pod::is_silent(&requests.asked);
        body.spec.requests = requests.total;
        refusals
    }
}

/// Objects that reference RuntimeClasses missing from the input, by class.
type Missing = BTreeMap<Arc<str>, BTreeSet<String>>;

fn without_class((class, whose): (Arc<str>, BTreeSet<String>)) -> Remark {
    let names: Vec<String> = whose.into_iter().collect();
    Remark {
        object: format!("RuntimeClass `{class}`"),
        what: format!(
            "is not in the input: the overhead and the node selector of {} are unknown",
            listed(&names)
        ),
        hint: Some("add it: `kubectl get runtimeclasses -o yaml`".to_owned()),
    }
}

fn refused(object: &str, refusals: Vec<String>) -> impl Iterator<Item = Remark> {
    let object = format!("`{object}`");
    refusals.into_iter().map(move |why| Remark {
        object: object.clone(),
        what: format!("the API server would refuse its pods: {why}"),
        hint: None,
    })
}
