//! The ten faults.

use nodeform::sim::{
    FaultKind, FaultRule, FaultsFile, Request, Response, SimulatedAzure, Start, When, World,
};
use serde_json::json;

use crate::sim::bodies::{self, Vm};
use crate::sim::client::{Client, settings, validate};

fn fault(kind: FaultKind) -> FaultRule {
    FaultRule {
        kind,
        when: When::default(),
        times: Some(1),
        seconds: None,
        status: None,
        code: None,
        message: None,
    }
}

fn with(fault: FaultRule) -> Client {
    let mut client = Client::with(settings(), Vec::new(), vec![fault]);
    client.put_secret();
    client
}

fn vm(client: &Client, name: &str) -> Vm {
    Vm::new(&client.world, name)
}

#[test]
fn zone_full() {
    let mut client = with(FaultRule {
        when: When { zone: Some("1".to_owned()), ..When::default() },
        times: None,
        ..fault(FaultKind::ZoneFull)
    });
    let answer = client.ask_for(&vm(&client, "a"));
    assert_eq!(client.finish(&answer)["error"]["code"], "ZonalAllocationFailed");
    assert_eq!(client.state("virtualMachines", "a").expect("it stays")["state"], "Failed");
    let other = Vm { zone: Some("2".to_owned()), ..vm(&client, "b") };
    client.make(&other);
    let regional = Vm { zone: None, ..vm(&client, "c") };
    client.make(&regional);
    client.pass(90);
    assert_eq!(
        client.kube("GET", "/api/v1/nodes/c", None).value()["metadata"]["labels"]["topology.kubernetes.io/zone"],
        "0"
    );
    validate(&client.exchanges);
}

#[test]
fn quota_exceeded() {
    let mut client = with(fault(FaultKind::QuotaExceeded));
    let answer = client.ask_for(&vm(&client, "a"));
    assert_eq!((answer.status, &answer.value()["error"]["code"]), (409, &json!("OperationNotAllowed")));
    assert!(
        answer.value()["error"]["message"]
            .as_str()
            .expect("a message")
            .contains("standardDSv3Family Cores quota")
    );
    assert_eq!(client.ask_for(&vm(&client, "a")).status, 201, "once only");
}

#[test]
fn throttled() {
    let when = When {
        method: Some("GET".to_owned()),
        resource: Some("virtualMachines".to_owned()),
        nth: Some(2),
        ..When::default()
    };
    let mut client = with(FaultRule { when, seconds: Some(17), ..fault(FaultKind::Throttled) });
    let path = client.vm_path("a");
    assert_eq!(client.arm("GET", &path).status, 404);
    let refused = client.arm("GET", &path);
    assert_eq!((refused.status, refused.header("retry-after")), (429, Some("17")));
    assert_eq!(client.arm("GET", &path).status, 404);
}

#[test]
fn answer_lost() {
    let when = When {
        method: Some("PUT".to_owned()),
        resource: Some("virtualMachines".to_owned()),
        ..When::default()
    };
    let mut client = with(FaultRule { when, ..fault(FaultKind::AnswerLost) });
    let asked = vm(&client, "a");
    let (nic, body) = (client.nic_path("a"), bodies::nic(&client.world, "a"));
    client.arm_json("PUT", &nic, &body);
    let request = client
        .signed("PUT", &client.vm_path("a"))
        .json(&asked.body(&client.world))
        .header("if-none-match", "*");
    assert!(matches!(client.exchange(&request), Response::Lost));
    assert_eq!(client.send(&request).status, 412, "the first one was carried out");
    client.pass(600);
    assert!(client.state("nodes", "a").is_some());
}

#[test]
fn late_success() {
    let mut client = with(FaultRule { seconds: Some(100), ..fault(FaultKind::LateSuccess) });
    let answer = client.ask_for(&vm(&client, "a"));
    assert_eq!(client.finish(&answer)["status"], "Failed");
    assert_eq!(client.state("virtualMachines", "a").expect("it stays")["state"], "Failed");
    client.pass(100);
    assert_eq!(client.state("virtualMachines", "a").expect("it stays")["state"], "Succeeded");
    client.pass(90);
    assert!(client.state("nodes", "a").is_some());
}

