//! How Azure answers.

use nodeform::sim::{Capacity, NetworkSettings, Request, Seconds};
use serde_json::{Value, json};

use crate::sim::bodies::{self, Vm};
use crate::sim::client::{Client, settings, validate};

fn code(answer: &nodeform::sim::Answer) -> (u16, String) {
    (answer.status, answer.value()["error"]["code"].as_str().unwrap_or_default().to_owned())
}

#[test]
fn every_read_passes_the_official_specification() {
    let mut client = Client::new();
    let subscription = "/subscriptions/11111111-2222-4333-8444-555555555555";
    let group = format!("{subscription}/resourceGroups/MC_rg-demo_demo_southcentralus");
    let cluster = format!(
        "{subscription}/resourceGroups/rg-demo/providers/Microsoft.ContainerService/managedClusters/demo"
    );
    let subnet = client.world.settings().subnet_id();
    let network = subnet.split("/subnets/").next().expect("a network").to_owned();
    let gallery = "AKSAzureLinux-f7c7cda5-1c9a-4bdc-a222-9614c968580b";
    let compute = format!("{subscription}/providers/Microsoft.Compute");
    for target in [
        format!("{subscription}?api-version=2022-12-01"),
        format!("{group}?api-version=2024-07-01"),
        format!("{group}/providers/Microsoft.Authorization/permissions?api-version=2022-04-01"),
        format!("{cluster}?api-version=2026-05-01"),
        format!("{cluster}/agentPools?api-version=2026-05-01"),
        format!("{cluster}/agentPools/system?api-version=2026-05-01"),
        format!("{compute}/skus?api-version=2021-07-01&$filter=location%20eq%20'southcentralus'"),
        format!("{compute}/locations/southcentralus/usages?api-version=2024-07-01"),
        format!(
            "{compute}/locations/SouthCentralUS/communityGalleries/{gallery}/images/V3gen2/versions?api-version=2023-07-03"
        ),
        format!("{group}/providers/Microsoft.Network/networkSecurityGroups?api-version=2024-03-01"),
        format!("{group}/providers/Microsoft.Network/loadBalancers?api-version=2024-03-01"),
        format!("{network}?api-version=2024-03-01"),
        format!("{network}/subnets?api-version=2024-03-01"),
        format!("{subnet}?api-version=2024-03-01"),
        format!("{group}/providers/Microsoft.Compute/disks?api-version=2024-03-02"),
    ] {
        let answer = client.arm("GET", &target);
        assert_eq!(answer.status, 200, "{target}: {}", answer.value());
        assert!(answer.header("x-ms-ratelimit-remaining-subscription-reads").is_some());
        assert!(answer.header("x-ms-request-id").is_some());
    }
    validate(&client.exchanges);
}

#[test]
fn what_is_absent_is_told_by_its_code() {
    let mut client = Client::new();
    let vm = client.vm_path("nope");
    assert_eq!(code(&client.arm("GET", &vm)), (404, "ResourceNotFound".to_owned()));
    assert_eq!(client.arm("DELETE", &vm).status, 204);
    let nic = client.nic_path("nope");
    assert_eq!(client.arm("DELETE", &nic).status, 204);
    let other = vm.replace("MC_rg-demo_demo_southcentralus", "rg-other");
    assert_eq!(code(&client.arm("GET", &other)), (404, "ResourceGroupNotFound".to_owned()));
    let other = vm.replace("11111111", "99999999");
    assert_eq!(code(&client.arm("GET", &other)), (404, "SubscriptionNotFound".to_owned()));
    let old = vm.replace("2024-07-01", "2019-07-01");
    assert_eq!(code(&client.arm("GET", &old)), (400, "NoRegisteredProviderFound".to_owned()));
    let none = vm.replace("?api-version=2024-07-01", "");
    assert_eq!(code(&client.arm("GET", &none)), (400, "MissingApiVersionParameter".to_owned()));
    assert_eq!(client.arm("POST", &vm).status, 403, "the role has no such action");
}

