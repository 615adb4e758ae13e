use super::*;

fn started(text: &str) -> Started {
    let said = Said { cluster: None, location: Some(Region::new("westeurope")) };
    start(Source::new("pools.json", text), &said).expect("the file holds agent pools")
}

/// Reads the generated manifests with the normal manifest reader and checks that it reports no fault.
fn valid(started: &Started) -> (crate::manifests::Objects, crate::policy::Policy) {
    let read = crate::offline::read(vec![Source::new("nodeform.yaml", started.text.clone())]);
    read.unwrap_or_else(|faults| panic!("{faults:#?}\n{}", started.text))
}

const EVERYTHING: &str = r#"[{
    "id": "/subscriptions/s/resourcegroups/rg-a/providers/Microsoft.ContainerService/managedClusters/prod/agentPools/web",
    "name": "web", "vmSize": "Standard_D4s_v5", "mode": "User", "osType": "Linux", "osSku": "AzureLinux",
    "count": 3, "enableAutoScaling": true, "minCount": 2, "maxCount": 10, "availabilityZones": ["1", "3"],
    "osDiskSizeGb": 256, "osDiskType": "Ephemeral", "maxPods": 60, "enableFips": true, "scaleSetPriority": "Spot",
    "spotMaxPrice": 0.2, "enableEncryptionAtHost": true,
    "nodeLabels": {"team": "shop", "kubernetes.azure.com/scalesetpriority": "spot", "odd": "true"},
    "nodeTaints": ["kubernetes.azure.com/scalesetpriority=spot:NoSchedule", "only:NoExecute", "broken"],
    "tags": {"cost": "42"}, "enableNodePublicIp": true,
    "vnetSubnetId": "/subscriptions/s/resourceGroups/net/providers/Microsoft.Network/virtualNetworks/v/subnets/n",
    "kubeletConfig": {"cpuManagerPolicy": "static", "cpuCfsQuota": true, "podMaxPids": 1000, "containerLogMaxSizeMb": 20, "failSwapOn": false, "imageGcHighThreshold": null},
    "linuxOsConfig": {"swapFileSizeMb": 1500, "sysctls": {"netCoreSomaxconn": 16384, "netIpv4TcpTwReuse": true, "netIpv4TcpkeepaliveIntvl": 30}}
}]"#;

#[test]
fn all_that_has_a_counterpart_is_carried_over_and_valid() {
    let started = started(EVERYTHING);
    let (_, policy) = valid(&started);
    let pool = &policy.pools["web"];
    assert_eq!(pool.nodes_max, Some(10));
    assert_eq!(pool.taints.len(), 2);
    assert_eq!(pool.labels.len(), 2);
    assert_eq!(pool.limits.get(&crate::model::ResourceName::Cpu), 40_000);
    assert_eq!(pool.limits.get(&crate::model::ResourceName::Memory), 160 << 30);
    let wanted = |key: &str| pool.requirements.get(key).expect(key).to_string();
    assert_eq!(wanted("topology.kubernetes.io/zone"), "In [westeurope-1, westeurope-3]");
    assert_eq!(wanted("karpenter.sh/capacity-type"), "In [spot]");
    assert!(
        pool.requirements.get("karpenter.azure.com/sku-cpu").is_some_and(|cpu| cpu.accepts("4")
            && cpu.accepts("16")
            && !cpu.accepts("2")
            && !cpu.accepts("32"))
    );
    let class = &policy.classes["default"];
    assert_eq!((class.os_disk_gb, class.pods_max, class.is_fips), (256, Some(60), true));
    assert!(class.encryption_at_host);
    for text in [
        "resourceGroup: rg-a",
        "name: prod",
        "odd: \"true\"",
        "cost: \"42\"",
        "netIPv4TCPKeepaliveIntvl: 30",
        "netIPv4TCPTwReuse: true",
        "podPidsLimit: 1000",
        "swapFileSize: \"1500Mi\"",
        "consolidateAfter: 10m",
    ] {
        assert!(started.text.contains(text), "{text}:\n{}", started.text);
    }
}

#[test]
fn what_has_no_counterpart_is_listed_with_its_pool_and_stands_in_the_text() {
    let started = started(EVERYTHING);
    for what in ["spotMaxPrice` 0.2", "enableNodePublicIP", "minCount` 2", "taint `broken`"] {
        let listed =
            started.left_out.iter().any(|line| line.contains(what) && line.contains("agent pool `web`"));
        assert!(listed, "{what}: {:#?}", started.left_out);
        assert!(started.text.contains(what), "{what}:\n{}", started.text);
    }
}

