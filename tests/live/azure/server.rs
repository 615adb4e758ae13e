//! A server by script: TLS with a certificate of its own, an environment file, every request remembered.

use std::collections::BTreeMap;
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::response::Response;
use axum_server::tls_rustls::RustlsConfig;
use nodeform::azure::{Azure, Settings, SetupFault};
use serde_json::{Value, json};

pub(crate) const TENANT: &str = "11111111-1111-1111-1111-111111111111";
pub(crate) const TOKEN: &str = "canary-access-token";
pub(crate) const CLIENT_SECRET: &str = "canary-client-secret";

/// A request as it came.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) query: String,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: String,
    pub(crate) at: Instant,
}

impl Seen {
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }
}

/// What is answered.
#[derive(Clone, Debug)]
pub(crate) enum Reply {
    /// An answer.
    Answer { status: u16, headers: Vec<(&'static str, String)>, body: String },
    /// The connection ends without one.
    Drop,
    /// The connection ends within its body.
    Break(String),
}

impl Reply {
    pub(crate) fn json(status: u16, body: Value) -> Self {
        Self::Answer { status, headers: Vec::new(), body: body.to_string() }
    }

    pub(crate) fn text(status: u16, body: &str) -> Self {
        Self::Answer { status, headers: Vec::new(), body: body.to_owned() }
    }

    pub(crate) fn error(status: u16, code: &str, message: &str) -> Self {
        Self::json(status, json!({"error": {"code": code, "message": message}}))
    }

    pub(crate) fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        if let Self::Answer { headers, .. } = &mut self {
            headers.push((name, value.into()));
        }
        self
    }
}

/// Answers a request, given how many came before it (requests for tokens apart).
type Script = dyn Fn(&Seen, usize) -> Reply + Send + Sync;

struct Shared {
    seen: Mutex<Vec<Seen>>,
    answered: Mutex<Vec<Option<Reply>>>,
    script: Box<Script>,
}

/// A server that runs until the test ends.
pub(crate) struct Server {
    shared: Arc<Shared>,
    pub(crate) address: SocketAddr,
    pub(crate) ca: PathBuf,
}

impl Server {
    pub(crate) fn start(script: impl Fn(&Seen, usize) -> Reply + Send + Sync + 'static) -> Self {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let certified =
            rcgen::generate_simple_self_signed(vec!["127.0.0.1".to_owned(), "localhost".to_owned()]).unwrap();
        let ca = scratch("ca.pem");
        std::fs::write(&ca, certified.cert.pem()).unwrap();
        let key = rustls::pki_types::PrivateKeyDer::try_from(certified.signing_key.serialize_der()).unwrap();
        let config = rustls::ServerConfig::builder()
            .with_no_client_auth()
            .with_single_cert(vec![certified.cert.der().clone()], key)
            .unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let shared =
            Arc::new(Shared { seen: Mutex::default(), answered: Mutex::default(), script: Box::new(script) });
        let app = axum::Router::new().fallback(answer).with_state(shared.clone());
        let server =
            axum_server::from_tcp_rustls(listener, RustlsConfig::from_config(Arc::new(config))).unwrap();
        tokio::spawn(server.serve(app.into_make_service()));
        Self { shared, address, ca }
    }

    pub(crate) fn url(&self) -> String {
        format!("https://{}/", self.address)
    }

    /// Writes the environment file of this server with a clock of this speed.
    pub(crate) fn environment_file(&self, speed: u32) -> String {
        let file = scratch("environment.json");
        let content = json!({
            "name": "AzurePublicCloud", "resourceManagerEndpoint": self.url(), "activeDirectoryEndpoint": self.url(),
            "tokenAudience": "https://management.azure.com/", "caFile": self.ca, "clockSpeed": speed,
        });
        std::fs::write(&file, content.to_string()).unwrap();
        file.display().to_string()
    }