#[test]
fn a_vm_is_made_once_and_its_name_has_no_case() {
    let mut client = Client::new();
    let vm = Vm::new(&client.world, "aks-apps-1");
    let first = client.make(&vm);
    assert_eq!(first.value()["properties"]["provisioningState"], "Creating");
    let path = client.vm_path("AKS-APPS-1");
    let put = client.signed("PUT", &path).json(&vm.body(&client.world)).header("if-none-match", "*");
    assert_eq!(code(&client.send(&put)), (412, "PreconditionFailed".to_owned()));
    let read = client.arm("GET", &path);
    assert_eq!((read.status, &read.value()["name"]), (200, &json!("aks-apps-1")));
    assert_eq!(read.value()["properties"]["vmId"], first.value()["properties"]["vmId"]);
    assert_eq!(read.value().pointer("/properties/osProfile/customData"), None);

    let again = client.arm_json("PUT", &path, &vm.body(&client.world));
    assert_eq!(again.status, 200, "an equal PUT is no new VM");
    let moved = Vm { zone: Some("2".to_owned()), ..vm.clone() };
    let answer = client.arm_json("PUT", &path, &moved.body(&client.world));
    assert_eq!(code(&answer), (409, "PropertyChangeNotAllowed".to_owned()));

    let deleted = client.delete_vm("aks-apps-1");
    client.finish(&deleted);
    let second = client.make(&vm);
    assert_ne!(
        second.value()["properties"]["vmId"],
        first.value()["properties"]["vmId"],
        "a new VM has a new vmId"
    );
    validate(&client.exchanges);
}

#[test]
fn tags_are_replaced_and_identities_are_merged() {
    let mut client = Client::new();
    let vm = Vm::new(&client.world, "aks-apps-1");
    client.make(&vm);
    let identity = "/subscriptions/11111111-2222-4333-8444-555555555555/resourceGroups/rg-demo/providers/Microsoft.ManagedIdentity/userAssignedIdentities/other";
    let patch = json!({"tags": {"a": "b"}, "identity": {"type": "UserAssigned", "userAssignedIdentities": {identity: {}}}});
    let path = client.vm_path("aks-apps-1");
    let answer = client.arm_json("PATCH", &path, &patch);
    assert_eq!((answer.status, &answer.value()["tags"]), (200, &json!({"a": "b"})));
    assert_eq!(
        answer.value()["identity"]["userAssignedIdentities"].as_object().expect("identities").len(),
        2
    );
    let bad = client.arm_json("PATCH", &path, &json!({"tags": {"a/b": "c"}}));
    assert_eq!(code(&bad), (400, "InvalidTagNameCharacters".to_owned()));
    let nic = client.nic_path("aks-apps-1");
    assert_eq!(
        client.arm_json("PATCH", &nic, &json!({"tags": {"c": "d"}})).value()["tags"],
        json!({"c": "d"})
    );
    validate(&client.exchanges);
}

#[test]
fn tags_of_any_resource_are_merged_and_deleted_by_arm_itself() {
    let mut client = Client::new();
    let vm = Vm::new(&client.world, "aks-apps-1");
    client.make(&vm);
    let tags = |id: String| format!("{id}/providers/Microsoft.Resources/tags/default?api-version=2024-07-01");
    for kind in ["Microsoft.Compute/virtualMachines", "Microsoft.Network/networkInterfaces"] {
        let path = tags(bodies::id(&client.world, kind, "aks-apps-1"));
        let merge = json!({"operation": "Merge", "properties": {"tags": {"NODEFORM.dev_item": "x", "compute.aks.billing": "none"}}});
        let merged = client.arm_json("PATCH", &path, &merge).value()["properties"]["tags"].clone();
        assert_eq!(
            (&merged["NODEFORM.dev_item"], &merged["compute.aks.billing"]),
            (&json!("x"), &json!("none"))
        );
        let delete = json!({"operation": "Delete", "properties": {"tags": {"nodeform.dev_item": "y", "compute.aks.billing": "none"}}});
        let left = client.arm_json("PATCH", &path, &delete).value()["properties"]["tags"].clone();
        assert_eq!(
            (&left["NODEFORM.dev_item"], left.get("compute.aks.billing")),
            (&json!("x"), None),
            "another value stays"
        );
        assert_eq!(client.arm("GET", &path).value()["properties"]["tags"], left);
    }
    let none = tags(bodies::id(&client.world, "Microsoft.Compute/virtualMachines", "nope"));
    assert_eq!(code(&client.arm("GET", &none)), (404, "ResourceNotFound".to_owned()));
    assert_eq!(
        client.state("virtualMachines", "aks-apps-1").expect("it is there")["tags"]["NODEFORM.dev_item"],
        "x"
    );
    validate(&client.exchanges);
}

