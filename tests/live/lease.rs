//! The Lease of leader election against the simulated API server: who gets it, who is told, who has lost it.

use std::time::Duration;

use jiff::Timestamp;
use nodeform::cluster::lease::{
    Attempt, Candidate, Lost, NAME, Now, Record, Settings, Terms, acquire, attempt, namespace,
};
use nodeform::cluster::{Cluster, ClusterFailureKind, GateClosed, WriteGate, Writer};
use serde_json::json;

use crate::program::Program;

const LEASE: &str = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/karpenter-leader-election";

/// Times by which a test need not wait. A Lease says whole seconds.
const SHORT: Terms = Terms {
    lease: Duration::from_secs(2),
    renew_deadline: Duration::from_millis(1_500),
    retry: Duration::from_millis(50),
};

fn settings(identity: &str) -> Settings {
    Settings {
        identity: identity.to_owned(),
        namespace: "kube-system".to_owned(),
        terms: SHORT,
        reports: false,
    }
}

fn writer(cluster: &Cluster) -> Writer {
    cluster.writing(&WriteGate::always_open())
}

async fn record(cluster: &Cluster) -> Record {
    Record::of(&cluster.get_optional(LEASE).await.expect("it answers").expect("it is there"))
}

#[tokio::test]
async fn one_holds_the_lease_another_is_told_and_gets_it_once_it_is_released() {
    let program = Program::start(&[]).await;
    let cluster = program.cluster().await;
    let first = acquire(&cluster, &settings("first"), |_| {}).await.expect("nobody holds it");
    assert!(first.gate().is_open());
    assert_eq!((record(&cluster).await.holder.as_str(), record(&cluster).await.lease_seconds), ("first", 2));

    let mut waited = 0;
    let refused =
        acquire(&cluster, &settings("second"), |_| waited += 1).await.expect_err("the first renews it");
    assert_eq!(refused.kind, ClusterFailureKind::LeaseHeld);
    let told = refused.to_string();
    assert!(
        told.starts_with("`first` holds Lease `kube-system/karpenter-leader-election` since 2"),
        "{told}"
    );
    assert!(told.contains("and renews it\nhint: "), "{told}");
    assert_eq!(waited, 1, "whoever waits is told once");

    let gate = first.gate().clone();
    let writer = cluster.writing(&gate);
    let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}});
    writer.create("/api/v1/namespaces/default/configmaps", &map).await.expect("the gate is open");
    assert_eq!(first.lost_already(), None);
    first.release().await.expect("it is let go");
    assert_eq!(gate.check(), Err(GateClosed::NotHeld));
    let closed =
        writer.merge_patch("/api/v1/namespaces/default/configmaps/a", &json!({})).await.expect_err("closed");
    assert_eq!(closed.kind, ClusterFailureKind::GateClosed);
    assert!(closed.what.ends_with("is not sent: the Lease is not held"), "{closed}");

    let second = acquire(&cluster, &settings("second"), |_| {}).await.expect("nobody holds it");
    let now = record(&cluster).await;
    assert_eq!((now.holder.as_str(), now.transitions), ("second", 1));
    second.release().await.expect("it is let go");
}

#[tokio::test]
async fn whoever_sees_another_in_its_place_writes_no_more() {
    let program = Program::start(&[]).await;
    let cluster = program.cluster().await;
    let held = acquire(&cluster, &settings("first"), |_| {}).await.expect("nobody holds it");
    let taken = json!({"spec": {"holderIdentity": "thief"}});
    writer(&cluster).merge_patch(LEASE, &taken).await.expect("it is written");
    assert_eq!(held.lost().await, Lost::Taken("thief".to_owned()));
    assert_eq!(held.gate().check(), Err(GateClosed::NotHeld));
    held.release().await.expect("there is nothing to let go");
    assert_eq!(record(&cluster).await.holder, "thief", "a Lease of others is left alone");
}

/// Two clocks that only the test moves.
fn at(seconds: u64) -> Now {
    Now { monotonic: Duration::from_secs(seconds), wall: Timestamp::UNIX_EPOCH }
}

async fn tried(cluster: &Cluster, candidate: &mut Candidate, seconds: u64) -> Attempt {
    let writer = writer(cluster);
    attempt(&writer, candidate, "kube-system", || at(seconds)).await.expect("it answers")
}

#[tokio::test]
async fn the_lease_of_a_dead_holder_is_taken_after_its_time_and_the_dead_one_finds_out() {
    let program = Program::start(&[]).await;
    let cluster = program.cluster().await;
    let stand = |name: &str| Candidate::new(name.to_owned(), "kube-system".to_owned(), Terms::default());
    let (mut dead, mut heir) = (stand("dead"), stand("heir"));
    assert!(matches!(tried(&cluster, &mut dead, 1_000).await, Attempt::Renewed(_)));
    assert!(matches!(tried(&cluster, &mut dead, 1_002).await, Attempt::Renewed(_)));

    // Its own clock, which says nothing about that of the other.
    let Attempt::Waits(other) = tried(&cluster, &mut heir, 50).await else { panic!("it waits") };
    assert_eq!((other.holder.as_str(), other.is_alive, other.expires.as_secs()), ("dead", false, 65));
    assert!(matches!(tried(&cluster, &mut heir, 64).await, Attempt::Waits(_)));
    assert_eq!(tried(&cluster, &mut heir, 65).await, Attempt::Renewed(at(65)));
    let now = record(&cluster).await;
    assert_eq!((now.holder.as_str(), now.transitions), ("heir", 1));
    assert_eq!(now.renew_time, "1970-01-01T00:00:00.000000Z");

    let mut stopped = dead.clone();
    assert_eq!(tried(&cluster, &mut dead, 1_012).await, Attempt::Lost(Lost::Late(Duration::from_secs(10))));
    // One that was stopped and does not know for how long.
    assert_eq!(tried(&cluster, &mut stopped, 1_004).await, Attempt::Lost(Lost::Taken("heir".to_owned())));
    assert_eq!(record(&cluster).await.holder, "heir");
}

#[tokio::test]
async fn the_lease_is_where_karpenter_has_it() {
    let program = Program::start(&[]).await;
    let cluster = program.cluster().await;
    assert_eq!(namespace(&cluster).await.expect("it answers"), "kube-system");
    let writer = writer(&cluster);
    let place = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "karpenter"}});
    writer.create("/api/v1/namespaces", &place).await.expect("it is created");
    let lease = json!({
        "apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": NAME},
        "spec": {"holderIdentity": "karpenter-1"},
    });
    writer
        .create("/apis/coordination.k8s.io/v1/namespaces/karpenter/leases", &lease)
        .await
        .expect("it is created");
    assert_eq!(namespace(&cluster).await.expect("it answers"), "karpenter");
}
