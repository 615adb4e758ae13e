//! Creates one node: NodeClaim, network interface, VM, and then the Node's registration and initialization.
//!
//! Each look at the world gives the next side effect. A failed VM is deleted before another is tried; a VM whose Node
//! has registered is never deleted as failed.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use super::action::patch::{ANNOTATIONS, Operations};
use super::action::{Action, Attempt, Effect, InterfaceRef, PodRef, VmRef};
use super::conditions::{INITIALIZED, LAUNCHED, REGISTERED};
use super::ground::{Ground, act, attempt, let_claim_go, let_node_go, patch_claim, vm_name};
use super::join;
use super::journal::{LAUNCH, Launching, NOT_JOINED, Removing};
use super::memory::Then;
use super::outcome::{Outcome, Standing};
use super::own::absent::Absent;
use super::own::{foreign, is_of_foreign_vm};
use crate::model::{ClaimName, NodeName, PodKey};
use crate::plan::execution::LaunchChoice;
use crate::plan::{ChangeId, Create, mark};
use crate::world::seen::{Provisioning, SeenClaim, SeenNode, SeenVm};

/// How long a VM may take to join: Karpenter's registration timeout.
const JOIN_WAIT: SignedDuration = SignedDuration::from_mins(15);

/// Maximum number of VMs of a create that may fail to join, each of another size.
const SILENT_MAX: usize = 2;

/// Code if a VM was gone before its node joined.
const VM_GONE: &str = "VmGone";
/// Code if Azure only reports that the VM failed.
const VM_FAILED: &str = "ProvisioningFailed";
/// Code if a choice was refused recently.
const REFUSED: &str = "RefusedBefore";
/// Code if a second plan no longer lists the choice.
const NOT_LISTED: &str = "NoLongerChosen";
/// Code if no VM could be launched in time.
const NOT_LAUNCHED: &str = "NotLaunched";
/// Code if a resource that is not nodeform's has the name.
const NAME_TAKEN: &str = "NameTaken";
/// Maximum number of alternative names to try.
const NAMES_MAX: usize = 3;
/// Code if the claim was deleted in the meantime.
const CLAIM_DELETED: &str = "NodeClaimDeleted";

/// One create, with its context.
#[derive(Clone, Copy, Debug)]
struct Coming<'a> {
    ground: Ground<'a>,
    id: &'a ChangeId,
    create: &'a Create,
}

/// Returns the next step of a create.
pub(super) fn create(ground: Ground<'_>, id: &ChangeId, create: &Create) -> Standing {
    let coming = Coming { ground, id, create };
    // A finished create is never repeated, whatever happens to its node.
    if let Some(outcome) = ground.memory.recorded.get(id).filter(|outcome| outcome.is_so()) {
        return Standing::Settled(outcome.clone());
    }
    let Some(claim) = ground.world.claims.get(&create.claim) else {
        return coming.without_claim();
    };
    let is = |key: &str, value: &str| claim.annotations.get(key).is_some_and(|text| &**text == value);
    if !is(mark::PLAN, ground.plan.id()) || !is(mark::ITEM, &id.0) {
        let because = format!("NodeClaim `{}` exists and was not created by this plan", create.claim);
        return Standing::Settled(Outcome::no_longer_holds(because));
    }
    let journal = Launching::of(claim);
    let choices = ground.execution().choices(&create.spec);
    let is_given_up = journal.choice >= choices.len();
    if let Some(outcome) = gone_by(claim, &create.claim).filter(|_| !is_given_up) {
        return Standing::Settled(outcome);
    }
    if claim.deleting_since.is_some() && !ground.memory.recorded.contains_key(id) && !is_given_up {
        return coming.give_up(claim, CLAIM_DELETED);
    }
    match choices.get(journal.choice) {
        Some(choice) => coming.launch(claim, &journal, choice),
        None => coming.retreat(claim, &journal),
    }
}

