//! Rights are taken from nodeform's role and given back, one after another: what it may not do waits, what it may not read is
//! unknown and deletes nothing, and once it may again it goes on.

use serde_json::{Value, json};

use super::audit::{self, Asked};
use super::bed::{Bed, CLAIMS, names};
use super::disturbed::settles;
use super::workload::Workload;

const ROLE: &str = "/apis/rbac.authorization.k8s.io/v1/clusterroles/nodeform";

/// A resource, a verb, and how many pods there are to be meanwhile.
const RIGHTS: [(&str, &str, usize); 4] = [
    ("nodeclaims", "list", 0),
    ("nodeclaims/status", "patch", 5),
    ("pods", "list", 0),
    ("leases", "update", 5),
];

/// Takes each away, has something to do, waits until it was refused, and gives it back.
pub(super) fn are_taken_and_given_back(bed: &Bed, inflate: &Workload) {
    let eyes = &inflate.eyes;
    let mut whole = eyes.api.get(ROLE);
    whole["metadata"].as_object_mut().expect("it has some").remove("resourceVersion");
    for (resource, verb, pods) in RIGHTS {
        let before = refused(bed, (resource, verb));
        eyes.api.replace(ROLE, &without(&whole, (resource, verb)));
        let claims = names(&eyes.items(CLAIMS));
        inflate.scale(pods);
        eyes.wait(&format!("it may not {verb} {resource}"), || refused(bed, (resource, verb)) > before);
        if verb == "list" {
            eyes.after_rounds(2);
            assert_eq!(names(&eyes.items(CLAIMS)), claims, "what may not be read deletes nothing");
        }
        eyes.api.replace(ROLE, &whole);
        settles(inflate, pods);
    }
    inflate.scaled(0);
    eyes.only_the_system_node_is_left();
}

/// How often this was refused.
fn refused(bed: &Bed, (resource, verb): (&str, &str)) -> usize {
    let is_it = |asked: &Asked| asked.code == 403 && asked.resource == resource && asked.verb == verb;
    audit::asked(bed).into_iter().filter(is_it).count()
}

/// The role without the rules' hold on a resource that give the verb.
fn without(role: &Value, (resource, verb): (&str, &str)) -> Value {
    let mut role = role.clone();
    let rules = role["rules"].as_array_mut().expect("rules");
    let before = rules.clone();
    for rule in rules.iter_mut().filter(|rule| has(rule, "verbs", verb)) {
        let resources = rule["resources"].as_array().cloned().unwrap_or_default();
        let left: Vec<Value> = resources.into_iter().filter(|known| *known != resource).collect();
        rule["resources"] = json!(left);
    }
    rules.retain(|rule| rule["resources"] != json!([]));
    assert_ne!(*rules, before, "the role lets it {verb} {resource}");
    role
}

fn has(rule: &Value, field: &str, value: &str) -> bool {
    rule[field].as_array().is_some_and(|values| values.iter().any(|known| known == value))
}
