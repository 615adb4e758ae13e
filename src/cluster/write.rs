//! Writes to Kubernetes, one request each.
//!
//! Other modules decide what to write; here a [`WriteGate`] is checked before each write. A request without an answer
//! may have been applied: read the object to find out.

use http::Method;
use kube::core::Status;
use serde_json::{Value, json};

use super::send::{Form, Outgoing, Refused};
use super::{Cluster, ClusterFailure, ClusterFailureKind, WriteGate};
use crate::model::SecretJson;
use crate::model::shown::is_obeyed;

/// Writes objects of a cluster, while the gate is open.
#[derive(Clone)]
pub struct Writer {
    cluster: Cluster,
    gate: WriteGate,
}

/// Identity of an object besides its name; the API server refuses to change any other (409).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Preconditions {
    /// The object's UID.
    pub uid: Option<String>,
    /// The version that was read.
    pub resource_version: Option<String>,
}

/// A pod with its UID, so that no other pod of its name is affected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThisPod<'a> {
    /// Its namespace.
    pub namespace: &'a str,
    /// Its name.
    pub name: &'a str,
    /// Its UID.
    pub uid: &'a str,
}

/// Result of a deletion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deletion {
    /// The object is deleted, or will be once its finalizers are removed and its grace period is over.
    Accepted,
    /// It does not exist, or its name belongs to an object with another UID.
    Gone,
}

/// Result of an eviction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Eviction {
    /// The pod ends within its grace period.
    Accepted,
    /// It does not exist, or its name belongs to a pod with another UID.
    Gone,
    /// Not possible now: retry later.
    Blocked {
        /// The PodDisruptionBudget, if the API server names it.
        budget: Option<String>,
        /// The API server's reason.
        why: String,
    },
}

impl Cluster {
    /// Returns a writer that writes while this gate is open.
    #[must_use]
    pub fn writing(&self, gate: &WriteGate) -> Writer {
        Writer { cluster: self.clone(), gate: gate.clone() }
    }
}

impl Writer {
    /// Returns the cluster, to read from.
    #[must_use]
    pub const fn cluster(&self) -> &Cluster {
        &self.cluster
    }

    /// Creates an object in a list (`/apis/karpenter.sh/v1/nodeclaims`) and returns it as stored.
    ///
    /// # Errors
    /// `Conflict` if the name is taken; any other failure.
    pub async fn create(&self, list: &str, object: &Value) -> Result<Value, ClusterFailure> {
        let body = SecretJson::new(object.clone());
        Ok(self.send(Method::POST, list, Form::Object, &body).await?)
    }

    /// Creates an object that holds secrets. The answer, which repeats them, is dropped.
    ///
    /// # Errors
    /// As [`create`](Self::create).
    pub async fn create_secret(&self, list: &str, object: &SecretJson) -> Result<(), ClusterFailure> {
        self.send(Method::POST, list, Form::Object, object).await?;
        Ok(())
    }

    /// Replaces a whole object, which contains the `metadata.resourceVersion` that was read.
    ///
    /// # Errors
    /// `Conflict` if it was changed since; any other failure.
    pub async fn replace(&self, path: &str, object: &Value) -> Result<Value, ClusterFailure> {
        let body = SecretJson::new(object.clone());
        Ok(self.send(Method::PUT, path, Form::Object, &body).await?)
    }

    /// Merges fields into an object; `null` removes one, a list is replaced as a whole. With
    /// `metadata.resourceVersion`, only that version is patched.
    ///
    /// # Errors
    /// `NotFound`, `Conflict`, and any other failure.
    pub async fn merge_patch(&self, path: &str, patch: &Value) -> Result<Value, ClusterFailure> {
        let body = SecretJson::new(patch.clone());
        Ok(self.send(Method::PATCH, path, Form::MergePatch, &body).await?)
    }

    /// Merges fields into an object's status: `patch` is `{"status": {…}}`.
    ///
    /// # Errors
    /// As [`merge_patch`](Self::merge_patch).
    pub async fn patch_status(&self, path: &str, patch: &Value) -> Result<Value, ClusterFailure> {
        self.merge_patch(&format!("{path}/status"), patch).await
    }

