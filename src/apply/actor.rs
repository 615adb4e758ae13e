//! Performs one action of a plan: creates what the plan describes, and leaves everything else to `hand`.
//!
//! A write whose answer was lost is not repeated here: the next read shows whether it was applied.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;

use super::hand::{CLAIMS, Hand};
use super::performed::of_cluster;
use super::token;
use crate::arm::Request;
use crate::azure::Azure;
use crate::bootstrap::BootstrapToken;
use crate::cluster::{WriteGate, Writer};
use crate::launch::Materials;
use crate::plan::Choice;
use crate::render::requests;
use crate::review::ApprovedPlan;
use crate::rollout::{Action, Attempt, Effect, Performed};

/// Performs actions.
pub struct Actor {
    plan: Arc<ApprovedPlan>,
    materials: Materials,
    hand: Hand,
    /// Tokens by number, as `rollout` counts them.
    tokens: Mutex<BTreeMap<u32, BootstrapToken>>,
}

/// Clients and data that an [`Actor`] needs.
pub struct Means {
    /// Writes to the cluster.
    pub writer: Writer,
    /// Checked before each write to Azure.
    pub gate: WriteGate,
    /// Sends to Azure.
    pub azure: Azure,
    /// Bootstrap data of VMs.
    pub materials: Materials,
}

impl Actor {
    /// Returns an actor for this plan.
    #[must_use]
    pub fn new(plan: Arc<ApprovedPlan>, means: Means) -> Self {
        let Means { writer, gate, azure, materials } = means;
        let cluster = Arc::new(plan.execution().cluster.clone());
        let hand = Hand::new((writer, gate), &azure, cluster);
        Self { plan, materials, hand, tokens: Mutex::default() }
    }

    /// Performs an action.
    pub async fn perform(&self, action: &Action) -> Performed {
        match &action.effect {
            Effect::CreateClaim(_) => self.create_claim(action).await,
            Effect::CreateToken => self.create_token().await,
            Effect::DeleteToken(number) => self.delete_token(*number).await,
            Effect::PutInterface(attempt) => match self.interface(action, attempt) {
                Ok(request) => {
                    self.hand.put_interface(&action.change, &request, self.choice(action, attempt)).await
                }
                Err(performed) => performed,
            },
            Effect::CreateVm(attempt) => self.create_vm(action, attempt).await,
            // Only the public, government and China clouds have this extension.
            Effect::PutExtension(_) if !self.hand.azure.cloud().has_billing_extension() => Performed::Done,
            Effect::PutExtension(attempt) => match self.extension(action, attempt) {
                Ok(request) => self.hand.to_its_end(&request, None).await,
                Err(performed) => performed,
            },
            Effect::DeleteVm(_)
            | Effect::DeleteInterface(_)
            | Effect::Confirm(_)
            | Effect::Tag(_)
            | Effect::Patch(_)
            | Effect::Nominate(_)
            | Effect::Evict(_)
            | Effect::DeletePod(_)
            | Effect::DeleteObject(_)
            | Effect::Record(_) => self.hand.perform(&action.effect).await,
        }
    }

    /// Returns the current time, by the clock of the cluster that is written to.
    pub(super) fn now(&self) -> Timestamp {
        self.hand.now()
    }

    /// Removes objects that only the rollout itself needed.
    pub async fn clean(&self) -> Result<(), String> {
        let tokens = self.with_tokens(std::mem::take);
        let mut all = Ok(());
        for token in tokens.values() {
            // A token that cannot be removed does not keep the others.
            all = all.and(token::remove(&self.hand.writer, token).await.map_err(|failure| failure.what));
        }
        all
    }

    fn with_tokens<T>(&self, look: impl FnOnce(&mut BTreeMap<u32, BootstrapToken>) -> T) -> T {
        look(&mut self.tokens.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn create<'a>(&'a self, action: &Action) -> Option<&'a crate::plan::Create> {
        self.plan.spec().changes.get(&action.change)?.change.create()
    }

    fn choice(&self, action: &Action, attempt: &Attempt) -> Option<Choice> {
        let spec = &self.create(action)?.spec;
        Some(self.plan.execution().choices(spec).get(attempt.choice)?.choice.clone())
    }

    fn launch<'a>(&'a self, action: &'a Action, attempt: &Attempt) -> requests::Attempt<'a> {
        requests::Attempt {
            spec: self.plan.spec(),
            plan: self.plan.id(),
            change: &action.change,
            choice: attempt.choice,
            number: attempt.number,
        }
    }

    async fn create_claim(&self, action: &Action) -> Performed {
        let claim = match requests::claim(self.plan.spec(), &action.change, self.plan.id()) {
            Ok(claim) => claim,
            Err(fault) => return not_in_plan(&fault),
        };
        match self.hand.writer.create(CLAIMS, &claim).await {
            Ok(_) => Performed::Done,
            Err(failure) => of_cluster(&failure),
        }
    }

    async fn create_token(&self) -> Performed {
        let token = match token::make() {
            Ok(token) => token,
            Err(because) => return Performed::given_up("NoRandomness", because),
        };
        let performed = token::write(&self.hand.writer, &token, self.plan.id()).await;
        if performed == Performed::Done {
            self.with_tokens(|tokens| {
                let next = tokens.last_key_value().map_or(1, |(number, _)| number + 1);
                tokens.insert(next, token);
            });
        }
        performed
    }

    async fn delete_token(&self, number: u32) -> Performed {
        let Some(token) = self.with_tokens(|tokens| tokens.get(&number).cloned()) else {
            return Performed::Done;
        };
        match token::remove(&self.hand.writer, &token).await {
            Ok(()) => {
                self.with_tokens(|tokens| tokens.remove(&number));
                Performed::Done
            }
            Err(failure) => of_cluster(&failure),
        }
    }

    fn interface(&self, action: &Action, attempt: &Attempt) -> Result<Request, Performed> {
        requests::nic(&self.launch(action, attempt)).map_err(|fault| not_in_plan(&fault))
    }

    fn extension(&self, action: &Action, attempt: &Attempt) -> Result<Request, Performed> {
        requests::billing(&self.launch(action, attempt)).map_err(|fault| not_in_plan(&fault))
    }

    async fn create_vm(&self, action: &Action, attempt: &Attempt) -> Performed {
        let Some(create) = self.create(action) else {
            return Performed::given_up("NotInPlan", "the plan has no such create");
        };
        let ready = match self.materials.ready(&create.spec, attempt.choice) {
            Ok(ready) => ready,
            Err(why) => return Performed::given_up("Changed", why.to_string()),
        };
        let newest = self.with_tokens(|tokens| tokens.last_key_value().map(|(_, token)| token.clone()));
        let Some(token) = newest else { return Performed::again("the bootstrap token is not created yet") };
        match requests::vm(&self.launch(action, attempt), &requests::Start::of(ready, &token)) {
            Ok(request) => self.hand.to_its_end(&request, self.choice(action, attempt)).await,
            Err(fault) => not_in_plan(&fault),
        }
    }
}

fn not_in_plan(fault: &requests::RequestFault) -> Performed {
    Performed::given_up("NotInPlan", fault.to_string())
}
