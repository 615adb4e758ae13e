//! Network interfaces.

mod put;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::operation::{self, Task};
use super::{ArmError, Azure, Call, Stage, address, page};
use crate::sim::faults::Ending;
use crate::sim::http::Answer;
use crate::sim::json::{list, member_mut, set, text};

pub(crate) const KIND: &str = "Microsoft.Network/networkInterfaces";

/// How long Azure reserves a NIC for a VM whose creation failed, in seconds.
pub(crate) const RESERVED_SECONDS: i64 = 180;

/// A network interface.
#[derive(Debug, Clone)]
pub(crate) struct Nic {
    pub(crate) name: String,
    /// The body as sent.
    body: Value,
    /// One address for each IP configuration, in their order.
    pub(crate) addresses: Vec<u32>,
    pub(crate) is_ready: bool,
    pub(crate) is_deleting: bool,
    /// The lower-case name of the VM that it is attached to.
    pub(crate) machine: Option<String>,
    /// Reservation for a VM whose creation failed.
    pub(crate) reserved: Option<Reservation>,
    guid: String,
    writes: u64,
}

/// A VM whose creation failed and for which a NIC is reserved for a while.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Reservation {
    /// The VM's lower-case name.
    pub(crate) machine: String,
    pub(crate) until: Timestamp,
}

impl Nic {
    /// Creates a NIC that is attached to a VM of the same name from the start.
    pub(crate) fn attached(name: &str, body: Value, addresses: Vec<u32>, guid: String) -> Self {
        Self {
            name: name.to_owned(),
            body,
            addresses,
            is_ready: true,
            is_deleting: false,
            machine: Some(name.to_lowercase()),
            reserved: None,
            guid,
            writes: 1,
        }
    }

    pub(crate) fn tags_mut(&mut self) -> &mut Value {
        member_mut(&mut self.body, "tags")
    }

    /// Changes its ETag.
    pub(crate) const fn wrote(&mut self) {
        self.writes += 1;
    }

    fn configurations(&self) -> &[Value] {
        list(&self.body, "/properties/ipConfigurations")
    }

    /// Returns the ids of its IP configurations.
    pub(crate) fn configuration_ids(&self, azure: &Azure) -> Vec<String> {
        self.configurations()
            .iter()
            .map(|configuration| self.configuration_id(azure, configuration))
            .collect()
    }

    /// Returns the ids of its IP configurations that are members of a backend pool.
    pub(crate) fn configurations_in_pool(&self, azure: &Azure, pool: &str) -> Vec<String> {
        self.configurations()
            .iter()
            .filter(|configuration| {
                list(configuration, "/properties/loadBalancerBackendAddressPools")
                    .iter()
                    .any(|member| text(member, "/id").is_some_and(|id| id.eq_ignore_ascii_case(pool)))
            })
            .map(|configuration| self.configuration_id(azure, configuration))
            .collect()
    }

    fn configuration_id(&self, azure: &Azure, configuration: &Value) -> String {
        let name = text(configuration, "/name").unwrap_or_default();
        format!("{}/ipConfigurations/{name}", azure.id(KIND, &self.name))
    }

    /// Returns whether it is reserved for a VM at a time.
    pub(crate) fn is_reserved(&self, now: Timestamp) -> bool {
        self.reserved.as_ref().is_some_and(|reserved| reserved.until > now)
    }

    /// Returns the primary IP address of its node.
    pub(crate) fn primary_address(&self) -> String {
        self.addresses.first().copied().map(address::text).unwrap_or_default()
    }

    /// Returns its tags.
    pub(crate) fn tags(&self) -> Value {
        self.body.get("tags").cloned().unwrap_or_else(|| json!({}))
    }