#[test]
fn a_deletion_is_polled_by_both_addresses_on_the_host_that_was_asked() {
    let mut client = Client::new();
    let vm = Vm::new(&client.world, "aks-apps-1");
    client.make(&vm);
    let path = client.vm_path("aks-apps-1");
    let request = client.signed("DELETE", &path).header("host", "azure.example:444");
    let answer = client.send(&request);
    let (state, location) = (
        answer.header("azure-asyncoperation").expect("a state"),
        answer.header("location").expect("a monitor"),
    );
    assert!(
        state.starts_with("https://azure.example:444/") && location.starts_with("https://azure.example:444/")
    );
    let local = |url: &str| url.strip_prefix("https://azure.example:444").expect("on the host").to_owned();
    let (state, location) = (local(state), local(location));
    assert_eq!(client.arm("GET", &path).value()["properties"]["provisioningState"], "Deleting");
    assert_eq!(client.arm("GET", &location).status, 202);
    assert_eq!(
        client.arm("DELETE", &path).header("azure-asyncoperation").map(local_path),
        Some(state.clone()),
        "it is the same deletion"
    );
    client.pass(120);
    assert_eq!(client.arm("GET", &location).status, 204);
    assert_eq!(client.arm("GET", &state).value()["status"], "Succeeded");
    assert_eq!(client.arm("GET", &path).status, 404);
    validate(&client.exchanges);
}

fn local_path(url: &str) -> String {
    url.strip_prefix("https://127.0.0.1:8443").expect("on the host").to_owned()
}

#[test]
fn a_deletion_takes_the_place_of_a_creation() {
    let mut client = Client::new();
    let vm = Vm::new(&client.world, "aks-apps-1");
    let creation = client.ask_for(&vm);
    let deletion = client.delete_vm("aks-apps-1");
    assert_eq!(client.finish(&creation)["status"], "Canceled");
    assert_eq!(client.finish(&deletion)["status"], "Succeeded");
    client.pass(600);
    assert_eq!(client.world.state()["virtualMachines"], json!([]));
    assert_eq!(client.world.state()["notJoined"], json!([]));
}

#[test]
fn quota_counts_from_the_put_to_the_end_of_the_deletion() {
    let quotas = [("standardDSv3Family".to_owned(), 4)].into();
    let mut client =
        Client::with(nodeform::sim::SimulatedAzure { quotas, ..settings() }, Vec::new(), Vec::new());
    let first = Vm::new(&client.world, "aks-apps-1");
    let answer = client.ask_for(&first);
    assert_eq!(answer.status, 201);
    let second = Vm::new(&client.world, "aks-apps-2");
    let refused = client.ask_for(&second);
    assert_eq!(code(&refused), (409, "OperationNotAllowed".to_owned()));
    let message = refused.value()["error"]["message"].as_str().expect("a message").to_owned();
    assert!(
        message.contains("exceeding approved standardDSv3Family Cores quota")
            && message.contains("Current Limit: 4, Current Usage: 4, Additional Required: 4"),
        "{message}"
    );
    let usages = "/subscriptions/11111111-2222-4333-8444-555555555555/providers/Microsoft.Compute/locations/southcentralus/usages?api-version=2024-07-01";
    let used = |client: &mut Client| {
        let all = client.arm("GET", usages).value();
        let found = all["value"]
            .as_array()
            .expect("a list")
            .iter()
            .find(|usage| usage["name"]["value"] == "standardDSv3Family")
            .cloned();
        found.expect("the family is listed")["currentValue"].clone()
    };
    assert_eq!(used(&mut client), 4);
    let deletion = client.delete_vm("aks-apps-1");
    assert_eq!(used(&mut client), 4, "a VM that is going still counts");
    client.finish(&deletion);
    assert_eq!(used(&mut client), 0);
    validate(&client.exchanges);
}

