//! What stays of the ledger once a plan is carried out: what somebody may still ask for, and nothing else.

use jiff::{SignedDuration, Timestamp};
use nodeform::ledger::{CHUNKS, Changes, Entry, PLANS, Written, name, objects};
use nodeform::model::Digest;
use serde_json::{Value, json};

use crate::program::Program;

const WORLD: &str = include_str!("world.yaml");

/// A plan that was written down so many hours ago and has ended, with its chunks.
struct Past {
    content: Value,
    parent: Option<Digest>,
    hours: i64,
}

impl Past {
    fn digest(&self) -> Digest {
        Digest::of_json(&self.content).expect("it is JSON")
    }

    /// Its objects as documents of a world.
    fn documents(&self) -> String {
        self.objects(true)
    }

    /// The same where the process ended before it wrote the NodePlan.
    fn chunks(&self) -> String {
        self.objects(false)
    }

    fn objects(&self, with_plan: bool) -> String {
        let created = Timestamp::now() - SignedDuration::from_hours(self.hours);
        let entry = Entry {
            digest: self.digest(),
            parent: self.parent,
            cluster: None,
            class: None,
            monthly_delta: None,
            expires_at: Some(created + SignedDuration::from_hours(4)),
            folder: None,
            needs_approval: false,
            is_automatic: false,
            changes: Changes::default(),
            text: self.content.to_string(),
        };
        let objects = objects(&entry).expect("it is small").into_iter();
        let objects = objects.filter(|written| with_plan || written.at == CHUNKS);
        let objects = objects.map(|Written { mut object, .. }| {
            object["metadata"]["creationTimestamp"] =
                json!(created.strftime("%Y-%m-%dT%H:%M:%SZ").to_string());
            if object["spec"]["chunks"].is_number() {
                object["status"] = json!({"phase": "Done"});
            }
            format!("---\n{object}\n")
        });
        objects.collect()
    }
}

#[tokio::test]
async fn what_ended_more_than_a_week_ago_goes_with_its_text_as_do_chunks_of_no_plan_and_what_is_younger_stays()
 {
    let old = Past { content: json!("é".repeat(200_000)), parent: None, hours: 24 * 8 };
    let young = Past { content: json!(2), parent: Some(old.digest()), hours: 24 * 6 };
    let orphan = Past { content: json!(3), parent: None, hours: 25 };
    let begun = Past { content: json!(4), parent: None, hours: 23 };
    let world =
        format!("{WORLD}{}{}{}{}", old.documents(), young.documents(), orphan.chunks(), begun.chunks());
    let program = Program::of(&world, &["--speed", "60"]).await;
    let names = async || -> Vec<String> {
        let mut names = Vec::new();
        for path in [CHUNKS, PLANS] {
            let (_, listed) = program.kube("GET", path, &Value::Null).await;
            let items = listed["items"].as_array().expect("a list").iter();
            names.extend(items.map(|item| item["metadata"]["name"].as_str().expect("a name").to_owned()));
        }
        names
    };
    let there = |names: &[String], digest: Digest| {
        let of = name(&digest);
        names.iter().filter(|known| known.starts_with(&of)).count()
    };
    let before = names().await;
    assert_eq!((there(&before, old.digest()), there(&before, young.digest())), (3, 2), "{before:?}");
    let ran = program.nodeform(&["apply", "--auto-approve"], &[]).await;
    assert_eq!((ran.code, ran.said.contains("warning")), (Some(0), false), "{}\n{}", ran.printed, ran.said);
    let after = names().await;
    assert_eq!((there(&after, old.digest()), there(&after, young.digest())), (0, 2), "{after:?}");
    assert_eq!((there(&after, orphan.digest()), there(&after, begun.digest())), (0, 1), "{after:?}");
    assert_eq!(after.len(), 5, "the plan that was carried out is there with its text: {after:?}");
}
