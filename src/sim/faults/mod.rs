//! Faults: injected failures of the simulated Azure, configured by a document of rules.

mod occasion;
mod rules;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub(crate) use occasion::Occasion;
use rules::Rule;

use super::agenda::later;
use super::settings::SettingsFault;

/// What is wrong with a document of faults.
pub type FaultsFault = SettingsFault;

/// A document of faults: the `spec` of kind `SimulatedFaults`, `apiVersion: nodeform.dev/v1alpha1`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
#[serde(rename_all = "camelCase", default)]
pub struct FaultsFile {
    /// The rules; several may act at once.
    pub faults: Vec<FaultRule>,
}

/// One fault, and when it acts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
#[serde(rename_all = "camelCase")]
pub struct FaultRule {
    /// What goes wrong.
    pub kind: FaultKind,
    /// When it acts; always where nothing is said.
    #[serde(default)]
    pub when: When,
    /// How often it acts; without an end where it is not given.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 1)))]
    pub times: Option<u32>,
    /// How long, in seconds of the simulated clock: what that means depends on the kind.
    #[serde(default)]
    pub seconds: Option<u32>,
    /// The HTTP status of a refusal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 400, "maximum" = 599)))]
    pub status: Option<u16>,
    /// The code of a refusal: Azure's `error.code`, the API server's `reason`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// The text of a refusal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// The faults that there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum FaultKind {
    /// The operation that makes a VM ends with `ZonalAllocationFailed` (`AllocationFailed` without a zone).
    ZoneFull,
    /// PUT of a VM is refused with `OperationNotAllowed`: the quota of its family, of spot for a spot VM.
    QuotaExceeded,
    /// A request is answered 429 with `Retry-After` of `seconds` (30).
    Throttled,
    /// A request is carried out and its answer never arrives.
    AnswerLost,
    /// The operation that makes a VM fails, and `seconds` (60) later the VM runs.
    LateSuccess,
    /// A VM runs, and its kubelet never registers.
    NeverJoins,
    /// The operation that makes a VM fails, and its NIC is kept for `seconds` (600), also when the VM is deleted.
    NicHeld,
    /// A list ends after a page as if there were no more.
    ListCutShort,
    /// An operation on a VM never ends.
    OperationStuck,
    /// A spot VM is taken back `seconds` (300) after it ran, or at once if it runs already.
    SpotEviction,
    /// A request to Azure or to the API server is refused with `status` (403) and `code`, as by a role that is too narrow, a
    /// lock, a policy or a webhook; nothing of it is carried out.
    Refused,
    /// A request to Azure or to the API server is carried out and gets no answer; its connection stays open.
    Silent,
    /// A request to Azure or to the API server is carried out, and the answer comes `seconds` (30) late.
    Slow,
    /// A list of Azure or of the API server lacks the objects that `name` names, or all.
    ListIncomplete,
}

/// When a fault acts. All that is given must hold.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
#[serde(rename_all = "camelCase", default)]
pub struct When {
    /// The VM's size.
    pub size: Option<String>,
    /// The VM's zone.
    pub zone: Option<String>,
    /// The NodePool in the VM's tag `karpenter.sh_nodepool`.
    pub pool: Option<String>,
    /// The resource's name.
    pub name: Option<String>,
    /// The request's method, e.g. `PUT`.
    pub method: Option<String>,
    /// The resource's type without its provider, e.g. `virtualMachines`; of the API server its plural, with its subresource
    /// where there is one, e.g. `nodeclaims/status`.
    pub resource: Option<String>,
    /// Only at the n-th time that everything else holds, 1 being the first.
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 1)))]
    pub nth: Option<u32>,
    /// Not before so many seconds of the simulated clock have passed.
    pub after_seconds: Option<u32>,
    /// Not once so many seconds of the simulated clock have passed.
    pub until_seconds: Option<u32>,
}

