//! Claims that get their volume before their pods are scheduled.

use super::snapshot;
use crate::model::storage::ClaimPhase;
use crate::snapshot::Snapshot;

/// Pods `web-0` and so on; the first uses the first claim.
fn pods(claims: &[&str]) -> String {
    let pod = |(number, claim): (usize, &&str)| {
        format!(
            "---\n{{apiVersion: v1, kind: Pod, metadata: {{name: web-{number}}}, spec: {{containers: [{{name: c}}], \
             volumes: [{{name: v, persistentVolumeClaim: {{claimName: {claim}}}}}]}}}}\n"
        )
    };
    claims.iter().enumerate().map(pod).collect()
}

fn claim(name: &str, spec: &str, status: &str) -> String {
    format!(
        "---\n{{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {{name: {name}}}, spec: {{{spec} accessModes: \
         [ReadWriteOnce], resources: {{requests: {{storage: 10Gi}}}}}}{status}}}\n"
    )
}

fn volume(name: &str, size: &str, spec: &str) -> String {
    format!(
        "---\n{{apiVersion: v1, kind: PersistentVolume, metadata: {{name: {name}}}, spec: {{capacity: {{storage: {size}}}, \
         accessModes: [ReadWriteOnce, ReadOnlyMany], {spec}}}}}\n"
    )
}

fn class(name: &str, provisioner: &str) -> String {
    format!(
        "---\n{{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {{name: {name}}}, provisioner: \
         {provisioner}}}\n"
    )
}

fn said(text: &str) -> Vec<String> {
    let assumed = |it: &crate::snapshot::Assumption| format!("{} ({})", it.what, it.why);
    snapshot(text, false).assumptions.iter().map(assumed).collect()
}

fn taken(read: &Snapshot) -> Vec<(&str, Option<&str>)> {
    read.storage.claims.iter().map(|claim| (&*claim.key.name, claim.volume.as_deref())).collect()
}

#[test]
fn a_claim_of_a_class_that_binds_at_once_is_said_to_get_its_volume_first() {
    let of = |class: &str| claim("data", &format!("storageClassName: {class},"), "");
    let files = said(&[of("azurefile-csi"), pods(&["data"])].concat());
    assert_eq!(
        files[1],
        "claim `default/data` gets its volume first (StorageClass `azurefile-csi` binds immediately, whose volumes every \
         node reaches)"
    );
    let unknown = said(&[class("other", "example.com/other"), of("other"), pods(&["data"])].concat());
    assert_eq!(
        unknown,
        [
            "claim `default/data` gets its volume first (StorageClass `other` binds immediately, and volumes of \
          `example.com/other` are taken to be reachable from every node)"
        ]
    );
    let disk = said(&[class("now", "disk.csi.azure.com"), of("now"), pods(&["data"])].concat());
    assert_eq!(disk, [""; 0], "nobody knows its zone");
    let seen = claim("data", "storageClassName: azurefile-csi,", ", status: {phase: Pending}");
    assert_eq!(said(&[seen, pods(&["data"])].concat()).len(), 1, "the cluster has it without a volume");
}

#[test]
fn the_classes_of_aks_are_assumed_beside_classes_of_ones_own() {
    let own = class("own", "example.com/own");
    let text = [own.clone(), claim("data", "storageClassName: azurefile-csi,", ""), pods(&["data"])].concat();
    assert_eq!(said(&text)[0].split(' ').nth(3), Some("`azurefile-csi`"), "{:?}", said(&text));
    let listed = [text, class("managed-csi", "disk.csi.azure.com")].concat();
    assert_eq!(said(&listed), [""; 0], "the classes of a cluster were listed");
}

#[test]
fn claims_take_the_smallest_volume_that_will_do_without_any_class() {
    let text = [
        volume("large", "100Gi", "storageClassName: ''"),
        volume("other", "10Gi", "storageClassName: manual"),
        volume("right", "20Gi", "csi: {driver: file.csi.azure.com}"),
        volume("small", "5Gi", "storageClassName: ''"),
        volume("kept", "50Gi", "storageClassName: '', claimRef: {namespace: default, name: c}"),
    ]
    .concat();
    let none = |name| claim(name, "storageClassName: '',", "");
    let claims = ["a", "b", "c", "d"].map(none).concat();
    let read = snapshot(&[text, claims, pods(&["a"])].concat(), false);
    assert_eq!(taken(&read), [("a", Some("right")), ("b", Some("large")), ("c", Some("kept")), ("d", None)]);
    assert!(read.storage.claims.iter().all(|it| it.volume.is_none() || it.phase == ClaimPhase::Bound));
    assert_eq!(
        read.assumptions[0].what,
        "3 claims take PersistentVolumes first: `right` for `default/a`, `large` for \
                                          `default/b`, `kept` for `default/c`"
    );
}

#[test]
fn a_volume_that_lies_on_a_node_is_left_to_the_pods_place() {
    let local = "local: {path: /mnt}, storageClassName: local, nodeAffinity: {required: {nodeSelectorTerms: \
                 [{matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [n1]}]}]}}";
    let waits = class("local", "kubernetes.io/no-provisioner")
        .replace("no-provisioner}", "no-provisioner, volumeBindingMode: WaitForFirstConsumer}");
    let wants = claim("scratch", "storageClassName: local,", "");
    let text = [volume("pv", "10Gi", local), wants, pods(&["scratch"])].concat();
    assert_eq!(taken(&snapshot(&[waits, text.clone()].concat(), false)), [("scratch", None)]);
    let at_once = class("local", "kubernetes.io/no-provisioner");
    assert_eq!(taken(&snapshot(&[at_once, text].concat(), false)), [("scratch", Some("pv"))]);
}