#[test]
fn arm_and_az_spell_differently_and_are_read_alike() {
    let arm = r#"{"value": [{"name": "a", "properties": {"vmSize": "Standard_E8s_v5", "count": 2, "osDiskSizeGB": 64, "mode": "User", "enableFIPS": false}}]}"#;
    let az = r#"[{"name": "a", "vmSize": "Standard_E8s_v5", "count": 2, "osDiskSizeGb": 64, "mode": "User", "enableFips": false}]"#;
    assert_eq!(started(arm).text, started(az).text);
    assert!(started(az).text.contains("osDiskSizeGB: 64"));
}

#[test]
fn a_cluster_says_its_network_and_how_its_autoscaler_waits() {
    let text = r#"{"name": "c", "resourceGroup": "g", "location": "North Europe",
        "networkProfile": {"networkPlugin": "kubenet"}, "autoScalerProfile": {"scaleDownUnneededTime": "5m", "scaleDownUtilizationThreshold": "0.7"},
        "agentPoolProfiles": [{"name": "sys", "vmSize": "Standard_D2s_v5", "mode": "System", "count": 3},
            {"name": "win", "vmSize": "Standard_D4s_v5", "mode": "User", "osType": "Windows", "count": 1},
            {"name": "gpu", "vmSize": "Standard_NC24ads_A100_v4", "mode": "User", "count": 1}]}"#;
    let started = start(Source::new("c.json", text), &Said::default()).expect("a cluster");
    let (_, policy) = valid(&started);
    assert_eq!(policy.pools.len(), 1);
    assert!(started.text.contains("location: northeurope"), "{}", started.text);
    assert!(started.text.contains("consolidateAfter: 5m"), "{}", started.text);
    assert!(started.text.contains("values: [Standard_NC24ads_A100_v4]"), "{}", started.text);
    for what in ["kubenet", "0.7", "`sys` is a system pool", "`win` runs Windows"] {
        assert!(started.left_out.iter().any(|line| line.contains(what)), "{what}: {:#?}", started.left_out);
    }
}

#[test]
fn nodes_say_which_agent_pools_they_are_of() {
    let node = |name: &str, zone: &str| {
        format!(
            "apiVersion: v1\nkind: Node\nmetadata:\n  name: {name}\n  labels:\n    agentpool: web\n    kubernetes.azure.com/mode: user\n    node.kubernetes.io/instance-type: Standard_D8s_v5\n    topology.kubernetes.io/zone: {zone}\n    topology.kubernetes.io/region: westeurope\n    team: shop\n    kubernetes.io/hostname: {name}\nspec:\n  taints: [{{key: only, value: web, effect: NoSchedule}}]\nstatus:\n  capacity: {{cpu: \"8\", memory: 32Gi, pods: \"110\"}}\n"
        )
    };
    let text = [node("a", "westeurope-1"), node("b", "westeurope-2")].join("---\n");
    let started = start(Source::new("nodes.yaml", text), &Said::default()).expect("nodes");
    let (_, policy) = valid(&started);
    let pool = &policy.pools["web"];
    assert_eq!(pool.nodes_max, Some(2));
    assert_eq!((pool.labels.len(), pool.taints.len()), (1, 1));
    assert_eq!(policy.classes["default"].pods_max, Some(110));
}

#[test]
fn hostile_text_stays_text() {
    let text = r##"[{"name": "a", "vmSize": "Standard_D4s_v5", "count": 1,
        "nodeLabels": {"x": "y\n---\nkind: NodePool", "z": "no"}, "tags": {"a: b": "# c\u0085d"}, "nodeTaints": ["k\n- key: evil:NoSchedule"]}]"##;
    let started = started(text);
    let read = crate::manifests::read(vec![Source::new("x.yaml", started.text.clone())]).expect("is YAML");
    assert_eq!(read.ours.len(), 3, "{}", started.text);
}

#[test]
fn what_is_no_agent_pool_is_refused_with_what_would_be() {
    for text in ["[]", "{}", "{\"kind\": \"Pod\"}", "", "[{\"vmSize\": \"x\"}]", "not: [json"] {
        assert!(start(Source::new("x.json", text), &Said::default()).is_err(), "{text}");
    }
}
