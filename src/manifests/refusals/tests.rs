//! Parsing the messages of Karpenter's Azure provider.

use crate::manifests::{Objects, Source, read};
use crate::model::Refusal;

fn objects(text: &str) -> Objects {
    read(vec![Source::new("dump.yaml", text.as_bytes())]).expect("no fault")
}

fn shown(refusals: &[Refusal]) -> Vec<String> {
    let line = |refusal: &Refusal| {
        let Refusal { size, place, capacity_type, because, said: _, until } = refusal;
        let size = size.as_ref().map_or("every size", |size| size.as_str());
        let bought = capacity_type.map_or("any", |bought| bought.as_str());
        format!("{size} {place:?} {bought} {because} {until}")
    };
    refusals.iter().map(line).collect()
}

/// An Event of core v1 about a NodeClaim, last seen at 09:00.
fn event(name: &str, reason: &str, message: &str) -> String {
    format!(
        "apiVersion: v1\nkind: Event\nmetadata: {{name: {name}, namespace: default}}\nreason: {reason}\n\
         involvedObject: {{apiVersion: karpenter.sh/v1, kind: NodeClaim, name: default-x}}\n\
         message: {message:?}\nfirstTimestamp: 2026-11-21T08:00:00Z\nlastTimestamp: 2026-11-21T09:00:00Z\n---\n"
    )
}

#[test]
fn every_sentence_of_the_provider_is_read_with_its_scope_and_its_time() {
    let table = [
        (
            "this subscription has reached the regional vCPU quota for spot (LowPriorityQuota). To scale beyond this \
             limit, please review the quota increase process here",
            "every size Everywhere spot SubscriptionQuotaReached 2026-11-21T10:00:00Z",
        ),
        (
            "subscription level on-demand vCPU quota for Standard_D4s_v5 has been reached (may try provision an \
             alternative instance type)",
            "Standard_D4s_v5 Everywhere on-demand SubscriptionQuotaReached 2026-11-21T09:10:00Z",
        ),
        (
            "the requested SKU is unavailable for instance type Standard_D4s_v5 in zone westeurope-1 with capacity \
             type spot, for more details please visit: https://aka.ms/azureskunotavailable",
            "Standard_D4s_v5 EveryZone spot SKUNotAvailable 2026-11-21T10:00:00Z",
        ),
        (
            "the requested SKU is unavailable for instance type Standard_D4s_v5 in zone  with capacity type on-demand, \
             for more details",
            "Standard_D4s_v5 Zone(\"0\") on-demand SKUNotAvailable 2026-11-22T08:00:00Z",
        ),
        (
            "unable to allocate resources in the selected zone (westeurope-2). (will try a different zone to fulfill \
             your request)",
            "every size Zone(\"westeurope-2\") any ZonalAllocationFailure 2026-11-21T10:00:00Z",
        ),
        (
            "unable to allocate resources with selected VM size (Standard_D4s_v5). (will try a different VM size to \
             fulfill your request)",
            "Standard_D4s_v5 Everywhere any AllocationFailure 2026-11-21T10:00:00Z",
        ),
        (
            "unable to allocate resources in the selected zone (westeurope-2) with spot capacity type and \
             Standard_D4s_v5 VM size. (will try a different zone, capacity type or VM size to fulfill your request)",
            "Standard_D4s_v5 Zone(\"westeurope-2\") spot OverconstrainedZonalAllocationFailure \
             2026-11-21T10:00:00Z",
        ),
        (
            "unable to allocate resources in all zones with on-demand capacity type and Standard_D4s_v5 VM size. (will \
             try a different capacity type or VM size to fulfill your request)",
            "Standard_D4s_v5 Everywhere on-demand OverconstrainedAllocationFailure 2026-11-21T10:00:00Z",
        ),
        (
            "VM size Standard_D4s_v5 is not supported for this subscription in this location, for more details",
            "Standard_D4s_v5 Everywhere any SKUNotAvailable 2026-11-22T08:00:00Z",
        ),
    ];
    for (message, expected) in table {
        let told =
            event("a", "AsyncProvisioningError", &format!("Failed to register: creating failed, {message}"));
        assert_eq!(shown(&objects(&told).refusals), [expected], "{message}");
    }
}

