//! Sends one request and reads its answer: the only function that writes.
//!
//! Must never put a body into an error or a log: it may hold a Secret.

use std::time::Duration;

use http::{Method, Request};
use kube::client::Body;
use kube::core::Status;
use serde_json::Value;

use super::{Cluster, ClusterFailure, ClusterFailureKind, WriteGate};
use crate::model::{SENSITIVE, SecretJson};

/// Timeout of a read, including one page of a list: at 2,000 nodes a page of 500 takes seconds.
const READ_SECONDS_MAX: u64 = 30;

/// Timeout of a write: an admission webhook may take 30 s.
const WRITE_SECONDS_MAX: u64 = 35;

/// Maximum number of attempts of a read while the API server is busy or failing.
const READ_TRIES_MAX: u32 = 3;

/// First delay before a read is retried; it doubles. A server may request more, up to [`READ_WAIT_MAX`].
const READ_WAIT: Duration = Duration::from_millis(500);

/// Maximum delay before a read is retried: the next regular read comes sooner than any longer delay.
const READ_WAIT_MAX: Duration = Duration::from_secs(5);

/// Maximum size of an answer to a write: etcd holds no object above 1.5 MiB, and JSON may be several times larger.
const ANSWER_BYTES_MAX: usize = 16 << 20;

/// Minimum length of a secret: shorter texts would be found everywhere.
const SECRET_LENGTH_MIN: usize = 8;

/// A request to send.
pub(super) struct Outgoing<'a> {
    pub(super) method: Method,
    /// Path of the object or the list, without a query.
    pub(super) path: &'a str,
    pub(super) form: Form,
    pub(super) body: Option<&'a SecretJson>,
}

/// Kind of body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// None.
    Nothing,
    /// An object.
    Object,
    /// `DeleteOptions`.
    Options,
    /// JSON merge patch (RFC 7396).
    MergePatch,
    /// JSON patch (RFC 6902).
    JsonPatch,
    /// Server-side apply.
    Apply,
}

impl Form {
    const fn content_type(self) -> Option<&'static str> {
        match self {
            Self::Nothing => None,
            Self::Object | Self::Options => Some("application/json"),
            Self::MergePatch => Some("application/merge-patch+json"),
            Self::JsonPatch => Some("application/json-patch+json"),
            // JSON is YAML.
            Self::Apply => Some("application/apply-patch+yaml"),
        }
    }

    /// Returns the query with the field manager. Server-side apply forces conflicts, as controllers do.
    const fn query(self) -> &'static str {
        match self {
            Self::Nothing | Self::Options => "",
            Self::Object | Self::MergePatch | Self::JsonPatch => "?fieldManager=nodeform",
            Self::Apply => "?fieldManager=nodeform&force=true",
        }
    }
}

/// An answer to a read.
struct Read {
    code: http::StatusCode,
    bytes: Vec<u8>,
    /// How long the server asks to wait.
    retry_after: Option<Duration>,
}

/// A request that failed.
#[derive(Debug)]
pub(super) struct Refused {
    pub(super) failure: ClusterFailure,
    /// The API server's `Status`, if it answered.
    pub(super) status: Option<Box<Status>>,
}

impl From<Refused> for ClusterFailure {
    fn from(refused: Refused) -> Self {
        refused.failure
    }
}

impl Cluster {
    /// Sends a write, if the gate is open.
    pub(super) async fn write(&self, gate: &WriteGate, outgoing: Outgoing<'_>) -> Result<Value, Refused> {
        gate.check().map_err(|closed| {
            let named = format!("{} {}", outgoing.method, outgoing.path);
            Refused { failure: ClusterFailure::of_gate(&named, closed), status: None }
        })?;
        self.once(outgoing).await
    }

