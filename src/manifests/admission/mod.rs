//! What the API server changes in a pod as it takes it in: LimitRanges and RuntimeClasses of the input,
//! applied to pods that no API server has seen.
//!
//! A pod that it would refuse is planned all the same, and told.

pub mod limit_range;
pub mod runtime_class;

use std::sync::Arc;

use crate::model::Namespace;

use super::found::Place;
use super::live::LivePod;
use super::pod::{self, PodBody, Unadmitted};
use super::said::{Remark, Said};
use super::workload::{WorkloadObject, path};
use limit_range::LimitRanges;
use runtime_class::RuntimeClasses;

/// What changes pods as they are made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Admission {
    /// LimitRanges by namespace.
    pub ranges: LimitRanges,
    /// RuntimeClasses.
    pub classes: RuntimeClasses,
}

impl Admission {
    /// Admits the pods of workloads, and those pods that a person wrote.
    pub fn admit(
        &self,
        workloads: &mut [(WorkloadObject, Place)],
        pods: &mut [(LivePod, Arc<PodBody>)],
        said: &mut Said,
    ) {
        for (workload, _) in workloads {
            let refusals = self.admit_one(&mut workload.body, &workload.id.namespace);
            said.remarks.extend(refused(&path(&workload.id), refusals));
        }
        for (pod, body) in pods.iter_mut().filter(|(_, body)| body.unadmitted.is_some()) {
            let mut admitted = PodBody::clone(body);
            let refusals = self.admit_one(&mut admitted, &pod.key.namespace);
            said.remarks.extend(refused(&format!("Pod/{}", pod.key), refusals));
            *body = Arc::new(admitted);
        }
    }

    /// Admits a pod, and returns why the API server would refuse it.
    fn admit_one(&self, body: &mut PodBody, namespace: &Namespace) -> Vec<String> {
        let Some(Unadmitted { mut written, runtime_class }) = body.unadmitted.take() else {
            return Vec::new();
        };
        self.ranges.default(namespace, &mut written);
        let mut refusals = self.ranges.refusals(namespace, &written);
        if let Some(class) = &runtime_class {
            refusals.extend(self.classes.apply(class, body, &mut written));
        }
        let requests = written.requests();
        body.spec.is_without_requests = pod::is_silent(&requests.asked);
        body.spec.requests = requests.total;
        refusals
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
