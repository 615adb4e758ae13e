//! Moves kubelet settings from pools to the AKSNodeClass. Must only carry over settings that AKS lets users set; AKS
//! controls the rest.

use super::remark::Job;
use super::syntax::{Entry, Node};

/// Settings that a pool requires of its class.
#[derive(Clone, Debug)]
pub(super) struct Kubelet {
    /// `kubelet` of the class.
    pub(super) settings: Vec<Entry>,
    /// `maxPods` of the class.
    pub(super) pods_max: Option<Entry>,
    /// Their source: line and path.
    pub(super) line: usize,
    pub(super) path: Vec<&'static str>,
}

impl Kubelet {
    /// Returns whether there are no settings that a class can hold.
    pub(super) const fn is_empty(&self) -> bool {
        self.settings.is_empty() && self.pods_max.is_none()
    }

    /// Returns whether both hold the same settings.
    pub(super) fn says(&self, other: &Self) -> bool {
        let digest = |kubelet: &Self| {
            let all = kubelet.settings.iter().chain(&kubelet.pods_max).cloned().collect();
            Node::map(all).tree().digest()
        };
        digest(self) == digest(other)
    }

    /// Adds the settings to the `spec` of a class without overwriting existing ones.
    pub(super) fn give(&self, spec: &mut Node) {
        for entry in &self.settings {
            if spec.at(&format!("kubelet.{}", entry.key)).is_none() {
                spec.put_at("kubelet", entry.clone());
            }
        }
        if let Some(entry) = self.pods_max.clone().filter(|_| spec.get("maxPods").is_none()) {
            spec.put(entry);
        }
    }
}

/// `maxPods` values that an AKSNodeClass accepts.
const PODS: std::ops::RangeInclusive<i64> = 10..=250;

/// Splits the kubelet settings at `path` into those that carry over and those that do not.
pub(super) fn read(entry: Entry, path: &[&'static str], job: &mut Job<'_>) -> Kubelet {
    let mut kubelet = Kubelet { settings: Vec::new(), pods_max: None, line: entry.line, path: path.to_vec() };
    let mut node = entry.value;
    for setting in std::mem::take(node.parts_mut().unwrap_or(&mut Vec::new())) {
        let key = setting.key.to_string();
        let at = [path, &[&key]].concat();
        let at = (setting.line, at.as_slice());
        match key.as_str() {
            "cpuCFSQuota" | "imageGCHighThresholdPercent" | "imageGCLowThresholdPercent" => {
                job.moved(at, &format!("`spec.kubelet.{key}` of the AKSNodeClass"));
                kubelet.settings.push(setting);
            }
            "maxPods" => {
                let is_right = setting.value.as_integer().is_some_and(|count| PODS.contains(&count));
                if is_right {
                    job.moved(at, "`spec.maxPods` of the AKSNodeClass");
                    kubelet.pods_max = Some(setting);
                } else {
                    job.lost(
                        at,
                        "is outside of what an AKSNodeClass takes",
                        "`spec.maxPods` of the AKSNodeClass is from 10 to 250",
                    );
                }
            }
            "podsPerCore" => job.lost(
                at,
                "has no counterpart on AKS",
                "set `spec.maxPods` of the AKSNodeClass, from 10 to 250",
            ),
            "clusterDNS" => job.lost(
                at,
                "has no counterpart on AKS",
                "the cluster's DNS is used; `spec.localDNS` of the AKSNodeClass sets DNS on the node",
            ),
            "containerRuntime" => job.lost(at, "has no counterpart on AKS", "every node runs containerd"),
            "kubeReserved"
            | "systemReserved"
            | "evictionHard"
            | "evictionSoft"
            | "evictionSoftGracePeriod"
            | "evictionMaxPodGracePeriod" => {
                job.lost(at, "has no counterpart on AKS", "AKS reserves resources by the size of the VM");
            }
            _ => job.lost(
                at,
                "has no counterpart on AKS",
                "`nodeform schema aksnodeclass` lists what `spec.kubelet` takes",
            ),
        }
    }
    kubelet
}