    /// Reads an object; `None` if it does not exist.
    ///
    /// # Errors
    /// Any answer except the object and 404, or no answer.
    pub async fn get_optional(&self, path: &str) -> Result<Option<Value>, ClusterFailure> {
        let outgoing = Outgoing { method: Method::GET, path, form: Form::Nothing, body: None };
        match self.once(outgoing).await {
            Ok(object) => Ok(Some(object)),
            Err(refused) if refused.failure.kind == ClusterFailureKind::NotFound => Ok(None),
            Err(refused) => Err(refused.failure),
        }
    }

    /// Waits for an answer up to a limit. A connection that stays silent is not used again by any request.
    ///
    /// # Errors
    /// There was no answer in time.
    pub(super) async fn within<T>(
        &self,
        limit: Duration,
        named: &str,
        answer: impl Future<Output = T>,
    ) -> Result<T, ClusterFailure> {
        let generation = self.connections.current().generation;
        tokio::time::timeout(limit, answer).await.map_err(|_| {
            self.connections.renew(generation);
            ClusterFailure::late(named, self.server(), limit)
        })
    }

    /// Reads a text of any length, such as a page of a list. Retries a limited number of times if the server is busy or
    /// failing, but not if it is silent.
    ///
    /// # Errors
    /// Any answer except a success, or no answer.
    pub(super) async fn read_text(&self, path: &str) -> Result<Vec<u8>, ClusterFailure> {
        let named = format!("GET {}", path.split('?').next().unwrap_or(path));
        let mut wait = READ_WAIT;
        let mut attempt = 0;
        loop {
            attempt += 1;
            let limit = Duration::from_secs(READ_SECONDS_MAX);
            let answer = self.within(limit, &named, self.read_once(path)).await?;
            let (error, asked) = match answer {
                Ok(Read { code, bytes, .. }) if code.is_success() => return Ok(bytes),
                Ok(Read { code, bytes, retry_after }) => {
                    (kube::Error::Api(status_of(code.as_u16(), &bytes).boxed()), retry_after)
                }
                Err(error) => (error, None),
            };
            let stays = |status: &kube::core::Status| status.code != 429 && status.code < 500;
            let is_passing = !matches!(&error, kube::Error::Api(status) if stays(status));
            if !is_passing || attempt >= READ_TRIES_MAX {
                return Err(ClusterFailure::of(&named, self.server(), &error));
            }
            tokio::time::sleep(asked.unwrap_or(wait).min(READ_WAIT_MAX)).await;
            wait *= 2;
        }
    }

    async fn read_once(&self, path: &str) -> Result<Read, kube::Error> {
        let request = Request::get(path).body(Body::empty()).map_err(kube::Error::HttpError)?;
        let response = self.connections.current().client.send(request).await?;
        let code = response.status();
        let retry_after = response.headers().get(http::header::RETRY_AFTER);
        let seconds = retry_after.and_then(|value| value.to_str().ok()?.trim().parse().ok());
        let bytes = response.into_body().collect_bytes().await?;
        Ok(Read { code, bytes: bytes.to_vec(), retry_after: seconds.map(Duration::from_secs) })
    }

    async fn once(&self, outgoing: Outgoing<'_>) -> Result<Value, Refused> {
        let named = format!("{} {}", outgoing.method, outgoing.path);
        let sensitive = outgoing.body;
        let is_read = outgoing.method == Method::GET;
        let limit = Duration::from_secs(if is_read { READ_SECONDS_MAX } else { WRITE_SECONDS_MAX });
        let error = match self.within(limit, &named, self.answer(outgoing)).await {
            Ok(Ok(value)) => return Ok(value),
            Ok(Err(error)) => error,
            Err(failure) => return Err(Refused { failure, status: None }),
        };
        let error = without_secrets(error, sensitive);
        let failure = ClusterFailure::of(&named, self.server(), &error);
        let status = if let kube::Error::Api(status) = error { Some(status) } else { None };
        Err(Refused { failure, status })
    }