    /// Applies the operations of a JSON patch (RFC 6902), all or none.
    ///
    /// # Errors
    /// `Conflict` if a `test` fails or a path does not exist: the object was changed meanwhile; any other failure.
    pub async fn json_patch(&self, path: &str, operations: &[Value]) -> Result<Value, ClusterFailure> {
        let body = SecretJson::new(Value::from(operations));
        let sent = self.send(Method::PATCH, path, Form::JsonPatch, &body).await;
        sent.map_err(|refused| match refused.status.as_deref().is_some_and(is_of_operations) {
            true => ClusterFailure { kind: ClusterFailureKind::Conflict, ..refused.failure },
            false => refused.failure,
        })
    }

    /// Applies an object server-side, as `nodeform`, and creates it if it does not exist.
    ///
    /// # Errors
    /// Any failure.
    pub async fn apply(&self, path: &str, object: &Value) -> Result<Value, ClusterFailure> {
        let body = SecretJson::new(object.clone());
        Ok(self.send(Method::PATCH, path, Form::Apply, &body).await?)
    }

    /// Deletes an object. `grace_seconds` is for pods.
    ///
    /// # Errors
    /// `Conflict` if the object has changed since `resource_version`; any other failure.
    pub async fn delete(
        &self,
        path: &str,
        preconditions: &Preconditions,
        grace_seconds: Option<u32>,
    ) -> Result<Deletion, ClusterFailure> {
        let options = json!({"kind": "DeleteOptions", "apiVersion": "v1"});
        let body = SecretJson::new(with_options(options, preconditions, grace_seconds));
        let Err(refused) = self.send(Method::DELETE, path, Form::Options, &body).await else {
            return Ok(Deletion::Accepted);
        };
        if self.is_gone(path, preconditions.uid.as_deref(), &refused).await? {
            return Ok(Deletion::Gone);
        }
        Err(refused.failure)
    }

    /// Evicts a pod, with a grace period in seconds; default: the pod's own.
    ///
    /// # Errors
    /// Any failure that is not an [`Eviction`].
    pub async fn evict(
        &self,
        pod: ThisPod<'_>,
        grace_seconds: Option<u32>,
    ) -> Result<Eviction, ClusterFailure> {
        let ThisPod { namespace, name, uid } = pod;
        let pod = format!("/api/v1/namespaces/{namespace}/pods/{name}");
        let preconditions = Preconditions { uid: Some(uid.to_owned()), resource_version: None };
        let body = SecretJson::new(json!({
            "apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name, "namespace": namespace},
            "deleteOptions": with_options(json!({}), &preconditions, grace_seconds),
        }));
        let path = format!("{pod}/eviction");
        let Err(refused) = self.send(Method::POST, &path, Form::Object, &body).await else {
            return Ok(Eviction::Accepted);
        };
        let blocked = refused.status.as_deref().and_then(blocked);
        // The API server checks the budget before the UID, so the refusal may be about another pod of this name.
        let is_other = match blocked {
            Some(_) => self.is_other(&pod, uid).await?,
            None => self.is_gone(&pod, Some(uid), &refused).await?,
        };
        match blocked {
            _ if is_other => Ok(Eviction::Gone),
            Some(blocked) => Ok(blocked),
            None => Err(refused.failure),
        }
    }

    /// Returns whether a refusal means that the object of this UID no longer exists. A 409 may also be a conflict on
    /// another object, such as the PodDisruptionBudget of an eviction, so the object itself is read.
    async fn is_gone(
        &self,
        path: &str,
        uid: Option<&str>,
        refused: &Refused,
    ) -> Result<bool, ClusterFailure> {
        if refused.failure.kind == ClusterFailureKind::NotFound {
            return Ok(true);
        }
        let (ClusterFailureKind::Conflict, Some(uid)) = (refused.failure.kind, uid) else { return Ok(false) };
        self.is_other(path, uid).await
    }

    /// Returns whether the object does not exist, or has another UID.
    async fn is_other(&self, path: &str, uid: &str) -> Result<bool, ClusterFailure> {
        let found = self.cluster.get_optional(path).await?;
        let there = found.as_ref().and_then(|object| object.pointer("/metadata/uid")).and_then(Value::as_str);
        Ok(there != Some(uid))
    }

    async fn send(
        &self,
        method: Method,
        path: &str,
        form: Form,
        body: &SecretJson,
    ) -> Result<Value, Refused> {
        let answer =
            self.cluster.write(&self.gate, Outgoing { method, path, form, body: Some(body) }).await?;
        let at = self.cluster.clock().now();
        self.cluster.with_world(|world| world.wrote(path, &answer, at));
        Ok(answer)
    }
}