#[test]
fn a_late_vm_that_was_deleted_in_time_never_comes() {
    let mut client = with(FaultRule { seconds: Some(300), ..fault(FaultKind::LateSuccess) });
    let answer = client.ask_for(&vm(&client, "a"));
    client.finish(&answer);
    let deletion = client.delete_vm("a");
    client.finish(&deletion);
    client.pass(600);
    assert_eq!(client.world.state()["virtualMachines"], json!([]));
}

#[test]
fn never_joins() {
    let mut client = with(FaultRule {
        when: When { pool: Some("apps".to_owned()), ..When::default() },
        ..fault(FaultKind::NeverJoins)
    });
    client.make(&vm(&client, "a"));
    client.pass(3000);
    assert_eq!(client.state("nodes", "a"), None);
    assert_eq!(client.world.state()["notJoined"][0]["because"], "a fault keeps it from joining");
    client.sign_in();
    client.make(&vm(&client, "b"));
    client.pass(90);
    assert!(client.state("nodes", "b").is_some());
}

#[test]
fn nic_held() {
    let mut client = with(FaultRule { seconds: Some(900), ..fault(FaultKind::NicHeld) });
    let answer = client.ask_for(&vm(&client, "a"));
    assert_eq!(client.finish(&answer)["status"], "Failed");
    let deletion = client.delete_vm("a");
    client.finish(&deletion);
    client.pass(300);
    let nic = client.nic_path("a");
    assert_eq!(client.arm("DELETE", &nic).value()["error"]["code"], "NicReservedForAnotherVm");
    client.pass(600);
    assert_eq!(client.arm("DELETE", &nic).status, 202);
}

#[test]
fn list_cut_short() {
    let rule = FaultRule {
        when: When { resource: Some("networkInterfaces".to_owned()), ..When::default() },
        ..fault(FaultKind::ListCutShort)
    };
    let settings = nodeform::sim::SimulatedAzure { page_size: 1, ..settings() };
    let mut client = Client::with(settings, Vec::new(), vec![rule]);
    for name in ["a", "b"] {
        let (path, body) = (client.nic_path(name), bodies::nic(&client.world, name));
        client.arm_json("PUT", &path, &body);
    }
    let list = client.nic_path("").replace("/?", "?");
    let first = client.arm("GET", &list).value();
    assert_eq!((first["value"].as_array().map(Vec::len), first.get("nextLink")), (Some(1), None));
    assert!(client.arm("GET", &list).value()["nextLink"].is_string(), "once only");
}

#[test]
fn operation_stuck() {
    let mut client = with(FaultRule {
        when: When { method: Some("PUT".to_owned()), ..When::default() },
        ..fault(FaultKind::OperationStuck)
    });
    let answer = client.ask_for(&vm(&client, "a"));
    assert_eq!(answer.status, 201);
    client.pass(3000);
    assert_eq!(client.state("virtualMachines", "a").expect("it stays")["state"], "Creating");
    client.sign_in();
    let deletion = client.delete_vm("a");
    assert_eq!(client.finish(&deletion)["status"], "Succeeded", "a deletion takes its place");
}

#[test]
fn spot_eviction() {
    let mut client = with(FaultRule { seconds: Some(200), times: None, ..fault(FaultKind::SpotEviction) });
    let spot = Vm { is_spot: true, ..vm(&client, "spot") };
    client.make(&spot);
    client.make(&vm(&client, "regular"));
    client.pass(400);
    assert_eq!(client.state("virtualMachines", "spot"), None);
    assert_eq!(client.state("networkInterfaces", "spot"), None);
    assert_eq!(client.state("nodes", "spot"), None);
    assert!(client.state("nodes", "regular").is_some());
}

#[test]
fn a_spot_vm_that_runs_is_taken_back_by_a_fault_that_comes_later() {
    let mut client = Client::new();
    let spot = Vm { is_spot: true, ..vm(&client, "spot") };
    client.make(&spot);
    let body = json!({"apiVersion": "nodeform.dev/v1alpha1", "kind": "SimulatedFaults", "spec": {"faults": [{"kind": "SpotEviction", "times": 1}]}});
    let answer = client.send(&Request::new("POST", "/sim/faults").json(&body));
    assert_eq!((answer.status, answer.value()), (200, json!({"added": 1})));
    client.pass(1);
    assert_eq!(client.state("virtualMachines", "spot"), None);
}

