//! Every field of a class affects the VMs, or is rejected by name.

use std::collections::BTreeSet;

use super::world::{FACTS, OBJECTS, planned, planned_with};
use super::{execution, told};
use crate::bootstrap::FIELDS;

/// The class of the world without changes.
const CLASS: &str = "  imageFamily: Ubuntu\n  maxPods: 50\n";

const DNS: &str = "  localDNS:
    mode: MODE
    vnetDNSOverrides: [VNET, {zone: cluster.local, queryLogging: Error, protocol: ForceTCP, forwardDestination: ClusterCoreDNS, forwardPolicy: Sequential, maxConcurrent: 10, cacheDuration: 1h, serveStaleDuration: 1h, serveStale: Immediate}]
    kubeDNSOverrides: [KUBE, {zone: cluster.local, queryLogging: Error, protocol: ForceTCP, forwardDestination: ClusterCoreDNS, forwardPolicy: Sequential, maxConcurrent: 10, cacheDuration: 1h, serveStaleDuration: 1h, serveStale: Immediate}]
";

fn dns(mode: &str, concurrent: (u32, u32)) -> String {
    let root = |to: &str, most: u32| {
        format!(
            "{{zone: ., queryLogging: Error, protocol: PreferUDP, forwardDestination: {to}, forwardPolicy: Sequential, \
             maxConcurrent: {most}, cacheDuration: 1h, serveStaleDuration: 1h, serveStale: Immediate}}"
        )
    };
    let (vnet, kube) = (root("VnetDNS", concurrent.0), root("ClusterCoreDNS", concurrent.1));
    DNS.replace("MODE", mode).replace("VNET", &vnet).replace("KUBE", &kube)
}

/// Returns each field with lines of the class that set it.
fn variants() -> Vec<(&'static str, String)> {
    let with = |line: &str| format!("{CLASS}{line}\n");
    let kubelet = |line: &str| with(&format!("  kubelet: {{{line}}}"));
    let linux = |line: &str| with(&format!("  linuxOSConfig: {{{line}}}"));
    let subnet = "/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/MC_rg_c1_westeurope/providers/Microsoft.Network/virtualNetworks/aks-vnet-12345678/subnets/other";
    vec![
        ("artifactStreaming.enabled", with("  artifactStreaming: {enabled: true}")),
        ("fipsMode", CLASS.replace("Ubuntu", "AzureLinux") + "  fipsMode: FIPS\n"),
        ("imageFamily", CLASS.replace("Ubuntu", "Ubuntu2204")),
        ("kubelet.allowedUnsafeSysctls[]", kubelet("allowedUnsafeSysctls: [kernel.msgmax]")),
        ("kubelet.containerLogMaxFiles", kubelet("containerLogMaxFiles: 7")),
        ("kubelet.containerLogMaxSize", kubelet("containerLogMaxSize: 70Mi")),
        ("kubelet.cpuCFSQuota", kubelet("cpuCFSQuota: false")),
        ("kubelet.cpuCFSQuotaPeriod", kubelet("cpuCFSQuotaPeriod: 50ms")),
        ("kubelet.cpuManagerPolicy", kubelet("cpuManagerPolicy: static")),
        ("kubelet.failSwapOn", kubelet("failSwapOn: false")),
        ("kubelet.imageGCHighThresholdPercent", kubelet("imageGCHighThresholdPercent: 90")),
        ("kubelet.imageGCLowThresholdPercent", kubelet("imageGCLowThresholdPercent: 60")),
        ("kubelet.podPidsLimit", kubelet("podPidsLimit: 900")),
        ("kubelet.topologyManagerPolicy", kubelet("topologyManagerPolicy: restricted")),
        (
            "linuxOSConfig.swapFileSize",
            with("  kubelet: {failSwapOn: false}\n  linuxOSConfig: {swapFileSize: 1500Mi}"),
        ),
        ("linuxOSConfig.sysctls.*", linux("sysctls: {vmMaxMapCount: 262144}")),
        ("linuxOSConfig.transparentHugePageDefrag", linux("transparentHugePageDefrag: defer")),
        ("linuxOSConfig.transparentHugePageEnabled", linux("transparentHugePageEnabled: never")),
        ("localDNS.kubeDNSOverrides[].*", with(dns("Required", (10, 20)).trim_end())),
        ("localDNS.mode", with(dns("Required", (10, 10)).trim_end())),
        ("localDNS.vnetDNSOverrides[].*", with(dns("Required", (20, 10)).trim_end())),
        ("maxPods", CLASS.replace("50", "60")),
        ("osDiskSizeGB", with("  osDiskSizeGB: 256")),
        ("security.encryptionAtHost", with("  security: {encryptionAtHost: true}")),
        ("security.trustedLaunch.secureBoot", with("  security: {trustedLaunch: {secureBoot: true}}")),
        ("security.trustedLaunch.vtpm", with("  security: {trustedLaunch: {vtpm: true}}")),
        ("tags", CLASS.to_owned()),
        ("vnetSubnetID", with(&format!("  vnetSubnetID: {subnet}"))),
        ("workloadRuntime", CLASS.replace("Ubuntu", "AzureLinux") + "  workloadRuntime: KataVmIsolation\n"),
    ]
}

