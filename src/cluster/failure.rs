//! Failures of requests to the API server: what happened, in which request, and what to do next.

use std::fmt;
use std::time::Duration;

use kube::config::KubeconfigError;

use super::lease::GateClosed;
use crate::model::shown::is_obeyed;

/// Failure of a request to the API server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClusterFailure {
    /// Kind of failure.
    pub kind: ClusterFailureKind,
    /// What happened, and in which request.
    pub what: String,
    /// What to do next.
    pub hint: String,
}

/// Kind of failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClusterFailureKind {
    /// The kubeconfig, or its named context, is invalid.
    Settings,
    /// The API server does not answer.
    Unreachable,
    /// 401: the credentials are not accepted.
    Unauthenticated,
    /// 403: no permission.
    Forbidden,
    /// 404: the object or its kind does not exist.
    NotFound,
    /// 409: the object was changed meanwhile, or exists already.
    Conflict,
    /// 410: the list has expired and must be restarted.
    Expired,
    /// 422 or 400: the API server rejects the object.
    Invalid,
    /// 429: too many requests; for an eviction, a PodDisruptionBudget.
    TooMany,
    /// Not sent: the Lease was not renewed in time.
    GateClosed,
    /// Another process holds the Lease.
    LeaseHeld,
    /// Any other answer.
    Other,
}

impl ClusterFailure {
    pub(super) fn settings(what: String) -> Self {
        let hint = "look at the kubeconfig: `kubectl config view`, `kubectl config get-contexts`".to_owned();
        Self { kind: ClusterFailureKind::Settings, what, hint }
    }

    pub(super) fn without_kubeconfig() -> Self {
        Self {
            kind: ClusterFailureKind::Settings,
            what: "there is no kubeconfig, and no service account of a Pod".to_owned(),
            hint: "write one with `az aks get-credentials -g RESOURCE_GROUP -n CLUSTER`, or name it by `--kubeconfig`"
                .to_owned(),
        }
    }

    pub(super) fn of_kubeconfig(error: &KubeconfigError) -> Self {
        Self::settings(format!("the kubeconfig cannot be used: {}", chain(error)))
    }

    /// Returns the failure of a write that was not sent.
    pub(super) fn of_gate(request: &str, closed: GateClosed) -> Self {
        Self {
            kind: ClusterFailureKind::GateClosed,
            what: format!("`{request}` is not sent: {closed}"),
            hint: "run the command again: it resumes started changes".to_owned(),
        }
    }

    /// Returns the failure of a request without a timely answer.
    pub(super) fn late(request: &str, server: &str, waited: Duration) -> Self {
        let waited = match waited.as_secs() {
            0 => format!("{} ms", waited.as_millis()),
            seconds => format!("{seconds} s"),
        };
        Self {
            kind: ClusterFailureKind::Unreachable,
            what: format!("`{request}`: no answer from the API server at {server} in {waited}"),
            hint: "check that `kubectl get nodes` works from here, with the same context".to_owned(),
        }
    }

    /// Converts the API server's error, or the reason why it did not answer.
    pub(super) fn of(request: &str, server: &str, error: &kube::Error) -> Self {
        let kube::Error::Api(status) = error else {
            return Self {
                kind: ClusterFailureKind::Unreachable,
                what: format!("`{request}`: no answer from the API server at {server}: {}", chain(error)),
                hint: "check that `kubectl get nodes` works from here, with the same context".to_owned(),
            };
        };
        let (kind, hint) = told(status.code);
        let said = if status.message.is_empty() { &status.reason } else { &status.message };
        let what = format!("`{request}`: the API server answers {}: {}", status.code, one_line(said));
        Self { kind, what, hint: hint.to_owned() }
    }
}

fn told(code: u16) -> (ClusterFailureKind, &'static str) {
    use ClusterFailureKind as Kind;
    match code {
        401 => (
            Kind::Unauthenticated,
            "sign in again: `az aks get-credentials`, or `kubelogin convert-kubeconfig -l azurecli`",
        ),
        403 => {
            (Kind::Forbidden, "get a role that allows it; `kubectl auth can-i --list` shows your permissions")
        }
        404 => (Kind::NotFound, "check that the API is installed: `kubectl api-resources`"),
        409 => (Kind::Conflict, "run the command again: somebody else wrote to the object"),
        410 => (Kind::Expired, "run the command again"),
        400 | 422 => (
            Kind::Invalid,
            "check that the CRDs are those of this version: `nodeform crds | kubectl apply --server-side -f -`",
        ),
        429 => (Kind::TooMany, "wait, and run the command again"),
        _ => (Kind::Other, "look at the API server: `kubectl get --raw /readyz?verbose`"),
    }
}

/// Returns an error with its causes, in one line.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = one_line(&error.to_string());
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = one_line(&cause.to_string());
        if !text.contains(&cause_text) {
            text = format!("{text}: {cause_text}");
        }
        source = cause.source();
    }
    text
}

/// Replaces control characters of an external text, which a terminal would interpret.
fn one_line(text: &str) -> String {
    const LENGTH_MAX: usize = 300;
    let text: String = text.chars().map(|letter| if is_obeyed(letter) { ' ' } else { letter }).collect();
    match text.char_indices().nth(LENGTH_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

impl fmt::Display for ClusterFailure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}\nhint: {}", self.what, self.hint)
    }
}

impl std::error::Error for ClusterFailure {}
