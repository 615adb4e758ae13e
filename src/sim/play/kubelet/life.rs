//! From a VM's boot to the end of its node.

use jiff::SignedDuration;
use serde_json::{Value, json};

use super::custom_data::{Claim, NodeConfig};
use super::{Kubelet, node, token};
use crate::sim::agenda::{Event, second};
use crate::sim::azure::{Azure, Machine, MachineState};
use crate::sim::cluster::{Grace, NODES, Name, PODS, set_condition};
use crate::sim::json::{list_mut, set};
use crate::sim::play::{Play, Scene};

/// Time that a kubelet waits before it retries registration, in seconds.
const RETRY_SECONDS: i64 = 30;
/// Maximum number of attempts: longer than any client waits for a node.
const ATTEMPTS_MAX: u32 = 60;

/// Why a kubelet has not joined, and whether a retry is pointless.
struct Failure {
    why: String,
    is_final: bool,
}

impl Play {
    /// Handles a booted VM: its kubelet registers or fails.
    pub(crate) fn boot(&mut self, azure: &Azure, scene: &mut Scene<'_>, vm_id: &str, never_joins: bool) {
        let Some(machine) = azure.machine_by_id(vm_id) else { return };
        if machine.state != MachineState::Succeeded {
            return;
        }
        let result = if never_joins {
            Err(Failure { why: "a fault keeps it from joining".to_owned(), is_final: true })
        } else {
            self.register(azure, scene, machine)
        };
        let kubelet = self.kubelets.entry(vm_id.to_owned()).or_default();
        kubelet.machine.clone_from(&machine.name);
        kubelet.attempts += 1;
        match result {
            Ok(name) => {
                self.machine_of_node.insert(name.clone(), vm_id.to_owned());
                kubelet.node = Some(name);
                kubelet.failure = None;
                for (what, range, event) in [
                    ("ready", self.durations.node_ready, Event::NodeReady(vm_id.to_owned())),
                    ("initialize", self.durations.node_initialize, Event::NodeInitialized(vm_id.to_owned())),
                ] {
                    let wait = self.draw.within(&format!("{what} {vm_id}"), range);
                    scene.agenda.after(scene.now, wait, event);
                }
            }
            Err(Failure { why, is_final }) => {
                kubelet.failure = Some(why);
                if !is_final && kubelet.attempts < ATTEMPTS_MAX {
                    let wait = SignedDuration::from_secs(RETRY_SECONDS);
                    scene.agenda.after(scene.now, wait, Event::Boots(vm_id.to_owned()));
                }
            }
        }
    }

    fn register(&self, azure: &Azure, scene: &mut Scene<'_>, machine: &Machine) -> Result<String, Failure> {
        let last = |why: String| Failure { why, is_final: true };
        let config = NodeConfig::read(&machine.custom_data).map_err(last)?;
        check_claims(azure, &config).map_err(last)?;
        token::check(scene.store, &config.token, scene.now)
            .map_err(|why| Failure { why, is_final: false })?;
        let new = node::registered(azure, machine, &config, scene.now);
        let name = Name::of(&new);
        if scene.store.get(NODES, &name).is_some() {
            let why = format!("another node is registered as {}", name.name);
            return Err(Failure { why, is_final: false });
        }
        scene.store.create(NODES, new, scene.now);
        Ok(name.name)
    }

    /// Sets a node to Ready.
    pub(crate) fn node_ready(&self, scene: &mut Scene<'_>, vm_id: &str) {
        let Some(name) = self.live_node(vm_id) else { return };
        let now = scene.now;
        scene.store.modify(NODES, &name, |node| {
            set_condition(node, ready_condition("True", "KubeletReady", second(now)));
            node::without_taint(node, "node.kubernetes.io/not-ready");
        });
    }

    /// Initializes a node through the cloud provider.
    pub(crate) fn node_initialized(&self, azure: &Azure, scene: &mut Scene<'_>, vm_id: &str) {
        let (Some(name), Some(machine)) = (self.live_node(vm_id), azure.machine_by_id(vm_id)) else { return };
        scene.store.modify(NODES, &name, |object| node::initialized(azure, machine, object));
    }