#[test]
fn spot_has_a_quota_of_its_own_and_sizes_that_cannot_be_spot_are_refused() {
    let quotas = [("lowPriorityCores".to_owned(), 2)].into();
    let mut client =
        Client::with(nodeform::sim::SimulatedAzure { quotas, ..settings() }, Vec::new(), Vec::new());
    let vm = Vm { is_spot: true, ..Vm::new(&client.world, "aks-apps-1") };
    let refused = client.ask_for(&vm);
    assert!(
        refused.value()["error"]["message"].as_str().expect("a message").contains("LowPriorityCores"),
        "{}",
        refused.value()
    );
    let small = Vm { size: "Standard_D2s_v3".to_owned(), ..vm };
    assert_eq!(client.ask_for(&small).status, 201);
}

#[test]
fn a_zone_without_room_is_told_by_the_operation() {
    let rule = Capacity {
        size: Some("standard_d4s_v3".to_owned()),
        zone: Some("1".to_owned()),
        priority: None,
        vms: 0,
    };
    let mut client = Client::with(
        nodeform::sim::SimulatedAzure { capacity: vec![rule], ..settings() },
        Vec::new(),
        Vec::new(),
    );
    let vm = Vm::new(&client.world, "aks-apps-1");
    let answer = client.ask_for(&vm);
    assert_eq!(answer.status, 201, "Azure takes it on first");
    let operation = client.finish(&answer);
    assert_eq!(
        (&operation["status"], &operation["error"]["code"]),
        (&json!("Failed"), &json!("ZonalAllocationFailed"))
    );
    let other = Vm { zone: Some("2".to_owned()), ..Vm::new(&client.world, "aks-apps-2") };
    client.make(&other);
    validate(&client.exchanges);
}

#[test]
fn a_nic_is_kept_for_a_failed_vm_for_three_minutes() {
    let rule = Capacity { size: None, zone: Some("1".to_owned()), priority: None, vms: 0 };
    let mut client = Client::with(
        nodeform::sim::SimulatedAzure { capacity: vec![rule], ..settings() },
        Vec::new(),
        Vec::new(),
    );
    let vm = Vm::new(&client.world, "aks-apps-1");
    let answer = client.ask_for(&vm);
    client.finish(&answer);
    let nic = client.nic_path("aks-apps-1");
    assert_eq!(code(&client.arm("DELETE", &nic)), (400, "NetworkInterfaceInUse".to_owned()));
    let deletion = client.delete_vm("aks-apps-1");
    client.finish(&deletion);
    assert_eq!(code(&client.arm("DELETE", &nic)), (400, "NicReservedForAnotherVm".to_owned()));
    client.pass(180);
    let deletion = client.arm("DELETE", &nic);
    assert_eq!(deletion.status, 202);
    client.pass(10);
    assert_eq!(client.arm("GET", &nic).status, 404);
}

