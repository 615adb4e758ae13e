//! Storage and budgets: their fields and faults.

use super::{faults, objects};
use crate::model::disruption_budget::{PodBound, PodShare, UnhealthyPods};
use crate::model::storage::{AskedClass, BindingMode, ClaimPhase, PodVolume, VolumeClaimKey};
use crate::model::{Namespace, label};

const STORAGE: &str = "
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, namespace: shop}
spec: {storageClassName: fast, volumeName: pv-1, accessModes: [ReadWriteOncePod], resources: {requests: {storage: 10Gi}}}
status: {phase: Bound}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: new, annotations: {volume.beta.kubernetes.io/storage-class: old}}
spec: {accessModes: [ReadWriteOnce]}
---
apiVersion: v1
kind: PersistentVolume
metadata: {name: pv-1}
spec:
  storageClassName: fast
  csi: {driver: disk.csi.azure.com, volumeHandle: secret-id}
  claimRef: {namespace: shop, name: data}
  nodeAffinity:
    required:
      nodeSelectorTerms:
      - matchExpressions: [{key: topology.disk.csi.azure.com/zone, operator: In, values: [westeurope-1]}]
---
apiVersion: v1
kind: PersistentVolume
metadata: {name: pv-2}
spec: {azureDisk: {diskName: d}}
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: fast, annotations: {storageclass.kubernetes.io/is-default-class: 'true'}}
provisioner: disk.csi.azure.com
volumeBindingMode: WaitForFirstConsumer
allowedTopologies:
- matchLabelExpressions: [{key: topology.disk.csi.azure.com/zone, values: [westeurope-1, westeurope-2]}]
---
apiVersion: storage.k8s.io/v1
kind: CSINode
metadata: {name: n1}
spec: {drivers: [{name: disk.csi.azure.com, nodeID: n1, topologyKeys: [topology.disk.csi.azure.com/zone], allocatable: {count: 8}}]}
---
apiVersion: storage.k8s.io/v1
kind: VolumeAttachment
metadata: {name: a}
spec: {attacher: disk.csi.azure.com, nodeName: n1, source: {persistentVolumeName: pv-1}}
status: {attached: true}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web, namespace: shop}
spec: {selector: {matchLabels: {app: web}}, maxUnavailable: 25%, unhealthyPodEvictionPolicy: AlwaysAllow}
status: {disruptionsAllowed: 1, currentHealthy: 4, desiredHealthy: 3, expectedPods: 4}
";

#[test]
fn storage_is_read_as_far_as_scheduling_needs_it() {
    let read = objects(STORAGE);
    let storage = &read.storage;
    let key = VolumeClaimKey { namespace: Namespace::new("shop"), name: "data".into() };
    let claim = storage.claim(&key).expect("is there");
    assert_eq!((claim.phase, claim.volume.as_deref()), (ClaimPhase::Bound, Some("pv-1")));
    assert_eq!((claim.is_for_one_pod, storage.claims[0].is_for_one_pod), (true, false));
    assert_eq!((claim.is_for_one_node, storage.claims[0].is_for_one_node), (false, true));
    assert_eq!(storage.claims[0].class, AskedClass::Named("old".into()));
    assert_eq!(storage.claims[0].phase, ClaimPhase::Unseen);
    let volume = storage.volume("pv-1").expect("is there");
    assert_eq!((volume.claim.as_ref(), volume.driver.as_deref()), (Some(&key), Some("disk.csi.azure.com")));
    let zone = volume.node_affinity.as_ref().and_then(|terms| terms[0].get(label::ZONE)?.single());
    assert_eq!(zone.map(|zone| &**zone), Some("westeurope-1"));
    assert_eq!(storage.volumes[1].driver.as_deref(), Some("disk.csi.azure.com"));
    let class = storage.class(&AskedClass::Default).expect("is there");
    assert_eq!((class.binding, &*class.name), (BindingMode::WaitForFirstConsumer, "fast"));
    assert_eq!(class.topologies.as_ref().map(Vec::len), Some(1));
    let driver = &storage.drivers.values().next().expect("is there")["disk.csi.azure.com"];
    assert_eq!((driver.volumes_max, driver.topology_keys.len()), (Some(8), 1));
    assert!(storage.attachments[0].is_attached);
    assert!(!format!("{storage:?}").contains("secret-id"), "handles stay where they are");
    assert!(read.passed_over.is_empty(), "{:?}", read.passed_over);
}