    /// Sets a node whose kubelet is silent to NotReady, because its VM is gone.
    pub(crate) fn node_silent(&mut self, scene: &mut Scene<'_>, vm_id: &str) {
        let Some(name) = self.node_of(vm_id) else { return };
        let now = scene.now;
        scene.store.modify(NODES, &name, |node| {
            set(node, &["status", "conditions"], node::conditions("Unknown", "NodeStatusUnknown", now));
            if let Some(taints) = list_mut(node, &["spec", "taints"]) {
                for effect in ["NoSchedule", "NoExecute"] {
                    taints.push(json!({"key": "node.kubernetes.io/unreachable", "effect": effect, "timeAdded": second(now)}));
                }
            }
        });
        let pods: Vec<Name> = self.index.on_node(&name.name).map(|(pod, _)| pod.clone()).collect();
        for pod in pods {
            scene.store.modify(PODS, &pod, |pod| {
                set_condition(pod, ready_condition("False", "NodeStatusUnknown", second(now)));
            });
        }
    }

    /// Deletes a node without a VM, as the cloud node lifecycle controller does; finalizers may delay the removal.
    pub(crate) fn node_removed(&mut self, scene: &mut Scene<'_>, vm_id: &str) {
        if let Some(name) = self.node_of(vm_id) {
            scene.store.delete(NODES, &name, Grace::default(), scene.now);
        }
        // A finalizer may keep the node for a while, but nothing runs pods there any more.
        if let Some(node) = self.kubelets.remove(vm_id).and_then(|kubelet| kubelet.node) {
            self.machine_of_node.remove(&node);
        }
    }

    /// Registers the kubelet of a node that exists from the start, on this VM.
    pub(crate) fn has_joined(&mut self, vm_id: &str, machine: &str, node: &str) {
        let kubelet =
            Kubelet { machine: machine.to_owned(), node: Some(node.to_owned()), ..Kubelet::default() };
        self.machine_of_node.insert(node.to_owned(), vm_id.to_owned());
        self.kubelets.insert(vm_id.to_owned(), kubelet);
    }

    /// Stops the kubelet of a deleted VM.
    pub(crate) fn stop(&mut self, vm_id: &str) {
        if let Some(kubelet) = self.kubelets.get_mut(vm_id) {
            kubelet.is_stopped = true;
        }
    }

    fn node_of(&self, vm_id: &str) -> Option<Name> {
        self.kubelets.get(vm_id)?.node.as_ref().map(|name| Name::new("", name))
    }

    fn live_node(&self, vm_id: &str) -> Option<Name> {
        let Kubelet { is_stopped, .. } = self.kubelets.get(vm_id)?;
        if *is_stopped { None } else { self.node_of(vm_id) }
    }
}

fn ready_condition(status: &str, reason: &str, now: String) -> Value {
    json!({
        "type": "Ready", "status": status, "reason": reason, "message": "",
        "lastHeartbeatTime": now, "lastTransitionTime": now,
    })
}

/// Checks that the cluster facts of a configuration are correct; otherwise the kubelet cannot connect.
fn check_claims(azure: &Azure, config: &NodeConfig) -> Result<(), String> {
    let settings = &azure.settings;
    let subnet = settings.subnet_id();
    let part = |at: usize| subnet.split('/').nth(at).unwrap_or_default().to_owned();
    for (claim, given) in &config.claims {
        let wanted = match claim {
            Claim::ApiServer => settings.fqdn(),
            Claim::CaCertificate => match &azure.ca_certificate {
                Some(known) => known.clone(),
                None => continue,
            },
            Claim::Tenant => settings.tenant.clone(),
            Claim::Subscription => settings.subscription.clone(),
            Claim::ResourceGroup => settings.node_resource_group(),
            Claim::Location => settings.location.clone(),
            Claim::Network => part(8),
            Claim::Subnet => part(10),
        };
        let field = claim.field();
        if *claim == Claim::CaCertificate {
            if !same_certificate(given, &wanted) {
                return Err(format!("`{field}` is not the cluster's certificate authority, in base64"));
            }
        } else if !given.eq_ignore_ascii_case(&wanted) {
            return Err(format!("`{field}` is `{given}`, the cluster's is `{wanted}`"));
        }
    }
    Ok(())
}

fn same_certificate(given: &str, known: &str) -> bool {
    let bare = |text: &str| text.split_whitespace().collect::<String>();
    data_encoding::BASE64
        .decode(bare(given).as_bytes())
        .ok()
        .and_then(|bytes| String::from_utf8(bytes).ok())
        .is_some_and(|pem| bare(&pem) == bare(known))
}