#[test]
fn a_subnet_runs_out_of_addresses_and_gets_them_back() {
    let network = NetworkSettings {
        subnet_prefix: "10.224.0.0/29".to_owned(),
        addresses_in_use: 2,
        ..NetworkSettings::default()
    };
    let mut client =
        Client::with(nodeform::sim::SimulatedAzure { network, ..settings() }, Vec::new(), Vec::new());
    let (first, second) = (client.nic_path("a"), client.nic_path("b"));
    let body = bodies::nic(&client.world, "a");
    assert_eq!(client.arm_json("PUT", &first, &body).status, 201);
    let subnet = format!("{}?api-version=2024-03-01", client.world.settings().subnet_id());
    assert_eq!(
        client.arm("GET", &subnet).value()["properties"]["ipConfigurations"]
            .as_array()
            .expect("a list")
            .len(),
        3
    );
    let refused = client.arm_json("PUT", &second, &bodies::nic(&client.world, "b"));
    assert_eq!(code(&refused), (400, "SubnetIsFull".to_owned()));
    client.pass(10);
    client.arm("DELETE", &first);
    client.pass(10);
    let body = bodies::nic(&client.world, "b");
    assert_eq!(client.arm_json("PUT", &second, &body).status, 201);
    validate(&client.exchanges);
}

#[test]
fn lists_come_in_pages() {
    let mut client =
        Client::with(nodeform::sim::SimulatedAzure { page_size: 2, ..settings() }, Vec::new(), Vec::new());
    for name in ["a", "b", "c", "d", "e"] {
        let (path, body) = (client.nic_path(name), bodies::nic(&client.world, name));
        client.arm_json("PUT", &path, &body);
    }
    let mut names = Vec::new();
    let mut next = client.nic_path("").replace("/?", "?");
    loop {
        let page = client.arm("GET", &next).value();
        names.extend(
            page["value"]
                .as_array()
                .expect("a list")
                .iter()
                .map(|nic| nic["name"].as_str().expect("a name").to_owned()),
        );
        match page["nextLink"].as_str() {
            Some(link) => next = local_path(link),
            None => break,
        }
    }
    assert_eq!(names, ["a", "b", "c", "d", "e"]);
    validate(&client.exchanges);
}

#[test]
fn a_token_ends_and_a_wrong_secret_gets_none() {
    let mut client = Client::new();
    let vm = client.vm_path("nope");
    client.pass(3600);
    let expired = client.arm("GET", &vm);
    assert_eq!(code(&expired), (401, "ExpiredAuthenticationToken".to_owned()));
    assert!(expired.header("www-authenticate").is_some());
    client.sign_in();
    assert_eq!(client.arm("GET", &vm).status, 404);
    let foreign = Request::new("GET", &vm).header("authorization", "Bearer made-up");
    assert_eq!(code(&client.send(&foreign)), (401, "InvalidAuthenticationToken".to_owned()));
    assert_eq!(code(&client.send(&Request::new("GET", &vm))), (401, "AuthenticationFailed".to_owned()));

    let token = |client: &mut Client, tenant: &str, form: &str| {
        let mut request = Request::new("POST", &format!("/{tenant}/oauth2/v2.0/token"));
        request.body = form.as_bytes().to_vec();
        let answer = client.send(&request);
        (answer.status, answer.value()["error"].as_str().unwrap_or_default().to_owned())
    };
    let tenant = "22222222-3333-4444-8555-666666666666";
    let head =
        "grant_type=client_credentials&client_id=33333333-4444-4555-8666-777777777777&scope=x%2F.default";
    assert_eq!(
        token(&mut client, tenant, &format!("{head}&client_secret=wrong")),
        (401, "invalid_client".to_owned())
    );
    let assertion = "client_assertion_type=urn%3Aietf%3Aparams%3Aoauth%3Aclient-assertion-type%3Ajwt-bearer&client_assertion=a.b.c";
    assert_eq!(token(&mut client, tenant, &format!("{head}&{assertion}")), (200, String::new()));
    assert_eq!(token(&mut client, "other", &format!("{head}&{assertion}")).0, 400);
}