#[test]
fn each_field_of_a_class_changes_what_is_made_or_is_withheld_by_name() {
    let machines = |objects: &str| execution(&planned(objects)).machines.clone();
    let mut seen = vec![machines(OBJECTS)];
    for (field, class) in variants() {
        let mut objects = OBJECTS.replace(CLASS, &class);
        if field == "tags" {
            objects = OBJECTS.replace("team/name: a", "team/name: b");
        }
        assert_ne!(objects, OBJECTS, "{field}");
        let plan = planned(&objects);
        match &plan.spec.execution {
            Some(execution) if !plan.spec.changes.is_empty() => {
                assert!(!seen.contains(&execution.machines), "{field} changes nothing");
                seen.push(execution.machines.clone());
            }
            _ => {
                let held = told(&plan);
                let root = field.split(['.', '[']).next().unwrap_or(field);
                let named = held.contains(&format!("`spec.{root}"))
                    || held.contains("`spec.imageFamily`: the versions of image `2204");
                assert!(held.contains("AKSNodeClass `default`: ") && named, "{field}: {held}");
            }
        }
    }
}

#[test]
fn every_field_of_a_class_is_tried() {
    let tried: BTreeSet<&str> = variants().iter().map(|(field, _)| *field).collect();
    // Only sizes with a GPU have drivers.
    let known: BTreeSet<&str> =
        FIELDS.iter().map(|field| field.path).filter(|path| *path != "gpu.mode").collect();
    assert_eq!(tried, known);
}

#[test]
fn trusted_launch_takes_its_own_image_and_is_said_of_the_vm() {
    let objects = OBJECTS.replace(CLASS, &format!("{CLASS}  security: {{trustedLaunch: {{vtpm: true}}}}\n"));
    let gallery = "AKSUbuntu-38d80f77-467a-481f-a8d4-09b6d4220bd2";
    let image = format!(
        "\"{gallery}/2204gen2TLcontainerd\": \"/CommunityGalleries/{gallery}/images/2204gen2TLcontainerd/versions/1.2.3\""
    );
    let facts = FACTS.replace("\"images\": {", &format!("\"images\": {{ {image},"));
    let plan = planned_with(&objects, &facts);
    let machine = execution(&plan).machines.values().next().expect("a machine");
    assert!(machine.image.ends_with("/2204gen2TLcontainerd/versions/1.2.3"), "{machine:#?}");
    assert_eq!((machine.security.vtpm, machine.security.secure_boot), (Some(true), None));
}

#[test]
fn a_class_s_own_images_come_before_the_newest_and_the_first_that_the_size_starts_is_taken() {
    let images = "status:\n  images:\n  - {id: /CommunityGalleries/g/images/2204gen2arm64containerd/versions/1, requirements: [{key: kubernetes.io/arch, operator: In, values: [arm64]}]}\n  - {id: /CommunityGalleries/g/images/2204gen2containerd/versions/7, requirements: [{key: kubernetes.io/arch, operator: In, values: [amd64]}, {key: karpenter.azure.com/sku-hyperv-generation, operator: In, values: ['2']}]}\n";
    let tags = "  tags: {team/name: a, karpenter.sh/nodepool: mine}\n";
    let plan = planned(&OBJECTS.replace(tags, &format!("{tags}{images}")));
    let machine = execution(&plan).machines.values().next().expect("a machine");
    assert_eq!(&*machine.image, "/CommunityGalleries/g/images/2204gen2containerd/versions/7");
    assert_eq!(machine.generation, 2);
    let tags: Vec<_> = machine.tags.iter().map(|(name, value)| format!("{name}={value}")).collect();
    assert_eq!(
        tags,
        [
            "compute.aks.billing=linux",
            "karpenter.azure.com_cluster=c1",
            "karpenter.sh_nodepool=apps",
            "team_name=a",
        ],
        "no spelling of a class's tag replaces one of Karpenter's"
    );
}
