//! Requests of a live plan, verbatim where it matters.

use super::{Attempt, RequestFault, Start, billing, claim, nic, vm};
use crate::launch::tests::world::{OBJECTS, planned};
use crate::model::Secret;
use crate::plan::{ChangeId, Plan};

fn start() -> Start {
    Start { ssh_public_key: "ssh-ed25519 AAAA".to_owned(), custom_data: Secret::new("canary".to_owned()) }
}

fn created(plan: &Plan) -> ChangeId {
    plan.spec.creates().next().expect("a node is made").0.clone()
}

#[test]
fn nic_vm_and_extension_have_one_name_and_the_marks_of_their_change() {
    let plan = planned(OBJECTS);
    let (change, id) = (created(&plan), plan.id());
    let attempt = Attempt { spec: &plan.spec, plan: &id, change: &change, choice: 0, number: 1 };
    let nic = nic(&attempt).expect("it can be built");
    let vm = vm(&attempt, &start()).expect("it can be built");
    let billing = billing(&attempt).expect("it can be built");
    let name = format!("aks-apps-{change}");
    assert!(nic.path.ends_with(&format!("/networkInterfaces/{name}")), "{}", nic.path);
    assert!(vm.path.ends_with(&format!("/virtualMachines/{name}")) && vm.only_if_absent, "{}", vm.path);
    assert!(billing.path.ends_with(&format!("{name}/extensions/computeAksLinuxBilling")), "{}", billing.path);
    for request in [&nic, &vm, &billing] {
        let tags = &request.body.as_ref().expect("a body").shown()["tags"];
        assert_eq!(tags["nodeform.dev_cluster"], "99999999-0000-4000-8000-000000000000");
        assert_eq!(tags["nodeform.dev_item"], change.to_string());
        assert_eq!(tags["nodeform.dev_plan"], id);
        assert_eq!(tags["karpenter.sh_nodepool"], "apps");
    }
    let body = vm.body.expect("a body");
    let shown = body.shown();
    let choice =
        &plan.spec.execution.as_ref().expect("it is live").launches.values().next().expect("one").choices[0];
    assert_eq!(shown["properties"]["hardwareProfile"]["vmSize"], choice.choice.size.as_str());
    assert_eq!(shown["properties"]["priority"], "Regular");
    assert!(!format!("{body:?}").contains("canary"), "a secret is shown");
    assert!(body.reveal().reveal().contains("canary"));
}

#[test]
fn a_later_attempt_has_a_vm_of_its_own_name() {
    let plan = planned(OBJECTS);
    let (change, id) = (created(&plan), plan.id());
    let attempt = Attempt { spec: &plan.spec, plan: &id, change: &change, choice: 1, number: 2 };
    let vm = vm(&attempt, &start()).expect("it can be built");
    assert!(vm.path.ends_with(&format!("/virtualMachines/aks-apps-{change}-2")), "{}", vm.path);
    let beyond = Attempt { choice: 20, ..attempt };
    assert_eq!(nic(&beyond).err(), Some(RequestFault::NoChoice(change, 20)));
}

#[test]
fn the_claim_says_whose_it_is_and_belongs_to_no_object() {
    let plan = planned(OBJECTS);
    let (change, id) = (created(&plan), plan.id());
    let claim = claim(&plan.spec, &change, &id).expect("it can be built");
    let metadata = &claim["metadata"];
    assert_eq!(metadata["finalizers"], serde_json::json!(["karpenter.sh/termination"]));
    assert_eq!(metadata["ownerReferences"], serde_json::Value::Null);
    let annotations = &metadata["annotations"];
    assert_eq!(annotations["nodeform.dev/item"], change.to_string());
    assert_eq!(annotations["karpenter.azure.com/aksnodeclass-hash-version"], "v3");
    assert_eq!(claim["spec"]["terminationGracePeriod"], "10m");
    assert_eq!(claim["spec"]["nodeClassRef"]["name"], "default");
    assert_eq!(crate::policy::admission_faults(crate::api::Kind::NodeClaim, &claim), []);
}
