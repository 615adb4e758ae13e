//! Virtual machines.

mod check;
mod delete;
mod extension;
mod life;
mod patch;
mod put;
mod show;

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::Value;

pub(crate) use delete::deleted;
pub(crate) use extension::{Extension, deleted as extension_deleted, made as extension_made};
pub(crate) use life::{appears_late, made, reclaimed};

use super::{ArmError, Azure, Call, Sku, Stage, page};
use crate::sim::http::Answer;
use crate::sim::json::member_mut;
use crate::sim::sensitive::Sensitive;

pub(crate) const KIND: &str = "Microsoft.Compute/virtualMachines";

/// A virtual machine.
#[derive(Debug, Clone)]
pub(crate) struct Machine {
    pub(crate) name: String,
    pub(crate) vm_id: String,
    pub(crate) created: Timestamp,
    /// The body as sent, without secrets.
    pub(crate) body: Value,
    pub(crate) custom_data: Sensitive,
    pub(crate) state: MachineState,
    pub(crate) size: String,
    pub(crate) family: String,
    pub(crate) vcpus: u64,
    pub(crate) zone: Option<String>,
    pub(crate) is_spot: bool,
    /// Lower-case names of its NICs, and whether each is deleted with it.
    pub(crate) nics: Vec<(String, bool)>,
    /// The name of its OS disk, and whether it is deleted with the VM; `None` if it is ephemeral.
    pub(crate) disk: Option<(String, bool)>,
    /// Extensions by lower-case name.
    pub(crate) extensions: BTreeMap<String, Extension>,
    writes: u64,
}

/// State of a VM.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MachineState {
    Creating,
    Succeeded,
    Failed,
    Deleting,
}

impl MachineState {
    /// Returns the `provisioningState` of the resource.
    pub(crate) const fn text(self) -> &'static str {
        match self {
            Self::Creating => "Creating",
            Self::Succeeded => "Succeeded",
            Self::Failed => "Failed",
            Self::Deleting => "Deleting",
        }
    }
}

pub(crate) fn answer(
    azure: &mut Azure,
    call: &Call<'_>,
    stage: &mut Stage<'_>,
    rest: &[&str],
) -> Result<Answer, ArmError> {
    match (call.method, rest) {
        ("GET", []) => {
            let azure = &*azure;
            let all = azure
                .machines
                .iter()
                .map(|(name, machine)| (name, move || show::machine(azure, machine, show::With::Nothing)));
            Ok(page::answer(azure, call, stage, all))
        }
        ("GET", [name]) => {
            let machine = find(azure, call, name)?;
            let is_expanded =
                call.request.query("$expand").is_some_and(|what| what.eq_ignore_ascii_case("instanceView"));
            let with = if is_expanded { show::With::ExtensionsAndView } else { show::With::Extensions };
            Ok(Answer::json(200, &show::machine(azure, machine, with)))
        }
        ("GET", [name, "instanceview"]) => {
            Ok(Answer::json(200, &show::instance_view(find(azure, call, name)?)))
        }
        ("PUT", [name]) => put::put(azure, call, stage, name),
        ("PATCH", [name]) => patch::patch(azure, call, name),
        ("DELETE", [name]) => delete::delete(azure, call, stage, name),
        (_, [name, "extensions", rest @ ..]) => extension::answer(azure, call, stage, (name, rest)),
        (method, [_] | []) => Err(ArmError::method_not_allowed(method)),
        _ => Err(super::route::unknown(call)),
    }
}

/// A VM that is running from the start.
#[derive(Clone, Debug)]
pub(crate) struct Running<'a> {
    pub(crate) name: &'a str,
    pub(crate) vm_id: &'a str,
    pub(crate) created: Timestamp,
    pub(crate) body: Value,
    pub(crate) sku: Option<&'a Sku>,
    pub(crate) size: &'a str,
    pub(crate) zone: Option<String>,
    pub(crate) is_spot: bool,
}

impl Machine {
    pub(crate) fn tags_mut(&mut self) -> &mut Value {
        member_mut(&mut self.body, "tags")
    }

    /// Changes its ETag.
    pub(crate) const fn wrote(&mut self) {
        self.writes += 1;
    }

    /// Creates a VM that is running from the start; NIC and OS disk have its name.
    pub(crate) fn running(facts: Running<'_>) -> Self {
        Self {
            name: facts.name.to_owned(),
            vm_id: facts.vm_id.to_owned(),
            created: facts.created,
            body: facts.body,
            custom_data: Sensitive::default(),
            state: MachineState::Succeeded,
            size: facts.size.to_owned(),
            family: facts.sku.map(|sku| sku.family.clone()).unwrap_or_default(),
            vcpus: facts.sku.map_or(0, |sku| sku.vcpus),
            zone: facts.zone,
            is_spot: facts.is_spot,
            nics: vec![(facts.name.to_lowercase(), true)],
            disk: Some((facts.name.to_owned(), true)),
            extensions: BTreeMap::new(),
            writes: 1,
        }
    }
}

fn find<'a>(azure: &'a Azure, call: &Call<'_>, name: &str) -> Result<&'a Machine, ArmError> {
    azure.machines.get(name).ok_or_else(|| ArmError::not_found(KIND, call.segment(7), call.segment(3)))
}
