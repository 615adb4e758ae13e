//! A client of a world in memory: signs in, sends, lets time pass, and keeps every exchange.

use jiff::{SignedDuration, Timestamp};
use nodeform::catalog::Catalog;
use nodeform::model::Region;
use nodeform::sim::{
    Answer, FaultRule, FaultsFile, Request, Response, SimulatedAzure, Start, World, exchange,
};
use serde_json::Value;

use crate::sim::bodies::{self, Vm};

/// When every world begins.
pub(crate) const START: &str = "2026-01-05T09:00:00Z";

pub(crate) struct Client {
    pub(crate) world: World,
    pub(crate) now: Timestamp,
    token: String,
    /// What was said, as lines for the validator.
    pub(crate) exchanges: Vec<Value>,
}

impl Client {
    pub(crate) fn new() -> Self {
        Self::with(settings(), Vec::new(), Vec::new())
    }

    pub(crate) fn with(settings: SimulatedAzure, manifests: Vec<Value>, faults: Vec<FaultRule>) -> Self {
        let now: Timestamp = START.parse().expect("the start is a time");
        let start = Start {
            settings,
            skus: skus(),
            manifests,
            faults: FaultsFile { faults },
            seed: 7,
            time: now,
            ..Start::default()
        };
        let world = World::new(start).expect("the world is valid");
        let mut client = Self { world, now, token: String::new(), exchanges: Vec::new() };
        client.sign_in();
        client
    }

    pub(crate) fn sign_in(&mut self) {
        let settings = self.world.settings();
        let form = format!(
            "grant_type=client_credentials&client_id={}&client_secret={}&scope=https%3A%2F%2Fmanagement.azure.com%2F.default",
            settings.client,
            self.world.credentials().client_secret.reveal()
        );
        let mut request = Request::new("POST", &format!("/{}/oauth2/v2.0/token", settings.tenant));
        request.body = form.into_bytes();
        let answer = self.send(&request);
        assert_eq!(answer.status, 200, "{}", answer.value());
        self.token = answer.value()["access_token"].as_str().expect("a token").to_owned();
    }

    /// Sends a request as it is; its answer must arrive.
    pub(crate) fn send(&mut self, request: &Request) -> Answer {
        match self.exchange(request) {
            Response::Answer(answer) => answer,
            other @ (Response::Lost | Response::Silent | Response::Late(..) | Response::Watch(_)) => {
                panic!("{request:?} got {other:?}")
            }
        }
    }

    pub(crate) fn exchange(&mut self, request: &Request) -> Response {
        let response = self.world.request(self.now, request);
        self.exchanges.extend(exchange(request, &response));
        response
    }

    /// A request to ARM, with a token.
    pub(crate) fn signed(&self, method: &str, target: &str) -> Request {
        Request::new(method, target)
            .header("authorization", &format!("Bearer {}", self.token))
            .header("host", "127.0.0.1:8443")
    }

    pub(crate) fn arm(&mut self, method: &str, target: &str) -> Answer {
        let request = self.signed(method, target);
        self.send(&request)
    }

    pub(crate) fn arm_json(&mut self, method: &str, target: &str, body: &Value) -> Answer {
        let request = self.signed(method, target).json(body);
        self.send(&request)
    }

    /// A request to the API server.
    pub(crate) fn kube(&mut self, method: &str, target: &str, body: Option<&Value>) -> Answer {
        let token = self.world.credentials().cluster_token.reveal().to_owned();
        let mut request = Request::new(method, target).header("authorization", &format!("Bearer {token}"));
        if let Some(body) = body {
            request = request.json(body);
        }
        if method == "PATCH" {
            request = request.header("content-type", "application/merge-patch+json");
        }
        self.send(&request)
    }

    pub(crate) fn pass(&mut self, seconds: i64) {
        self.now = self.now.checked_add(SignedDuration::from_secs(seconds)).expect("a near time");
        self.world.advance(self.now);
    }

    /// Polls an operation to its end: its last state.
    pub(crate) fn finish(&mut self, answer: &Answer) -> Value {
        let url = answer.header("Azure-AsyncOperation").expect("an operation is announced").to_owned();
        let target = url.strip_prefix("https://127.0.0.1:8443").expect("on the same host").to_owned();
        for _ in 0..200 {
            let state = self.arm("GET", &target).value();
            if state["status"] != "InProgress" {
                return state;
            }
            self.pass(10);
        }
        panic!("the operation never ends");
    }

    pub(crate) fn nic_path(&self, name: &str) -> String {
        format!(
            "{}?api-version=2024-03-01",
            bodies::id(&self.world, "Microsoft.Network/networkInterfaces", name)
        )
    }

    pub(crate) fn vm_path(&self, name: &str) -> String {
        format!(
            "{}?api-version=2024-07-01",
            bodies::id(&self.world, "Microsoft.Compute/virtualMachines", name)
        )
    }

    /// The bootstrap Secret, valid for two hours.
    pub(crate) fn put_secret(&mut self) {
        let secret = bodies::secret("2026-01-05T11:00:00Z");
        let answer = self.kube("POST", "/api/v1/namespaces/kube-system/secrets", Some(&secret));
        assert_eq!(answer.status, 201);
    }

    /// Makes a NIC and asks for its VM.
    pub(crate) fn ask_for(&mut self, vm: &Vm) -> Answer {
        let body = bodies::nic(&self.world, &vm.name);
        let nic = self.arm_json("PUT", &self.nic_path(&vm.name), &body);
        assert!(matches!(nic.status, 200 | 201), "{}", nic.value());
        assert_eq!(self.finish(&nic)["status"], "Succeeded");
        let request = self
            .signed("PUT", &self.vm_path(&vm.name))
            .json(&vm.body(&self.world))
            .header("if-none-match", "*");
        self.send(&request)
    }

    /// Makes a VM and waits until it runs.
    pub(crate) fn make(&mut self, vm: &Vm) -> Answer {
        let answer = self.ask_for(vm);
        assert_eq!(answer.status, 201, "{}", answer.value());
        assert_eq!(self.finish(&answer)["status"], "Succeeded");
        answer
    }

    pub(crate) fn delete_vm(&mut self, name: &str) -> Answer {
        let path = format!("{}&forceDeletion=true", self.vm_path(name));
        self.arm("DELETE", &path)
    }

    /// The entry of a list in the world's state.
    pub(crate) fn state(&self, list: &str, name: &str) -> Option<Value> {
        let mut state = self.world.state();
        let entries = state[list].as_array_mut().expect("a list");
        entries.iter().position(|entry| entry["name"] == name).map(|at| entries.swap_remove(at))
    }
}

pub(crate) fn settings() -> SimulatedAzure {
    SimulatedAzure { location: "southcentralus".to_owned(), ..SimulatedAzure::default() }
}

/// The sizes of one region, as Azure lists them; one of them is sold in no zone.
pub(crate) fn skus() -> Vec<Value> {
    let mut skus = Catalog::embedded(&Region::new("southcentralus")).expect("the region is known").skus();
    for sku in skus.iter_mut().filter(|sku| sku["name"] == "Standard_D2as_v6") {
        sku["locationInfo"][0]["zones"] = serde_json::json!([]);
    }
    skus
}

/// Judges exchanges by the official specifications, where those are.
pub(crate) fn validate(exchanges: &[Value]) {
    let lines: String = exchanges.iter().map(|exchange| format!("{exchange}\n")).collect();
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), lines).expect("it can be written");
    crate::specifications::judge(file.path());
}