#[test]
fn what_the_role_does_not_allow_is_forbidden() {
    let mut permissions = settings().permissions;
    permissions.retain(|action| {
        !action.ends_with("subnets/join/action") && !action.ends_with("virtualMachines/delete")
    });
    let mut client =
        Client::with(nodeform::sim::SimulatedAzure { permissions, ..settings() }, Vec::new(), Vec::new());
    let (nic, body) = (client.nic_path("a"), bodies::nic(&client.world, "a"));
    assert_eq!(code(&client.arm_json("PUT", &nic, &body)), (403, "LinkedAuthorizationFailed".to_owned()));
    let vm = client.vm_path("a");
    assert_eq!(code(&client.arm("DELETE", &vm)), (403, "AuthorizationFailed".to_owned()));
}

#[test]
fn the_identity_that_only_reads_is_refused_all_it_writes_but_its_lease_and_that_is_remembered() {
    let mut client = Client::new();
    let credentials = client.world.credentials().clone();
    let (secret, token) = (credentials.reader_secret, credentials.reader_token);
    let form = format!(
        "grant_type=client_credentials&client_id={}&client_secret={}&scope=x%2F.default",
        client.world.settings().client,
        secret.reveal()
    );
    let mut signing_in =
        Request::new("POST", &format!("/{}/oauth2/v2.0/token", client.world.settings().tenant));
    signing_in.body = form.into_bytes();
    let azure = client.send(&signing_in).value()["access_token"].as_str().expect("a token").to_owned();
    let vm = client.vm_path("a");
    let mut ask = |token: &str, method: &str, target: &str, body: &Value| {
        let request = Request::new(method, target).header("authorization", &format!("Bearer {token}"));
        client.send(&request.json(body)).status
    };
    let claims = "/apis/karpenter.sh/v1/nodeclaims";
    let leases = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases";
    let lease = |name: &str| json!({"metadata": {"name": name, "namespace": "kube-system"}, "spec": {}});
    assert_eq!(ask(&azure, "DELETE", &vm, &Value::Null), 403);
    assert_eq!(ask(&azure, "GET", &vm, &Value::Null), 404);
    let token = token.reveal();
    assert_eq!(ask(token, "GET", claims, &Value::Null), 200);
    assert_eq!(ask(token, "POST", claims, &json!({"metadata": {"name": "a"}})), 403);
    assert_eq!(ask(token, "POST", leases, &lease("karpenter-leader-election")), 403);
    assert_eq!(ask(token, "POST", leases, &lease("nodeform-proposer")), 201);
    let path = vm.split('?').next().expect("a path");
    let refused = [format!("DELETE {path}"), format!("POST {claims}"), format!("POST {leases}")];
    assert_eq!(client.world.state()["refused"], json!(refused));
}

#[test]
fn a_vm_that_cannot_be_is_refused_with_its_reason() {
    let mut client = Client::new();
    let base = Vm::new(&client.world, "aks-apps-1");
    let (nic, nic_body) = (client.nic_path("aks-apps-1"), bodies::nic(&client.world, "aks-apps-1"));
    client.arm_json("PUT", &nic, &nic_body);
    let path = client.vm_path("aks-apps-1");
    let body = base.body(&client.world);
    let cases: [(&str, Value, &str); 9] = [
        ("/location", json!("westeurope"), "LocationNotAvailableForResourceType"),
        ("/zones", json!(["9"]), "InvalidAvailabilityZone"),
        ("/properties/hardwareProfile/vmSize", json!("Standard_X1"), "InvalidParameter"),
        ("/properties/priority", json!("Low"), "InvalidParameter"),
        ("/properties/osProfile/customData", json!("not base64!"), "InvalidParameter"),
        (
            "/properties/storageProfile/imageReference/communityGalleryImageId",
            json!("/CommunityGalleries/x/images/y/versions/1.0.0"),
            "GalleryImageNotFound",
        ),
        ("/properties/storageProfile/osDisk/createOption", json!("Empty"), "InvalidParameter"),
        (
            "/properties/networkProfile/networkInterfaces/0/id",
            json!("/subscriptions/x"),
            "InvalidResourceReference",
        ),
        ("/tags", json!({"a": 1}), "InvalidTagValue"),
    ];
    for (pointer, value, expected) in cases {
        let mut body = body.clone();
        *body.pointer_mut(pointer).expect("the field is there") = value;
        let answer = client.arm_json("PUT", &path, &body);
        assert_eq!(code(&answer).1, expected, "{pointer}: {}", answer.value());
    }
    let mut ephemeral = body.clone();
    ephemeral["properties"]["storageProfile"]["osDisk"]["diffDiskSettings"] =
        json!({"option": "Local", "placement": "CacheDisk"});
    ephemeral["properties"]["storageProfile"]["osDisk"]["caching"] = json!("ReadOnly");
    assert_eq!(
        code(&client.arm_json("PUT", &path, &ephemeral)).1,
        "OperationNotAllowed",
        "128 GB do not fit into 100 GiB"
    );
    let zonal = Vm { size: "Standard_D2as_v6".to_owned(), ..base };
    assert_eq!(
        code(&client.arm_json("PUT", &path, &zonal.body(&client.world))),
        (409, "SkuNotAvailable".to_owned())
    );
    assert_eq!(client.world.state()["virtualMachines"], json!([]));
}