/// Returns the outcome of a create whose node has joined and is being removed by now: the removal drains it first.
fn gone_by(claim: &SeenClaim, name: &ClaimName) -> Option<Outcome> {
    let goes = claim.deleting_since.is_some() || Removing::of(claim).is_some();
    match goes && claim.is(REGISTERED) {
        true if claim.is(INITIALIZED) => Some(Outcome::Done),
        true => {
            Some(Outcome::no_longer_holds(format!("NodeClaim `{name}` is deleted while its node starts")))
        }
        false => None,
    }
}

impl Coming<'_> {
    /// Handles a missing claim: the create has not started, or nothing is left of it.
    fn without_claim(&self) -> Standing {
        let Self { ground, id, create } = *self;
        match ground.memory.recorded.get(id) {
            Some(outcome) => Standing::Settled(outcome.clone()),
            None if ground.memory.is_stopping => Standing::behind("the next apply: this one is stopping"),
            None => act(id, Effect::CreateClaim(create.claim.clone())),
        }
    }

    /// Continues with a choice.
    fn launch(&self, claim: &SeenClaim, journal: &Launching, choice: &LaunchChoice) -> Standing {
        if let Some(leftover) = self.leftover_vm(1..journal.attempt) {
            return leftover;
        }
        let standing = self.attempted(claim, journal.clone(), choice);
        match (self.leftover_interface(1..journal.attempt), standing) {
            (None, standing) => standing,
            // Azure keeps the interface of a failed VM for minutes; the next attempt has its own and continues
            // meanwhile.
            (Some(leftover), Standing::Acts(mut actions)) => {
                if let Standing::Acts(more) = leftover {
                    actions.extend(more);
                }
                Standing::Acts(actions)
            }
            (Some(leftover), Standing::Waits(_) | Standing::Settled(_)) => leftover,
        }
    }

    /// Continues the current attempt.
    fn attempted(&self, claim: &SeenClaim, journal: Launching, choice: &LaunchChoice) -> Standing {
        let Self { ground, id, create } = *self;
        let name = vm_name(create, journal.attempt);
        let (vm_id, nic_id) = (ground.vm_id(&name), ground.interface_id(&name));
        let tried = attempt(create, claim, journal.attempt, journal.choice);
        if let Some(standing) =
            self.after_failure(claim, &journal, &name).or_else(|| self.late(claim, &journal, &vm_id))
        {
            return standing;
        }
        let Some(vm) = ground.world.vm(&vm_id) else {
            if claim.is(LAUNCHED) && names(claim, &vm_id) {
                // If the node is Ready, the list of VMs is more likely to be wrong.
                if ground.world.node_of(&vm_id).is_some_and(|(_, node)| node.is_ready) {
                    return Standing::waits(format!("Azure to list VM `{name}` again (its node is Ready)"));
                }
                let asks = ground.confirm(id, Absent::vm(&vm_id));
                return asks.unwrap_or_else(|| self.next_choice(claim, &journal, (VM_GONE, None)));
            }
            if !ground.plan.may_choose(id, journal.choice) {
                return self.next_choice(claim, &journal, (NOT_LISTED, None));
            }
            if journal.attempt == 1 && ground.memory.is_refused(&choice.choice, ground.world.at) {
                return self.next_choice(claim, &journal, (REFUSED, None));
            }
            return match ground.world.interface(&nic_id).map(|nic| nic.state) {
                None => act(id, Effect::PutInterface(tried)),
                Some(Provisioning::Succeeded) if ground.memory.tokens.is_fresh(ground.world.at) => {
                    act(id, Effect::CreateVm(tried))
                }
                Some(Provisioning::Succeeded) => act(id, Effect::CreateToken),
                Some(Provisioning::Failed) => act(id, Effect::DeleteInterface(self.made(nic_id.into()))),
                Some(Provisioning::Underway | Provisioning::Deleting) => {
                    Standing::waits(format!("NIC `{name}`"))
                }
            };
        };
        let registered = claim.is(REGISTERED);
        // After registration a VM is identified by its id, even if its tags were removed.
        if !registered && self.is_foreign(&vm.tags) {
            return self.other_name(claim, &journal);
        }
        match vm.state {
            // The operation in progress will return the reason and further refusals.
            Provisioning::Failed if !registered && self.is_being_made(&tried) => {
                Standing::waits(format!("the state of VM `{name}` in Azure"))
            }
            Provisioning::Failed if !registered => self.next_choice(claim, &journal, (VM_FAILED, None)),
            Provisioning::Deleting if !registered => self.next_choice(claim, &journal, (VM_GONE, None)),
            Provisioning::Succeeded if !journal.billed => self.bill(claim, &journal, vm),
            Provisioning::Succeeded
            | Provisioning::Underway
            | Provisioning::Failed
            | Provisioning::Deleting => self.joins(claim, &journal, vm),
        }
    }

    /// Gives up if no VM is launched within the registration timeout, for whatever reason; refused attempts are retried
    /// until then. The time starts at the claim's creation, and again after a VM that started and did not join.
    fn late(&self, claim: &SeenClaim, journal: &Launching, vm_id: &str) -> Option<Standing> {
        let Self { ground, id, .. } = *self;
        if claim.is(REGISTERED) || claim.is(LAUNCHED) && names(claim, vm_id) {
            return None;
        }
        let wait = ground.memory.wait(JOIN_WAIT);
        let silent = claim.since(LAUNCHED).filter(|_| claim.is(LAUNCHED));
        let begins = silent.and_then(|since| since.checked_add(wait).ok()).or(claim.created)?;
        if ground.world.at < begins.saturating_add(wait).unwrap_or(Timestamp::MAX) {
            return None;
        }
        let trouble = ground.memory.trouble(id).map(|(tries, _)| tries);
        let code = trouble.and_then(|tries| tries.code.as_deref()).unwrap_or(NOT_LAUNCHED);
        Some(self.give_up_as(claim, journal, (code, trouble.map(|tries| &*tries.because))))
    }

    fn is_being_made(&self, tried: &Attempt) -> bool {
        let effect = Effect::CreateVm(tried.clone());
        self.ground.memory.in_flight.contains(&Action { change: self.id.clone(), effect }.key())
    }

    /// Adds the billing extension while the node joins, and records it in the journal, because no list shows it.
    fn bill(&self, claim: &SeenClaim, journal: &Launching, vm: &SeenVm) -> Standing {
        let Self { ground, id, create } = *self;
        let effect = Effect::PutExtension(attempt(create, claim, journal.attempt, journal.choice));
        let extension = Action { change: id.clone(), effect };
        let joins = self.joins(claim, journal, vm);
        let key = extension.key();
        // A node works without it too; only its billing differs from AKS'.
        let has_ended = ground.memory.done.contains(&key) || ground.memory.failed.contains_key(&key);
        match joins {
            Standing::Acts(mut actions) => {
                if !has_ended {
                    actions.push(extension);
                }
                Standing::Acts(actions)
            }
            Standing::Settled(_) | Standing::Waits(_) if has_ended => {
                self.journal(claim, &Launching { billed: true, ..journal.clone() }, "note billing of")
            }
            Standing::Settled(_) | Standing::Waits(_) => Standing::Acts(vec![extension]),
        }
    }

    /// Handles an existing VM: waits for its node to join, then registers and initializes it.
    fn joins(&self, claim: &SeenClaim, journal: &Launching, vm: &SeenVm) -> Standing {
        let Self { ground, id, create } = *self;
        let name = &create.claim;
        if !claim.is(LAUNCHED) || !names(claim, &vm.id) {
            return act(id, join::launched((name, claim), &vm.id, self.image(journal), ground.world.at));
        }
        let since = claim.since(LAUNCHED).unwrap_or(ground.world.at);
        let deadline = since.saturating_add(ground.memory.wait(JOIN_WAIT)).unwrap_or(since);
        let is_late = ground.world.at >= deadline;
        let Some(found) = ground.world.node_of(&vm.id) else {
            if claim.is(REGISTERED) {
                return self.lost(claim, journal);
            }
            if !is_late {
                return Standing::waits_until(format!("VM `{}` to join", last(&vm.id)), deadline);
            }
            return match journal.silent().count() + 1 < SILENT_MAX {
                true => self.next_choice(claim, journal, (NOT_JOINED, None)),
                false => self.give_up_as(claim, journal, (NOT_JOINED, None)),
            };
        };
        if let Some(standing) = self.nominates(found) {
            return standing;
        }
        if let Some(effect) = join::next((name, claim), found, ground.world.at) {
            return act(id, effect);
        }
        if claim.is(INITIALIZED) {
            return Standing::Settled(Outcome::Done);
        }
        let time = (ground.world.at, ground.memory.wait(join::PATIENCE));
        if let Some(effect) = join::explains((name, claim), found.1, time) {
            return act(id, effect);
        }
        if is_late {
            let because = format!(
                "node `{}` has joined and is not initialized: {}",
                found.0,
                join::lacks(claim, found.1)
            );
            return Standing::Settled(Outcome::Failed {
                code: "NotInitialized".into(),
                because: because.into(),
            });
        }
        Standing::waits_until(format!("node `{}`: {}", found.0, join::lacks(claim, found.1)), deadline)
    }

    /// Nominates the node for its pending pods just before it accepts pods, so that no others take its capacity. Each
    /// pod is nominated once; those that are bound, deleted or cannot be patched are skipped.
    fn nominates(&self, (name, node): (&NodeName, &SeenNode)) -> Option<Standing> {
        let Self { ground, id, .. } = *self;
        let planned = ground.execution().nominations.get(id).filter(|_| join::is_unregistered(node))?;
        let told = |key: &PodKey| {
            let uid = ground.world.waiting.get(key)?.clone();
            let pod = PodRef { key: key.clone(), uid, node: name.clone(), grace_seconds: None };
            Some(Action { change: id.clone(), effect: Effect::Nominate(pod) })
        };
        let has_ended = |action: &Action| {
            let key = action.key();
            ground.memory.done.contains(&key) || ground.memory.failed.contains_key(&key)
        };
        let actions: Vec<Action> =
            planned.iter().filter_map(told).filter(|action| !has_ended(action)).collect();
        (!actions.is_empty()).then_some(Standing::Acts(actions))
    }

    /// Handles a joined node that is gone.
    fn lost(&self, claim: &SeenClaim, journal: &Launching) -> Standing {
        match claim.is(INITIALIZED) {
            true => Standing::Settled(Outcome::Done),
            false => self.give_up_as(claim, journal, ("NodeGone", None)),
        }
    }

    /// Returns the image of the current choice.
    fn image(&self, journal: &Launching) -> Option<&str> {
        let execution = self.ground.execution();
        let choice = execution.choices(&self.create.spec).get(journal.choice)?;
        execution.machines.get(&choice.machine).map(|machine| &*machine.image)
    }

    /// Returns the consequence of a failed action.
    fn after_failure(&self, claim: &SeenClaim, journal: &Launching, name: &str) -> Option<Standing> {
        let Self { ground, id, create } = *self;
        let tried = attempt(create, claim, journal.attempt, journal.choice);
        let effects = [Effect::PutInterface(tried.clone()), Effect::CreateVm(tried), Effect::CreateToken];
        let key = |effect| Action { change: id.clone(), effect }.key();
        let failed = effects.into_iter().find_map(|effect| ground.memory.failed.get(&key(effect)))?;
        // If the VM exists after all, for example because a response was lost, continue with it.
        let vm = ground.world.vm(&ground.vm_id(name));
        if vm.is_some_and(|vm| vm.state != Provisioning::Failed) {
            return None;
        }
        let why = (&*failed.code, failed.what.as_deref());
        Some(match failed.then {
            Then::NextChoice => self.next_choice(claim, journal, why),
            Then::GiveUp => self.give_up_as(claim, journal, why),
        })
    }

    /// Continues with the next choice that was not refused and of whose size no VM failed to join.
    fn next_choice(&self, claim: &SeenClaim, journal: &Launching, why: (&str, Option<&str>)) -> Standing {
        let Self { ground, create, .. } = *self;
        let choices = ground.execution().choices(&create.spec);
        let after = journal.after(why, choices.len());
        let is_silent = |at: usize| {
            let mut silent = after.silent().filter_map(|(_, choice)| choices.get(choice));
            silent.any(|silent| silent.choice.size == choices[at].choice.size)
        };
        let is_open = |at: &usize| {
            ground.plan.may_choose(self.id, *at)
                && !ground.memory.is_refused(&choices[*at].choice, ground.world.at)
                && !is_silent(*at)
        };
        let next = (journal.choice + 1..choices.len()).find(is_open).unwrap_or(choices.len());
        self.journal(claim, &Launching { choice: next, ..after }, "try another choice for")
    }

    /// Retries the same choice under another name: the resource with this name is not nodeform's and is kept.
    fn other_name(&self, claim: &SeenClaim, journal: &Launching) -> Standing {
        let taken = journal.failed.iter().filter(|given_up| &*given_up.code == NAME_TAKEN).count();
        match taken < NAMES_MAX {
            true => self.journal(
                claim,
                &journal.after((NAME_TAKEN, None), journal.choice),
                "try another name for",
            ),
            false => self.give_up_as(claim, journal, (NAME_TAKEN, None)),
        }
    }

    /// Returns whether a resource was not created for this create.
    fn is_foreign(&self, tags: &BTreeMap<Arc<str>, Arc<str>>) -> bool {
        foreign(tags, &self.ground.execution().cluster, Some(self.id)).is_some()
    }

    /// Returns a reference to a network interface that was created for this create.
    fn made(&self, id: Arc<str>) -> InterfaceRef {
        InterfaceRef { id, made_for: Some(self.id.clone()) }
    }

    fn give_up(&self, claim: &SeenClaim, code: &str) -> Standing {
        self.give_up_as(claim, &Launching::of(claim), (code, None))
    }

    fn give_up_as(&self, claim: &SeenClaim, journal: &Launching, why: (&str, Option<&str>)) -> Standing {
        let none_left = self.ground.execution().choices(&self.create.spec).len();
        self.journal(claim, &journal.after(why, none_left), "give up")
    }

    fn journal(&self, claim: &SeenClaim, journal: &Launching, what: &'static str) -> Standing {
        let text = journal.text();
        let noted = Operations::of(&claim.uid)
            .resting_on_entry(ANNOTATIONS, LAUNCH, &claim.annotations)
            .with_entries(ANNOTATIONS, &claim.annotations, [(LAUNCH, &*text)]);
        act(self.id, patch_claim(&self.create.claim, what, noted))
    }

    /// Handles a create without remaining choices: deletes its resources, then the claim.
    fn retreat(&self, claim: &SeenClaim, journal: &Launching) -> Standing {
        let Self { ground, id, create } = *self;
        if let Some(leftover) = self.leftover(1..journal.attempt + 1) {
            return leftover;
        }
        if !ground.memory.recorded.contains_key(id) {
            return act(id, Effect::Record(self.failure(journal)));
        }
        let_claim_go(id, &create.claim, claim)
    }

    /// Returns the outcome of a failed create.
    fn failure(&self, journal: &Launching) -> Outcome {
        let choices = self.ground.execution().choices(&self.create.spec);
        // Consecutive attempts mostly fail for the same reason, which is reported once.
        let mut tried: Vec<(String, Vec<String>)> = Vec::new();
        for given_up in &journal.failed {
            let choice = choices.get(given_up.choice).map(|LaunchChoice { choice, .. }| choice);
            let offering = choice.map(|choice| format!("{} in zone {}", choice.size, choice.zone));
            let why = given_up.to_string();
            match tried.last_mut().filter(|(known, _)| *known == why) {
                Some((_, offerings)) => offerings.extend(offering),
                None => tried.push((why, offering.into_iter().collect())),
            }
        }
        let said = |(why, offerings): (String, Vec<String>)| match offerings.is_empty() {
            true => why,
            false => format!("{}: {why}", offerings.join(", ")),
        };
        let code = journal.failed.last().map_or_else(|| VM_FAILED.into(), |given_up| given_up.code.clone());
        Outcome::Failed { code, because: tried.into_iter().map(said).collect::<Vec<_>>().join("; ").into() }
    }

    /// Returns the next step in removing the leftovers of earlier attempts, if there are any.
    fn leftover(&self, attempts: Range<u32>) -> Option<Standing> {
        self.leftover_vm(attempts.clone()).or_else(|| self.leftover_interface(attempts))
    }

    /// Returns the next step in removing an earlier attempt's VM and its Node.
    fn leftover_vm(&self, attempts: Range<u32>) -> Option<Standing> {
        let Self { ground, id, create } = *self;
        attempts.into_iter().find_map(|number| {
            let name = vm_name(create, number);
            let vm_id = ground.vm_id(&name);
            let Some(vm) = ground.world.vm(&vm_id) else {
                return ground.confirm(id, Absent::vm(&vm_id)).or_else(|| {
                    ground.world.node_of(&vm_id).map(|(name, node)| let_node_go(id, name, node))
                });
            };
            if self.is_foreign(&vm.tags) {
                return None;
            }
            Some(match vm.state {
                Provisioning::Deleting if !ground.memory.lingers(&vm.id, ground.world.at) => {
                    Standing::waits(format!("VM `{name}` to be gone"))
                }
                Provisioning::Deleting
                | Provisioning::Succeeded
                | Provisioning::Failed
                | Provisioning::Underway => act(
                    id,
                    Effect::DeleteVm(VmRef {
                        id: vm.id.clone(),
                        vm_id: vm.vm_id.clone(),
                        made_for: Some(id.clone()),
                        drained: None,
                    }),
                ),
            })
        })
    }

    /// Returns the next step in removing an earlier attempt's network interface.
    fn leftover_interface(&self, attempts: Range<u32>) -> Option<Standing> {
        let Self { ground, id, create } = *self;
        attempts.into_iter().find_map(|number| {
            let name = vm_name(create, number);
            let nic_id = ground.interface_id(&name);
            let Some(nic) = ground.world.interface(&nic_id) else {
                return ground.confirm(id, Absent::interface(&nic_id));
            };
            let stays_with_vm = is_of_foreign_vm(&nic.id, ground.world, &ground.execution().cluster);
            if stays_with_vm || self.is_foreign(&nic.tags) {
                return None;
            }
            Some(match nic.state {
                Provisioning::Deleting => Standing::waits(format!("NIC `{name}` to be gone")),
                Provisioning::Succeeded | Provisioning::Failed | Provisioning::Underway => {
                    act(id, Effect::DeleteInterface(self.made(nic.id.clone())))
                }
            })
        })
    }
}

/// Returns whether a claim names this VM.
fn names(claim: &SeenClaim, vm: &str) -> bool {
    let id = claim.provider_id.as_deref().and_then(|id| id.strip_prefix("azure://"));
    id.is_some_and(|id| id.eq_ignore_ascii_case(vm))
}

fn last(id: &str) -> &str {
    id.rsplit('/').next().unwrap_or(id)
}