impl FaultsFile {
    /// Reads the `spec` of a document of kind `SimulatedFaults`.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn read(spec: &Value) -> Result<Self, Vec<FaultsFault>> {
        let file: Self = super::settings::read("spec", spec)?;
        let faults: Vec<FaultsFault> = file
            .faults
            .iter()
            .enumerate()
            .filter(|(_, rule)| rule.when.nth == Some(0) || rule.times == Some(0))
            .map(|(at, _)| FaultsFault {
                path: format!("spec.faults[{at}]"),
                message: "`nth` and `times` count from 1".to_owned(),
            })
            .collect();
        if faults.is_empty() { Ok(file) } else { Err(faults) }
    }
}

/// How an operation will end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Ending {
    AsAsked,
    /// There is no room for the VM.
    NoRoom,
    /// It is told as failed, and the VM appears after all.
    LateSuccess {
        seconds: i64,
    },
    Never,
}

/// What becomes of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum OfRequest {
    Nothing,
    Refused(Refused),
    /// It is answered so much later.
    Late(SignedDuration),
    Silent,
}

/// A refusal that a rule wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refused {
    pub(crate) status: u16,
    pub(crate) code: String,
    pub(crate) message: String,
}

/// The rules, and how often each has acted.
#[derive(Clone, Debug)]
pub(crate) struct Faults {
    rules: Vec<Rule>,
    started: Timestamp,
    speed: u32,
}

impl Faults {
    /// No rules yet, in a world that started at a time and runs so many times faster.
    pub(crate) const fn new(started: Timestamp, speed: u32) -> Self {
        Self { rules: Vec::new(), started, speed }
    }

    /// How many seconds of the simulated clock have passed.
    fn passed(&self, now: Timestamp) -> i64 {
        now.duration_since(self.started).as_secs().saturating_mul(i64::from(self.speed))
    }

    /// Adds rules; returns the places of those that act by themselves.
    pub(crate) fn add(&mut self, file: &FaultsFile) -> Vec<usize> {
        let first = self.rules.len();
        self.rules.extend(file.faults.iter().cloned().map(Rule::new));
        (first..self.rules.len()).filter(|at| self.rules[*at].fault.kind == FaultKind::SpotEviction).collect()
    }

    /// How the operation of a new VM will end.
    pub(crate) fn ending(&mut self, occasion: &Occasion, now: Timestamp) -> Ending {
        if self.acts(FaultKind::ZoneFull, occasion, now).is_some() {
            return Ending::NoRoom;
        }
        // A NIC is only reserved if its VM failed, so this fault makes the VM fail. It is counted only when the NIC is
        // reserved.
        if self.would_act(FaultKind::NicHeld, occasion, now) {
            return Ending::NoRoom;
        }
        if let Some(seconds) = self.acts(FaultKind::LateSuccess, occasion, now) {
            return Ending::LateSuccess { seconds: seconds.unwrap_or(60) };
        }
        if self.is_stuck(occasion, now) { Ending::Never } else { Ending::AsAsked }
    }

    pub(crate) fn is_stuck(&mut self, occasion: &Occasion, now: Timestamp) -> bool {
        self.acts(FaultKind::OperationStuck, occasion, now).is_some()
    }

    pub(crate) fn exceeds_quota(&mut self, occasion: &Occasion, now: Timestamp) -> bool {
        self.acts(FaultKind::QuotaExceeded, occasion, now).is_some()
    }

    /// After how many seconds a throttled request may come again.
    pub(crate) fn throttles(&mut self, occasion: &Occasion, now: Timestamp) -> Option<i64> {
        self.acts(FaultKind::Throttled, occasion, now).map(|seconds| seconds.unwrap_or(30))
    }

    pub(crate) fn loses_answer(&mut self, occasion: &Occasion, now: Timestamp) -> bool {
        self.acts(FaultKind::AnswerLost, occasion, now).is_some()
    }

    pub(crate) fn cuts_list(&mut self, occasion: &Occasion, now: Timestamp) -> bool {
        self.acts(FaultKind::ListCutShort, occasion, now).is_some()
    }

    pub(crate) fn never_joins(&mut self, occasion: &Occasion, now: Timestamp) -> bool {
        self.acts(FaultKind::NeverJoins, occasion, now).is_some()
    }