    /// Sends a request and reads the whole answer. kube's own functions would log the bodies of refusals.
    async fn answer(&self, outgoing: Outgoing<'_>) -> Result<Value, kube::Error> {
        let Outgoing { method, path, form, body } = outgoing;
        let mut request = Request::builder().method(method).uri(format!("{path}{}", form.query()));
        if let Some(content_type) = form.content_type() {
            request = request.header(http::header::CONTENT_TYPE, content_type);
        }
        let bytes = body.map(|body| body.reveal().reveal().as_bytes().to_vec()).unwrap_or_default();
        let request = request.body(Body::from(bytes)).map_err(kube::Error::HttpError)?;
        let response = self.connections.current().client.send(request).await?;
        let code = response.status();
        let bytes = response.into_body().collect_bytes().await?;
        if !code.is_success() {
            return Err(kube::Error::Api(status_of(code.as_u16(), &bytes).boxed()));
        }
        if bytes.len() > ANSWER_BYTES_MAX {
            return Err(kube::Error::Api(no_api_server("an answer above 16 MiB").boxed()));
        }
        serde_json::from_slice(&bytes)
            .map_err(|_| kube::Error::Api(no_api_server("an answer that is no JSON").boxed()))
    }
}

fn no_api_server(what: &str) -> Status {
    Status::failure(what, "the server there is no API server").with_code(200)
}

/// Parses an API server's refusal; a proxy in front of it may answer with HTML.
fn status_of(code: u16, body: &[u8]) -> Status {
    let read = serde_json::from_slice::<Status>(body).ok().filter(|status| !status.message.is_empty());
    let mut status = read
        .unwrap_or_else(|| Status::failure(String::from_utf8_lossy(body).trim(), "no Status of Kubernetes"));
    status.code = code;
    status
}

/// Removes the secrets of a body from an answer: a refusal of an object may repeat its fields.
fn without_secrets(error: kube::Error, body: Option<&SecretJson>) -> kube::Error {
    let kube::Error::Api(mut status) = error else { return error };
    for secret in body.into_iter().flat_map(SecretJson::secrets) {
        let text = secret.reveal();
        if text.len() < SECRET_LENGTH_MIN {
            continue;
        }
        let plain = data_encoding::BASE64.decode(text.as_bytes()).ok();
        let plain = plain.and_then(|bytes| String::from_utf8(bytes).ok());
        for text in [Some(text), plain.as_deref()].into_iter().flatten() {
            status.message = status.message.replace(text, SENSITIVE);
            for cause in status.details.iter_mut().flat_map(|details| details.causes.iter_mut()) {
                cause.message = cause.message.replace(text, SENSITIVE);
            }
        }
    }
    kube::Error::Api(status)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::Secret;

    #[test]
    fn a_refusal_that_repeats_a_secret_does_not_show_it() {
        let coded = data_encoding::BASE64.encode(b"canary-0123456789");
        let body =
            SecretJson::new(json!({"data": {}})).with_secret("/data/token", Secret::new(coded.clone()));
        let said = json!({
            "message": format!("Secret is invalid: data[token]: {coded}: canary-0123456789"), "reason": "Invalid",
            "details": {"causes": [{"message": format!("Invalid value: {coded}")}]},
        });
        let error = kube::Error::Api(status_of(422, said.to_string().as_bytes()).boxed());
        let failure = ClusterFailure::of("POST /x", "https://here", &without_secrets(error, Some(&body)));
        assert_eq!(failure.kind, ClusterFailureKind::Invalid);
        assert_eq!(
            failure.what,
            "`POST /x`: the API server answers 422: Secret is invalid: data[token]: (sensitive value): (sensitive value)"
        );
    }

    #[test]
    fn html_of_a_proxy_is_told_with_its_code() {
        let failure = ClusterFailure::of(
            "GET /x",
            "https://here",
            &kube::Error::Api(status_of(502, b"<html>Bad\nGateway</html>").boxed()),
        );
        assert_eq!(failure.kind, ClusterFailureKind::Other);
        assert_eq!(failure.what, "`GET /x`: the API server answers 502: <html>Bad Gateway</html>");
    }
}
