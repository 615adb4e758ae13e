use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::{World, list_of};

const CLAIMS: &str = "/apis/karpenter.sh/v1/nodeclaims";

fn at(seconds: i64) -> Timestamp {
    Timestamp::UNIX_EPOCH + SignedDuration::from_secs(seconds)
}

fn claim(name: &str, version: u32) -> Value {
    json!({"kind": "NodeClaim", "metadata": {"name": name, "uid": name, "resourceVersion": version.to_string()}})
}

fn page(version: u32, claims: &[(&str, u32)]) -> Vec<Vec<u8>> {
    let items: Vec<Value> = claims.iter().map(|(name, version)| claim(name, *version)).collect();
    let metadata = json!({"resourceVersion": version.to_string()});
    vec![json!({"kind": "NodeClaimList", "metadata": metadata, "items": items}).to_string().into_bytes()]
}

/// Returns the names and versions of the known objects.
fn known(world: &World) -> String {
    let listing = world.listing(CLAIMS).expect("it was listed");
    let objects = listing.objects().map(|text| serde_json::from_str::<Value>(text).unwrap());
    let texts = objects.map(|object| {
        format!(
            "{}@{}",
            object["metadata"]["name"].as_str().unwrap(),
            object["metadata"]["resourceVersion"].as_str().unwrap()
        )
    });
    texts.collect::<Vec<_>>().join(" ")
}

#[test]
fn what_was_written_is_seen_at_once_and_against_lists_from_before() {
    let mut world = World::default();
    world.listed(CLAIMS, &page(10, &[("a", 5), ("b", 6)]), at(0)).unwrap();
    world.wrote(&format!("{CLAIMS}/a/status"), &claim("a", 12), at(1));
    world.wrote(CLAIMS, &claim("c", 13), at(1));
    assert_eq!(known(&world), "a@12 b@6 c@13");
    world.listed(CLAIMS, &page(11, &[("a", 5), ("b", 11)]), at(2)).unwrap();
    assert_eq!(known(&world), "a@12 b@11 c@13");
    world.listed(CLAIMS, &page(14, &[("b", 11), ("c", 13)]), at(3)).unwrap();
    assert_eq!(known(&world), "b@11 c@13", "somebody deleted `a` since");
}

#[test]
fn a_list_that_comes_late_brings_nothing_back() {
    let mut world = World::default();
    world.listed(CLAIMS, &page(20, &[("a", 5)]), at(0)).unwrap();
    world.listed(CLAIMS, &page(10, &[("a", 4), ("gone", 3)]), at(1)).unwrap();
    assert_eq!(known(&world), "a@5");
}

#[test]
fn an_answer_that_comes_late_does_not_undo_a_later_change() {
    let mut world = World::default();
    world.listed(CLAIMS, &page(20, &[("a", 15)]), at(0)).unwrap();
    world.wrote(&format!("{CLAIMS}/a"), &claim("a", 12), at(1));
    world.wrote(&format!("{CLAIMS}/gone"), &claim("gone", 14), at(1));
    assert_eq!(known(&world), "a@15", "a list from after that does not hold it");
}

#[test]
fn after_a_restored_backup_lists_count_again_within_minutes() {
    let mut world = World::default();
    world.listed(CLAIMS, &page(900, &[("a", 800), ("b", 801)]), at(0)).unwrap();
    world.listed(CLAIMS, &page(50, &[("a", 40)]), at(10)).unwrap();
    assert_eq!(known(&world), "a@800 b@801");
    world.listed(CLAIMS, &page(60, &[("a", 40)]), at(301)).unwrap();
    assert_eq!(known(&world), "a@40");
}

#[test]
fn an_api_server_that_does_not_count_is_believed_by_its_last_list() {
    let mut world = World::default();
    let list = |name: &str| {
        let items = [json!({"metadata": {"name": name, "resourceVersion": "opaque"}})];
        vec![json!({"items": items}).to_string().into_bytes()]
    };
    world.listed(CLAIMS, &list("a"), at(0)).unwrap();
    world.listed(CLAIMS, &list("b"), at(1)).unwrap();
    assert_eq!(known(&world), "b@opaque");
}

#[test]
fn what_is_no_list_changes_nothing() {
    let mut world = World::default();
    world.listed(CLAIMS, &page(10, &[("a", 5)]), at(0)).unwrap();
    world.listed(CLAIMS, &[b"<html>".to_vec()], at(1)).unwrap_err();
    world.wrote(&format!("{CLAIMS}/a"), &json!({"kind": "Status", "metadata": {}}), at(1));
    world.wrote("/api/v1/pods", &claim("a", 30), at(1));
    assert_eq!(known(&world), "a@5");
    assert!(world.listing("/api/v1/pods").is_none(), "one object is not all of them");
}

#[test]
fn objects_keep_all_but_their_managed_fields_and_those_without_a_name_are_handed_on() {
    let mut world = World::default();
    let items = json!([{"metadata": {"name": "a", "managedFields": [{}], "labels": {"k": "v"}}, "spec": {"n": 1.0}}, 7]);
    let page = json!({"kind": "PodList", "apiVersion": "v1", "items": items}).to_string().into_bytes();
    world.listed("/api/v1/pods", &[page], at(0)).unwrap();
    let pages = world.listing("/api/v1/pods").unwrap().pages();
    assert_eq!(
        String::from_utf8(pages.concat()).unwrap(),
        r#"{"apiVersion":"v1","kind":"PodList","items":[{"metadata":{"labels":{"k":"v"},"name":"a"},"spec":{"n":1.0}},7]}"#
    );
}

#[test]
fn a_path_leads_to_the_list_of_its_kind() {
    let found = |path: &str| list_of(path).unwrap_or_default();
    assert_eq!(found("/api/v1/namespaces/web/pods/a"), "/api/v1/pods");
    assert_eq!(found("/api/v1/namespaces/web/pods/a/status"), "/api/v1/pods");
    assert_eq!(found("/api/v1/namespaces/web"), "/api/v1/namespaces");
    assert_eq!(found("/api/v1/namespaces/web/status"), "/api/v1/namespaces");
    assert_eq!(found("/api/v1/nodes/n1"), "/api/v1/nodes");
    assert_eq!(found(&format!("{CLAIMS}/a/status")), CLAIMS);
    assert_eq!(found("/api/v1/namespaces/web/pods/a/eviction"), "", "an Eviction is no pod");
    assert_eq!(found("/version"), "");
}