#[test]
fn a_document_of_faults_is_read_whole_or_refused_with_all_that_is_wrong() {
    let good = json!({"faults": [{"kind": "ZoneFull", "when": {"zone": "1", "nth": 2}, "times": 3}]});
    assert_eq!(FaultsFile::read(&good).expect("it is valid").faults[0].when.nth, Some(2));
    let bad = json!({"faults": [{"kind": "ZoneFull", "when": {"zoen": "1"}, "tims": 3}], "fault": []});
    let told: Vec<String> =
        FaultsFile::read(&bad).expect_err("it is not").iter().map(ToString::to_string).collect();
    assert_eq!(
        told,
        [
            "spec.fault: unknown field; did you mean `faults`?",
            "spec.faults[0].tims: unknown field; did you mean `times`?",
            "spec.faults[0].when.zoen: unknown field; did you mean `zone`?",
        ]
    );
    let unknown =
        FaultsFile::read(&json!({"faults": [{"kind": "Zonefull"}]})).expect_err("there is no such kind");
    assert!(unknown[0].to_string().starts_with("spec.faults: unknown variant `Zonefull`"), "{}", unknown[0]);
}

#[test]
fn rules_and_settings_that_name_what_the_world_does_not_have_are_refused_all_at_once() {
    let pool =
        json!({"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": "general-purpose"}});
    let rules = json!({"faults": [
        {"kind": "ZoneFull", "when": {"zone": "southcentralus-1"}},
        {"kind": "ZoneFull", "when": {"zone": "9", "size": "Standard_D4s_v33"}},
        {"kind": "Throttled", "when": {"method": "put", "resource": "virtualMachine"}},
        {"kind": "AnswerLost", "when": {"pool": "general-purpos", "afterSeconds": 60, "untilSeconds": 60}},
        {"kind": "ZoneFull", "when": {"zone": "1", "size": "standard_d4s_v3", "method": "PUT", "resource": "virtualMachines"}},
    ]});
    let file = FaultsFile::read(&rules).expect("its form is right");
    let settings = SimulatedAzure::read(&json!({
        "location": "southcentralus", "quotas": {"standardDSv33Family": 10, "cores": 20},
        "durations": {"boot": {"from": 3, "to": 2}},
        "capacity": [{"size": "Standard_D4s_v3", "zone": "4", "priority": "spott", "vms": 1}],
    }));
    let start = Start {
        settings: settings.expect("its form is right"),
        skus: crate::sim::client::skus(),
        manifests: vec![pool.clone()],
        faults: file.clone(),
        ..Start::default()
    };
    let told: Vec<String> =
        World::new(start).expect_err("eleven are impossible").iter().map(ToString::to_string).collect();
    let of_rules = [
        "spec.faults[0].when.zone: `southcentralus-1` is a zone of nodes, and Azure's is wanted: did you mean `1`?",
        "spec.faults[1].when.size: `Standard_D4s_v33` is no size in `southcentralus`; did you mean `Standard_D4s_v3`?",
        "spec.faults[1].when.zone: `9` is no zone of `southcentralus`, which has `1`, `2`, `3`",
        "spec.faults[2].when.method: `put` is no method of ARM; did you mean `PUT`?",
        "spec.faults[2].when.resource: `virtualMachine` is no type that the simulated Azure has; did you mean `virtualMachines`?",
        "spec.faults[3].when.pool: `general-purpos` is no NodePool of the world; did you mean `general-purpose`?",
        "spec.faults[3].when.untilSeconds: must be more than `afterSeconds`, 60: it never acts else",
    ];
    let of_settings = [
        "spec.capacity[0].zone: `4` is no zone of `southcentralus`, which has `1`, `2`, `3`",
        "spec.capacity[0].priority: `spott` is no priority; did you mean `Spot`?",
        "spec.quotas.standardDSv33Family: `standardDSv33Family` is no family of the SKU list; did you mean `standardDSv3Family`?",
        "spec.durations.boot: `from`, 3, must not be more than `to`, 2",
    ];
    assert_eq!(told, [&of_settings[..], &of_rules[..]].concat());

    // Faults that are added later are looked at alike.
    let mut client = Client::with(crate::sim::client::settings(), vec![pool], Vec::new());
    let request = Request::new("POST", "/sim/faults").json(&rules);
    let answer = client.send(&request);
    assert_eq!(answer.status, 400);
    assert_eq!(answer.value()["faults"], json!(of_rules));
}