    pub(crate) const fn state(&self) -> &'static str {
        if self.is_deleting {
            "Deleting"
        } else if self.is_ready {
            "Succeeded"
        } else {
            "Updating"
        }
    }

    fn shown(&self, azure: &Azure) -> Value {
        let mut body = self.body.clone();
        let etag = format!("W/\"{}-{}\"", self.guid, self.writes);
        set(&mut body, &["name"], json!(self.name));
        set(&mut body, &["id"], json!(azure.id(KIND, &self.name)));
        set(&mut body, &["type"], json!(KIND));
        set(&mut body, &["etag"], json!(etag));
        for (name, value) in [
            ("provisioningState", json!(self.state())),
            ("resourceGuid", json!(self.guid)),
            ("nicType", json!("Standard")),
            ("dnsSettings", json!({"dnsServers": [], "appliedDnsServers": []})),
        ] {
            set(&mut body, &["properties", name], value);
        }
        if let Some(machine) = self.machine.as_ref().and_then(|name| azure.machines.get(name)) {
            let id = azure.id(super::vm::KIND, &machine.name);
            set(&mut body, &["properties", "virtualMachine"], json!({"id": id}));
            set(&mut body, &["properties", "primary"], json!(true));
        }
        let configurations: Vec<Value> = self
            .configurations()
            .iter()
            .zip(&self.addresses)
            .map(|(configuration, given)| self.shown_configuration(azure, configuration, *given, &etag))
            .collect();
        set(&mut body, &["properties", "ipConfigurations"], configurations.into());
        body
    }

    fn shown_configuration(&self, azure: &Azure, configuration: &Value, given: u32, etag: &str) -> Value {
        let mut shown = configuration.clone();
        set(&mut shown, &["id"], json!(self.configuration_id(azure, configuration)));
        set(&mut shown, &["etag"], json!(etag));
        set(&mut shown, &["type"], json!("Microsoft.Network/networkInterfaces/ipConfigurations"));
        for (name, value) in [
            ("provisioningState", json!(self.state())),
            ("privateIPAddress", json!(address::text(given))),
            ("privateIPAllocationMethod", json!("Dynamic")),
            ("privateIPAddressVersion", json!("IPv4")),
        ] {
            set(&mut shown, &["properties", name], value);
        }
        shown
    }
}

pub(crate) fn answer(
    azure: &mut Azure,
    call: &Call<'_>,
    stage: &mut Stage<'_>,
    rest: &[&str],
) -> Result<Answer, ArmError> {
    let name = match rest {
        [] if call.method == "GET" => {
            let azure = &*azure;
            let all = azure.nics.iter().map(|(name, nic)| (name, move || nic.shown(azure)));
            return Ok(page::answer(azure, call, stage, all));
        }
        [name] => (*name).to_owned(),
        _ => return Err(super::route::unknown(call)),
    };
    match call.method {
        "GET" => azure
            .nics
            .get(&name)
            .map(|nic| Answer::json(200, &nic.shown(azure)))
            .ok_or_else(|| ArmError::not_found(KIND, call.segment(7), call.segment(3))),
        "PUT" => put::put(azure, call, stage, &name),
        "PATCH" => put::patch(azure, call, &name),
        "DELETE" => delete(azure, call, stage, &name),
        method => Err(ArmError::method_not_allowed(method)),
    }
}

/// Ends the creation of a NIC.
pub(crate) fn made(azure: &mut Azure, name: &str) -> Option<ArmError> {
    if let Some(nic) = azure.nics.get_mut(name) {
        nic.is_ready = true;
    }
    None
}

fn delete(azure: &mut Azure, call: &Call<'_>, stage: &mut Stage<'_>, name: &str) -> Result<Answer, ArmError> {
    let Some(nic) = azure.nics.get(name) else { return Ok(Answer::empty(204)) };
    let id = azure.id(KIND, &nic.name);
    if let Some(machine) = nic.machine.as_ref().and_then(|machine| azure.machines.get(machine)) {
        let message = format!(
            "Network Interface {id} is used by existing resource {}. In order to delete the network interface, it must be dissociated from the resource.",
            azure.id(super::vm::KIND, &machine.name)
        );
        return Err(ArmError::new(400, "NetworkInterfaceInUse", message));
    }
    if let Some(reserved) = nic.reserved.as_ref().filter(|reserved| reserved.until > stage.now) {
        let message = format!(
            "Nic(s) in request is reserved for another Virtual Machine for {RESERVED_SECONDS} seconds. Please provide another nic(s) or retry after {RESERVED_SECONDS} seconds. Reserved VM: {}",
            azure.id(super::vm::KIND, &reserved.machine)
        );
        return Err(ArmError::new(400, "NicReservedForAnotherVm", message));
    }
    if nic.is_deleting {
        return Ok(announce_running(azure, call, name));
    }
    let wait = stage.draw.within(&format!("nic delete {name} {}", stage.now), azure.settings.durations.nic);
    if let Some(nic) = azure.nics.get_mut(name) {
        nic.is_deleting = true;
    }
    let operation =
        operation::begin(azure, call, stage, Task::DeleteNic(name.to_owned()), (wait, Ending::AsAsked));
    Ok(operation::announced(azure, call, &operation, Answer::empty(202)))
}

/// Answers a second deletion with the operation of the first.
fn announce_running(azure: &Azure, call: &Call<'_>, name: &str) -> Answer {
    let running = azure
        .operations
        .values()
        .find(|operation| operation.ended.is_none() && operation.task == Task::DeleteNic(name.to_owned()))
        .map(|operation| operation.id.clone())
        .unwrap_or_default();
    operation::announced(azure, call, &running, Answer::empty(202))
}