#[test]
fn budgets_are_read_with_their_counts() {
    let read = objects(STORAGE);
    let budget = &read.budgets[0];
    assert_eq!(budget.bound, Some(PodBound::MaxUnavailable(PodShare::Percent(25))));
    assert_eq!(budget.unhealthy, UnhealthyPods::AlwaysAllow);
    assert_eq!(budget.counts.map(|counts| counts.disruptions_allowed), Some(1));
}

#[test]
fn faults_of_storage_and_budgets_come_all_at_once() {
    let text = "{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: a}, spec: {minAvailable: 1, maxUnavailable: half}}
---
{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: c}, volumeBindingMode: Later}
---
{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: p}}
---
{apiVersion: policy/v1beta1, kind: PodDisruptionBudget, metadata: {name: b}}
";
    let said: Vec<String> =
        faults(text).iter().map(|fault| fault.lines().next().unwrap_or_default().to_owned()).collect();
    assert_eq!(
        said,
        [
            "a.yaml:1: spec.maxUnavailable: must be a count or a percentage and is the text \"half\" (in `PodDisruptionBudget/a`)",
            "a.yaml:3: provisioner: is missing (in `StorageClass/c`)",
            "a.yaml:5: spec: is missing (in `PersistentVolumeClaim/p`)",
            "a.yaml:7: apiVersion: version `policy/v1beta1` of PodDisruptionBudget is not supported (in `PodDisruptionBudget/b`)",
        ]
    );
}

#[test]
fn pods_keep_which_claims_they_use() {
    let pod = "{apiVersion: v1, kind: Pod, metadata: {name: db-0}, spec: {volumes: [{name: scratch, ephemeral: {volumeClaimTemplate: {spec: {storageClassName: fast}}}}, {name: data, persistentVolumeClaim: {claimName: data}}], containers: [{name: c}]}}";
    let read = objects(pod);
    let names: Vec<_> = read.pods[0].spec.volumes.iter().map(|volume| volume.claim_of("db-0")).collect();
    assert_eq!(names, [Some("data".into()), Some("db-0-scratch".into())]);
    assert!(matches!(read.pods[0].spec.volumes[1], PodVolume::Ephemeral(_)));
}

const TERMS: &str = "
apiVersion: v1
kind: PersistentVolume
metadata: {name: one-of-two}
spec: {nodeAffinity: {required: {nodeSelectorTerms: [{}, {matchExpressions: [{key: disk, operator: Exists}]}]}}}
---
apiVersion: v1
kind: PersistentVolume
metadata: {name: nowhere}
spec: {nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: []}]}}}
---
apiVersion: v1
kind: PersistentVolume
metadata: {name: without-terms}
spec: {nodeAffinity: {required: {nodeSelectorTerms: []}}}
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: everywhere}
provisioner: disk.csi.azure.com
allowedTopologies: []
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: nowhere}
provisioner: disk.csi.azure.com
allowedTopologies: [{}]
";

#[test]
fn a_term_that_asks_for_nothing_selects_no_node() {
    let read = objects(TERMS).storage;
    let volumes: Vec<_> = read
        .volumes
        .iter()
        .map(|volume| (&*volume.name, volume.node_affinity.as_ref().map(Vec::len)))
        .collect();
    assert_eq!(volumes, [("nowhere", Some(0)), ("one-of-two", Some(1)), ("without-terms", Some(0))]);
    let classes: Vec<_> =
        read.classes.iter().map(|class| (&*class.name, class.topologies.as_ref().map(Vec::len))).collect();
    assert_eq!(classes, [("everywhere", None), ("nowhere", Some(0))]);
}