    /// The environment of somebody with a client secret.
    pub(crate) fn environment(&self, speed: u32) -> Vec<(String, String)> {
        [
            ("AZURE_ENVIRONMENT_FILEPATH", self.environment_file(speed).as_str()),
            ("AZURE_TENANT_ID", TENANT),
            ("AZURE_CLIENT_ID", "22222222-2222-2222-2222-222222222222"),
            ("AZURE_CLIENT_SECRET", CLIENT_SECRET),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .to_vec()
    }

    /// A client of this server, a thousand times as fast as time.
    pub(crate) fn client(&self) -> Azure {
        client(&self.environment(1000)).unwrap()
    }

    /// The requests so far, those for tokens apart.
    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.shared.seen.lock().unwrap().iter().filter(|seen| !is_token(seen)).cloned().collect()
    }

    pub(crate) fn token_requests(&self) -> Vec<Seen> {
        self.shared.seen.lock().unwrap().iter().filter(|seen| is_token(seen)).cloned().collect()
    }

    /// The requests and answers so far, as lines that `validate_arm.py` reads.
    pub(crate) fn recording(&self) -> String {
        let seen = self.shared.seen.lock().unwrap();
        let answered = self.shared.answered.lock().unwrap();
        let pairs = seen.iter().zip(answered.iter()).filter(|(seen, _)| !is_token(seen));
        pairs.map(|(seen, reply)| super::exchange::line(seen, reply.as_ref()) + "\n").collect()
    }
}

pub(crate) fn client(environment: &[(String, String)]) -> Result<Azure, SetupFault> {
    let find = |name: &str| environment.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone());
    Azure::new(Settings::from_environment(&find, "test-1".to_owned())?)
}

/// A file of its own for this test.
pub(crate) fn scratch(name: &str) -> PathBuf {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{}-{number}-{name}", std::process::id()))
}

fn is_token(seen: &Seen) -> bool {
    seen.path.ends_with("/oauth2/v2.0/token")
}

async fn answer(
    State(shared): State<Arc<Shared>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let seen = Seen {
        method: method.to_string(),
        path: uri.path().to_owned(),
        query: uri.query().unwrap_or_default().to_owned(),
        headers: headers.iter().map(|(k, v)| (k.to_string(), v.to_str().unwrap_or("").to_owned())).collect(),
        body: String::from_utf8_lossy(&body).into_owned(),
        at: Instant::now(),
    };
    let (index, nth) = {
        let mut all = shared.seen.lock().unwrap();
        let nth = all.iter().filter(|seen| !is_token(seen)).count();
        all.push(seen.clone());
        shared.answered.lock().unwrap().push(None);
        (all.len() - 1, nth)
    };
    let mut reply = (shared.script)(&seen, nth);
    if let (true, Reply::Answer { status: 599, .. }) = (is_token(&seen), &reply) {
        reply = Reply::json(
            200,
            json!({"token_type": "Bearer", "expires_in": 3600, "ext_expires_in": 3600, "access_token": TOKEN}),
        );
    }
    shared.answered.lock().unwrap()[index] = Some(reply.clone());
    match reply {
        Reply::Answer { status, headers, body } => {
            let mut response = Response::builder().status(StatusCode::from_u16(status).unwrap());
            for (name, value) in headers {
                response = response.header(name, value);
            }
            response.body(Body::from(body)).unwrap()
        }
        Reply::Drop => broken(String::new()),
        Reply::Break(start) => broken(start),
    }
}

/// A body that promises more than it brings.
fn broken(start: String) -> Response {
    let parts = vec![Ok(Bytes::from(start)), Err(std::io::Error::other("cut"))];
    let stream = futures_util::stream::iter(parts);
    let mut response = Response::new(Body::from_stream(stream));
    response.headers_mut().insert("content-length", "100000".parse().unwrap());
    response
}

/// Of scripts that leave tokens to the server: the answer that means so.
pub(crate) fn token_or(seen: &Seen, reply: impl FnOnce() -> Reply) -> Reply {
    if is_token(seen) { Reply::text(599, "") } else { reply() }
}