    /// For how many seconds the NIC of a VM that failed is kept.
    pub(crate) fn holds_nic(&mut self, occasion: &Occasion, now: Timestamp) -> Option<i64> {
        self.acts(FaultKind::NicHeld, occasion, now).map(|seconds| seconds.unwrap_or(600))
    }

    /// After how many seconds a spot VM is taken back.
    pub(crate) fn evicts(&mut self, occasion: &Occasion, now: Timestamp) -> Option<i64> {
        self.acts(FaultKind::SpotEviction, occasion, now).map(|seconds| seconds.unwrap_or(300))
    }

    /// What becomes of a request whatever it asks for: refused, answered late, or not at all.
    pub(crate) fn of_request(&mut self, occasion: &Occasion, now: Timestamp) -> OfRequest {
        let passed = self.passed(now);
        let is_one =
            |rule: &Rule| matches!(rule.fault.kind, FaultKind::Refused | FaultKind::Silent | FaultKind::Slow);
        let acting = self
            .rules
            .iter_mut()
            .find_map(|rule| (is_one(rule) && rule.acts(occasion, passed)).then_some(&rule.fault));
        let Some(fault) = acting else { return OfRequest::Nothing };
        if fault.kind == FaultKind::Refused {
            return OfRequest::Refused(Refused {
                status: fault.status.unwrap_or(403),
                code: fault.code.clone().unwrap_or_else(|| "Forbidden".to_owned()),
                message: fault
                    .message
                    .clone()
                    .unwrap_or_else(|| "refused by a fault of the simulator".to_owned()),
            });
        }
        if fault.kind == FaultKind::Silent {
            return OfRequest::Silent;
        }
        let seconds = i64::from(fault.seconds.unwrap_or(30));
        let speed = i32::try_from(self.speed).unwrap_or(i32::MAX);
        OfRequest::Late(SignedDuration::from_secs(seconds) / speed)
    }

    /// Whether any rule hides objects of lists: reading an answer once more takes its time.
    pub(crate) fn hides_any(&self) -> bool {
        self.rules.iter().any(|rule| rule.fault.kind == FaultKind::ListIncomplete)
    }

    /// Which objects a list lacks; the list counts as one occasion.
    pub(crate) fn hides(&mut self, items: &[Occasion], now: Timestamp) -> Vec<bool> {
        let passed = self.passed(now);
        let mut hidden = vec![false; items.len()];
        for rule in self.rules.iter_mut().filter(|rule| rule.fault.kind == FaultKind::ListIncomplete) {
            let held: Vec<bool> = items.iter().map(|item| rule.holds(item, passed)).collect();
            let first = items.iter().zip(&held).find(|(_, held)| **held);
            if first.is_some_and(|(item, _)| rule.acts(item, passed)) {
                hidden.iter_mut().zip(held).for_each(|(hidden, held)| *hidden |= held);
            }
        }
        hidden
    }

    /// When a rule first may act; for those that act by themselves.
    pub(crate) fn first_time(&self, at: usize) -> Timestamp {
        let after = self.rules.get(at).and_then(|rule| rule.fault.when.after_seconds).unwrap_or(0);
        later(
            self.started,
            SignedDuration::from_secs(i64::from(after)) / i32::try_from(self.speed).unwrap_or(i32::MAX),
        )
    }

    /// Whether a rule that acts by itself takes this VM.
    pub(crate) fn takes(&mut self, at: usize, occasion: &Occasion, now: Timestamp) -> bool {
        let passed = self.passed(now);
        self.rules.get_mut(at).is_some_and(|rule| rule.acts(occasion, passed))
    }

    fn acts(&mut self, kind: FaultKind, occasion: &Occasion, now: Timestamp) -> Option<Option<i64>> {
        let passed = self.passed(now);
        self.rules
            .iter_mut()
            .filter(|rule| rule.fault.kind == kind)
            .find_map(|rule| rule.acts(occasion, passed).then(|| rule.fault.seconds.map(i64::from)))
    }

    fn would_act(&self, kind: FaultKind, occasion: &Occasion, now: Timestamp) -> bool {
        let passed = self.passed(now);
        self.rules.iter().any(|rule| rule.fault.kind == kind && rule.would_act(occasion, passed))
    }
}