fn with_options(mut options: Value, preconditions: &Preconditions, grace_seconds: Option<u32>) -> Value {
    let Preconditions { uid, resource_version } = preconditions;
    if let Some(uid) = uid {
        options["preconditions"]["uid"] = json!(uid);
    }
    if let Some(version) = resource_version {
        options["preconditions"]["resourceVersion"] = json!(version);
    }
    if let Some(seconds) = grace_seconds {
        options["gracePeriodSeconds"] = json!(seconds);
    }
    options
}

/// Recognizes refusals to evict now: 429 with the cause `DisruptionBudget`, a conflict of concurrent evictions on one
/// budget, or a pod with two budgets, which Kubernetes answers with 500. A 429 without that cause is a busy API server.
fn blocked(status: &Status) -> Option<Eviction> {
    let causes = status.details.iter().flat_map(|details| &details.causes);
    let cause = causes.into_iter().find(|cause| cause.reason == "DisruptionBudget");
    if let (429, Some(cause)) = (status.code, cause) {
        let named = cause.message.strip_prefix("The disruption budget ");
        let budget = named.and_then(|rest| rest.split(' ').next()).map(str::to_owned);
        return Some(Eviction::Blocked { budget, why: plain(&cause.message) });
    }
    let has_two = status.code == 500 && status.message.contains("more than one PodDisruptionBudget");
    let is_of_budget = status.code == 409
        && status.details.as_ref().is_some_and(|details| details.kind == "poddisruptionbudgets");
    (has_two || is_of_budget).then(|| Eviction::Blocked { budget: None, why: plain(&status.message) })
}

/// Returns whether the operations of a JSON patch failed: the API server's message differs from that of an invalid
/// object.
fn is_of_operations(status: &Status) -> bool {
    status.code == 422
        && status.message.starts_with("the server rejected our request due to an error in our request")
}

/// Replaces control characters of an external text, which a terminal would interpret.
fn plain(text: &str) -> String {
    text.chars().map(|letter| if is_obeyed(letter) { ' ' } else { letter }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(value: &Value) -> Status {
        serde_json::from_value(value.clone()).unwrap()
    }

    #[test]
    fn a_busy_api_server_is_no_budget() {
        let busy =
            status(&json!({"code": 429, "reason": "TooManyRequests", "message": "please try again later"}));
        assert_eq!(blocked(&busy), None);
    }

    #[test]
    fn a_budget_is_named_as_the_api_server_names_it() {
        let message = "The disruption budget web needs 3 healthy pods and has 3 currently";
        let refused = status(&json!({
            "code": 429, "message": "Cannot evict pod as it would violate the pod's disruption budget.",
            "details": {"causes": [{"reason": "DisruptionBudget", "message": message}]},
        }));
        let expected = Eviction::Blocked { budget: Some("web".to_owned()), why: message.to_owned() };
        assert_eq!(blocked(&refused), Some(expected));
    }

    #[test]
    fn a_conflict_on_a_budget_and_two_budgets_of_a_pod_are_no_failures() {
        let conflict =
            json!({"code": 409, "message": "modified", "details": {"kind": "poddisruptionbudgets"}});
        assert!(matches!(blocked(&status(&conflict)), Some(Eviction::Blocked { budget: None, .. })));
        let two =
            json!({"code": 500, "message": "This pod has more than one PodDisruptionBudget, which ..."});
        assert!(matches!(blocked(&status(&two)), Some(Eviction::Blocked { budget: None, .. })));
    }

    #[test]
    fn an_operation_that_fails_is_told_from_an_object_that_is_not_valid() {
        let words = "the server rejected our request due to an error in our request";
        assert!(is_of_operations(&status(&json!({"code": 422, "reason": "Invalid", "message": words}))));
        let message = "Node \"n\" is invalid: spec.taints[1]: Duplicate value";
        assert!(!is_of_operations(&status(&json!({"code": 422, "reason": "Invalid", "message": message}))));
    }

    #[test]
    fn options_hold_only_what_is_meant() {
        let uid = Preconditions { uid: Some("u".to_owned()), resource_version: None };
        assert_eq!(
            with_options(json!({}), &uid, Some(0)),
            json!({"preconditions": {"uid": "u"}, "gracePeriodSeconds": 0})
        );
        assert_eq!(with_options(json!({}), &Preconditions::default(), None), json!({}));
    }
}