#[test]
fn other_events_tell_nothing_and_are_passed_over() {
    let message = "unable to allocate resources with selected VM size (Standard_D4s_v5). (will";
    let told = [
        event(
            "a",
            "InsufficientCapacityError",
            "NodeClaim x event: all requested instance types were unavailable",
        ),
        event(
            "b",
            "InsufficientCapacityError",
            "regional on-demand vCPU quota limit for subscription has been reached",
        ),
        event(
            "c",
            "AsyncProvisioningError",
            "unable to allocate resources with selected VM size (Standard_D4",
        ),
        event("d", "AsyncProvisioningError", "unable to allocate resources with selected VM size ()."),
        event("e", "Broken", message).replace("NodeClaim", "Pod"),
        event("f", "Timeless", message).replace("2026-11-21T", "at some time "),
        "apiVersion: v1\nkind: Event\nmetadata: []\nmessage: {a: 1}\ninvolvedObject: 5\n---\n".to_owned(),
        "apiVersion: events.k8s.io/v1beta1\nkind: Event\nmetadata: {name: g}\n---\n".to_owned(),
        "apiVersion: v1\nkind: Event\n".to_owned(),
    ];
    let objects = objects(&told.concat());
    assert_eq!(objects.refusals, []);
    assert_eq!(objects.passed_over["Event"], 9);
}

#[test]
fn the_same_refusal_is_kept_once_with_the_latest_time_whatever_the_order() {
    let message = "unable to allocate resources with selected VM size (Standard_D4s_v5). (will try";
    let first = event("a", "AsyncProvisioningError", message);
    let later = first.replace("T09:00", "T09:30");
    let new = "apiVersion: events.k8s.io/v1\nkind: Event\nmetadata: {name: a, namespace: default}\n\
               regarding: {kind: NodeClaim, name: default-x}\n\
               note: unable to allocate resources with selected VM size (Standard_D4s_v5). (will try\n\
               eventTime: \"2026-11-21T09:10:00.000000Z\"\nseries: {lastObservedTime: \"2026-11-21T09:20:00.123456Z\"}\n---\n";
    let one = objects(&[&first, &later, new].concat());
    assert_eq!(one.refusals, objects(&[new, &later, &first].concat()).refusals);
    assert_eq!(
        shown(&one.refusals),
        ["Standard_D4s_v5 Everywhere any AllocationFailure 2026-11-21T10:30:00Z"]
    );
    assert_eq!(
        shown(&objects(new).refusals),
        ["Standard_D4s_v5 Everywhere any AllocationFailure 2026-11-21T10:20:00.123456Z"]
    );
}

/// A NodeClaim that requires one size in one zone and was not launched.
fn claim(status: &str, message: &str) -> String {
    format!(
        "apiVersion: karpenter.sh/v1\nkind: NodeClaim\nmetadata: {{name: default-x}}\nspec:\n  nodeClassRef: {{group: \
         karpenter.azure.com, kind: AKSNodeClass, name: default}}\n  requirements:\n  - {{key: \
         node.kubernetes.io/instance-type, operator: In, values: [Standard_D8s_v5]}}\n  - {{key: \
         topology.kubernetes.io/zone, operator: In, values: [westeurope-3]}}\nstatus:\n  conditions:\n  - {{type: \
         Launched, status: {status:?}, reason: CreateInstanceFailed, message: {message:?}, lastTransitionTime: \
         2026-11-21T09:00:00Z}}\n---\n"
    )
}

#[test]
fn a_claim_that_was_not_launched_tells_why_and_names_what_the_sentence_leaves_out() {
    let zonal =
        "creating instance failed, unable to allocate resources in the selected zone (westeurope-3). (will";
    assert_eq!(
        shown(&objects(&claim("Unknown", zonal)).refusals),
        ["Standard_D8s_v5 Zone(\"westeurope-3\") any ZonalAllocationFailure 2026-11-21T10:00:00Z"]
    );
    let anywhere = "unable to allocate resources with selected VM size (Standard_D8s_v5). (will";
    assert_eq!(
        shown(&objects(&claim("False", anywhere)).refusals),
        ["Standard_D8s_v5 EveryZone any AllocationFailure 2026-11-21T10:00:00Z"]
    );
    assert_eq!(objects(&claim("True", anywhere)).refusals, []);
    let of_its_event = claim("True", "") + &event("a", "AsyncProvisioningError", zonal);
    assert_eq!(
        shown(&objects(&of_its_event).refusals),
        ["Standard_D8s_v5 Zone(\"westeurope-3\") any ZonalAllocationFailure 2026-11-21T10:00:00Z"]
    );
}

#[test]
fn nothing_of_a_message_is_kept_but_what_it_says_of_a_refusal() {
    let message = "PUT https://management.azure.com/subscriptions/secret, unable to allocate resources with selected \
                   VM size (Standard_D8s_v5). Secret";
    assert_eq!(super::part(message), "unable to allocate resources with selected VM size (Standard_D8s_v5)");
    assert_eq!(super::part("subscriptions/secret"), "");
}
