//! Lists that lack what is there: nothing is made twice.

use serde_json::json;

use super::Story;

#[tokio::test(start_paused = true)]
async fn a_list_that_lacks_vms_that_are_being_made_makes_no_other_ones() {
    let mut story = Story::of("auto", 0).await;
    story.scale(20);
    story.wait(|| !story.vms().is_empty()).await;
    story.fault(&json!({"kind": "ListIncomplete", "times": 20, "when": {"resource": "virtualMachines"}}));
    story.runs(20).await;
    story.rests().await;
    assert_eq!(story.vms().len(), story.claims().len(), "{}", story.said());
    let puts = story.recorded().into_iter().filter(|exchange| {
        let path = exchange["path"].as_str().unwrap_or_default();
        exchange["method"] == "PUT" && path.contains("/virtualMachines/") && !path.contains("/extensions/")
    });
    assert!(
        puts.filter(|exchange| exchange["status"] == 201).count() == story.vms().len(),
        "each was made once"
    );
    story.terminated().await;
}
