//! Argo Rollouts that use the pod template of another object: `spec.workloadRef`.

use std::sync::Arc;

use crate::model::Workload;

use super::cursor::Cursor;
use super::found::Place;
use super::kind::WorkloadKind;
use super::meta::Meta;
use super::said::{Note, Remark, Said};
use super::workload::{self, Count, WorkloadObject, path};

/// A Rollout that uses the pod template of another workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RolloutOfAnother {
    id: Workload,
    owner: Option<Workload>,
    count: Count,
    template: Workload,
    /// Whether the Rollout scales the other workload down to zero.
    takes_over: bool,
}

/// Returns whether a Rollout has no template of its own.
#[must_use]
pub fn is_of_another(object: Cursor<'_>) -> bool {
    let spec = object.tree.get("spec");
    spec.is_some_and(|spec| spec.get("workloadRef").is_some() && spec.get("template").is_none())
}

impl RolloutOfAnother {
    /// Reads a Rollout.
    #[must_use]
    pub fn read(object: Cursor<'_>) -> Option<Self> {
        let spec = object.get("spec")?;
        let reference = spec.get("workloadRef")?;
        let meta = Meta::read(object)?;
        let (Some(kind), Some(name)) = (reference.text("kind"), reference.text("name")) else {
            reference.missing(
                "name",
                "name the workload as in `{apiVersion: apps/v1, kind: Deployment, name: web}`",
            );
            return None;
        };
        let down = reference.choice("scaleDown", &["never", "onsuccess", "progressively"]);
        let namespace = meta.namespace.clone();
        Some(Self {
            id: workload::identity(object, &meta)?,
            owner: workload::owner(&meta),
            count: Count::of_replicas(spec),
            template: Workload { kind: Arc::clone(kind), namespace, name: Arc::clone(name) },
            takes_over: matches!(down, Some(1 | 2)),
        })
    }
}

/// Gives Rollouts the pods of the workloads that they reference. A workload that a Rollout takes over gets no new pods;
/// its running pods stay until they are deleted.
pub fn resolve(
    mut rollouts: Vec<(RolloutOfAnother, Place)>,
    workloads: &mut Vec<(WorkloadObject, Place)>,
    said: &mut Said,
) {
    rollouts.sort_by(|(one, _), (other, _)| one.id.cmp(&other.id));
    for (rollout, place) in rollouts {
        let RolloutOfAnother { id, owner, count, template, takes_over } = rollout;
        let Some((named, _)) = workloads.iter_mut().find(|(workload, _)| workload.id == template) else {
            said.unresolved.push(Note::new(
                format!("`{}`, the template of `{}`, is not in the input", path(&template), path(&id)),
                "the pods of that Rollout are not in this plan, beyond those that run already",
            ));
            continue;
        };
        let made = WorkloadObject { id, kind: WorkloadKind::Rollout, owner, count, ..named.clone() };
        if takes_over {
            named.count = Count::written(0);
        } else if named.count.replicas > 0 && made.count.replicas > 0 {
            said.remarks.push(Remark {
                object: format!("`{}`", path(&made.id)),
                what: format!("its pods and those of `{}` are both counted", path(&template)),
                hint: Some(format!(
                    "give that {} `replicas: 0`, or the Rollout `workloadRef.scaleDown: onsuccess`",
                    template.kind
                )),
            });
        }
        workloads.push((made, place));
    }
}
