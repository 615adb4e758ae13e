//! Silence: requests that are never answered, which over a real connection would take minutes to tell from slow ones.

use std::time::Duration;

use nodeform::azure_sim::Delivery;
use nodeform::cluster::ClusterFailureKind;
use serde_json::{Value, json};

use super::{FLEET, PROMPT, Story};

#[tokio::test(start_paused = true)]
async fn a_request_that_is_never_answered_ends_at_its_deadline() {
    let story = Story::without_controller(super::WORLD, "observe").await;
    for silence in [Delivery::Unanswered, Delivery::Swallowed] {
        let line = story.world.line(move |_| silence);
        let cluster = line.cluster().expect("a cluster");
        let began = tokio::time::Instant::now();
        let failure = cluster.get_optional(FLEET).await.expect_err("nobody answers");
        assert_eq!(failure.kind, ClusterFailureKind::Unreachable);
        assert!(
            failure.what.ends_with("no answer from the API server at https://kubernetes.simulated in 30 s")
        );
        assert_eq!(began.elapsed().as_secs(), 30);
        line.deliver(|_| PROMPT);
        assert!(cluster.get_optional(FLEET).await.expect("it answers").is_some());
    }
}

#[tokio::test(start_paused = true)]
async fn an_hour_of_silence_of_everything_is_outlived() {
    let mut story = Story::of("auto", 5).await;
    story.runs(5).await;
    story.process().line.deliver(|_| Delivery::Swallowed);
    tokio::time::sleep(Duration::from_secs(3_600)).await;
    assert_eq!(story.process().health.stuck(), None, "it goes round all the time: {}", story.said());
    story.process().line.deliver(|_| PROMPT);
    story.scale(0);
    story.is_empty().await;
    story.terminated().await;
}

#[tokio::test(start_paused = true)]
async fn while_azure_keeps_everybody_waiting_the_status_stays_fresh() {
    let mut story = Story::of("auto", 5).await;
    story.runs(5).await;
    story.rests().await;
    story.fault(&json!({"kind": "Throttled", "seconds": 300, "times": 40}));
    for round in 0..8 {
        tokio::time::sleep(Duration::from_secs(20)).await;
        assert_eq!(story.patch(FLEET, &json!({"spec": {"suspend": round % 2 == 0}})).0, 200);
        let began = tokio::time::Instant::now();
        let is_seen = |fleet: Value| fleet["status"]["observedGeneration"] == fleet["metadata"]["generation"];
        story.wait(|| is_seen(story.fleet())).await;
        assert!(began.elapsed() < Duration::from_secs(5), "{round}: {:?}", began.elapsed());
    }
    story.terminated().await;
}