#[test]
fn polling_one_vm_too_often_is_throttled() {
    let mut client = Client::new();
    let vm = client.vm_path("nope");
    let statuses: Vec<u16> = (0..37).map(|_| client.arm("GET", &vm).status).collect();
    assert_eq!((statuses[35], statuses[36]), (404, 429));
    let refused = client.arm("GET", &vm);
    assert_eq!(refused.header("retry-after"), Some("5"));
    client.pass(5);
    assert_eq!(client.arm("GET", &vm).status, 404);
    validate(&client.exchanges);
}

#[test]
fn an_extension_needs_a_running_vm() {
    let mut client = Client::new();
    let vm = Vm::new(&client.world, "aks-apps-1");
    let answer = client.ask_for(&vm);
    let path = client.vm_path("aks-apps-1").replace('?', "/extensions/computeAksLinuxBilling?");
    let body = json!({
        "location": "southcentralus", "tags": {"a": "b"},
        "properties": {"publisher": "Microsoft.AKS", "type": "Compute.AKS.Linux.Billing", "typeHandlerVersion": "1.0", "autoUpgradeMinorVersion": true, "settings": {}},
    });
    assert_eq!(code(&client.arm_json("PUT", &path, &body)), (409, "OperationNotAllowed".to_owned()));
    client.finish(&answer);
    let made = client.arm_json("PUT", &path, &body);
    assert_eq!(client.finish(&made)["status"], "Succeeded");
    assert_eq!(client.arm("GET", &path).value()["properties"]["provisioningState"], "Succeeded");
    let view = client.vm_path("aks-apps-1").replace('?', "/instanceView?");
    assert_eq!(client.arm("GET", &view).value()["statuses"][1]["code"], "PowerState/running");
    let expanded = format!("{}&$expand=instanceView", client.vm_path("aks-apps-1"));
    assert_eq!(client.arm("GET", &expanded).value()["resources"][0]["name"], "computeAksLinuxBilling");
    validate(&client.exchanges);
}

#[test]
fn the_time_that_things_take_is_within_its_range() {
    let mut settings = settings();
    settings.durations.vm_create = Seconds { from: 40, to: 40 };
    settings.durations.boot = Seconds { from: 30, to: 30 };
    let mut client = Client::with(settings, Vec::new(), Vec::new());
    client.put_secret();
    let vm = Vm::new(&client.world, "aks-apps-7");
    client.ask_for(&vm);
    client.pass(39);
    assert_eq!(client.state("virtualMachines", "aks-apps-7").expect("it is there")["state"], "Creating");
    client.pass(1);
    assert_eq!(client.state("virtualMachines", "aks-apps-7").expect("it is there")["state"], "Succeeded");
    client.pass(29);
    assert_eq!(client.state("nodes", "aks-apps-7"), None);
    client.pass(1);
    assert!(client.state("nodes", "aks-apps-7").is_some());
}
