//! Pods of third-party schedulers, which are planned by the same rules.

use std::collections::BTreeMap;

use crate::model::Pod;

use super::said::Remark;

/// Reports the number of pods of each third-party scheduler.
#[must_use]
pub fn remarks(pods: &[Pod]) -> Vec<Remark> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for pod in pods.iter().filter(|pod| !pod.is_daemon) {
        if let Some(scheduler) = &pod.spec.scheduler {
            *counts.entry(scheduler).or_default() += 1;
        }
    }
    let remark = |(scheduler, count): (&str, usize)| Remark {
        object: match count {
            1 => format!("1 pod is scheduled by {scheduler}"),
            count => format!("{count} pods are scheduled by {scheduler}"),
        },
        what: "its own rules are not planned".to_owned(),
        hint: None,
    };
    counts.into_iter().map(remark).collect()
}
