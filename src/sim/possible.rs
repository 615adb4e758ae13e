//! Validates names in faults and settings against the world: a rule about a zone, size or pool that does not exist
//! would never take effect, and its author would take the silence for success.
//!
//! All faults are reported together, each with the closest known name. Must never guess the intended name and continue.

use super::azure::Azure;
use super::cluster::Store;
use super::faults::{FaultKind, FaultRule, FaultsFile, When};
use super::json::text;
use super::settings::{Durations, Seconds, SettingsFault, SimulatedAzure, nearest};

/// The HTTP methods that ARM accepts.
const METHODS: [&str; 6] = ["GET", "PUT", "PATCH", "POST", "DELETE", "HEAD"];

/// The resource types that requests to the simulated Azure can name, without their providers.
const RESOURCES: [&str; 16] = [
    "virtualMachines",
    "virtualMachines/extensions",
    "networkInterfaces",
    "disks",
    "virtualNetworks",
    "virtualNetworks/subnets",
    "networkSecurityGroups",
    "loadBalancers",
    "managedClusters",
    "permissions",
    "skus",
    "subscriptions",
    "resourceGroups",
    "locations/usages",
    "locations/operations",
    "locations/communityGalleries/images/versions",
];

/// Quotas that do not belong to a VM family.
const OTHER_QUOTAS: [&str; 2] = ["cores", "lowPriorityCores"];

/// The known names; an empty list is unknown, and no name is rejected because of it.
pub(crate) struct Known {
    location: String,
    zones: Vec<String>,
    sizes: Vec<String>,
    families: Vec<String>,
    pools: Vec<String>,
    /// The kinds of the API server, as plurals.
    plurals: Vec<String>,
}

impl Known {
    /// Collects the names of a world. The NodePools of a real API server are not among its objects.
    pub(crate) fn of(azure: &Azure, store: &Store) -> Self {
        let mut families: Vec<String> = azure.sizes().map(|sku| sku.family.clone()).collect();
        families.sort();
        families.dedup();
        let pools = store.list_of("NodePool");
        Self {
            location: azure.settings.location.clone(),
            zones: azure.settings.zones.clone(),
            sizes: azure.sizes().map(|sku| sku.name.clone()).collect(),
            families,
            plurals: store.kinds.all().map(|(_, kind)| kind.plural.clone()).collect(),
            pools: pools.filter_map(|pool| Some(text(&pool, "/metadata/name")?.to_owned())).collect(),
        }
    }

    /// Returns all names in fault rules that the world does not have.
    pub(crate) fn impossible_faults(&self, file: &FaultsFile) -> Vec<SettingsFault> {
        let mut said = Vec::new();
        for (at, FaultRule { kind, when, status, .. }) in file.faults.iter().enumerate() {
            self.impossible_occasion(&format!("spec.faults[{at}].when"), when, &mut said);
            let is_refusal = *kind == FaultKind::Refused;
            if let Some(wrong) = status.filter(|status| !is_refusal || !(400..600).contains(status)) {
                let message =
                    format!("`{wrong}` is no status of a refusal: write 400 to 599, with kind `Refused`");
                said.push(SettingsFault { path: format!("spec.faults[{at}].status"), message });
            }
        }
        said
    }

    fn impossible_occasion(&self, path: &str, when: &When, said: &mut Vec<SettingsFault>) {
        let When { size, zone, pool, name: _, method, resource, nth: _, after_seconds, until_seconds } = when;
        let mut want = |field: &str, wrong: Option<String>| {
            said.extend(wrong.map(|message| SettingsFault { path: format!("{path}.{field}"), message }));
        };
        want("size", size.as_deref().and_then(|size| self.no_size(size)));
        want("zone", zone.as_deref().and_then(|zone| self.no_zone(zone)));
        want("pool", pool.as_deref().and_then(|pool| unless(pool, &self.pools, "no NodePool of the world")));
        want(
            "method",
            method.as_deref().and_then(|method| unless_exactly(method, &METHODS, "no method of ARM")),
        );
        want("resource", resource.as_deref().and_then(|resource| self.no_resource(resource)));
        if let (Some(after), Some(until)) = (after_seconds, until_seconds)
            && after >= until
        {
            want(
                "untilSeconds",
                Some(format!("must be more than `afterSeconds`, {after}: it never acts else")),
            );
        }
    }

    /// Returns all names in settings that the world does not have.
    pub(crate) fn impossible_settings(&self, settings: &SimulatedAzure) -> Vec<SettingsFault> {
        let mut said = Vec::new();
        let mut want = |path: String, wrong: Option<String>| {
            said.extend(wrong.map(|message| SettingsFault { path, message }));
        };
        for (at, rule) in settings.capacity.iter().enumerate() {
            let path = |field: &str| format!("spec.capacity[{at}].{field}");
            want(path("size"), rule.size.as_deref().and_then(|size| self.no_size(size)));
            want(path("zone"), rule.zone.as_deref().and_then(|zone| self.no_zone(zone)));
            let priority = rule.priority.as_deref();
            want(path("priority"), priority.and_then(|it| unless(it, &["Regular", "Spot"], "no priority")));
        }
        let quotas: Vec<&str> = self.families.iter().map(String::as_str).chain(OTHER_QUOTAS).collect();
        for family in settings.quotas.keys().filter(|_| !self.families.is_empty()) {
            want(format!("spec.quotas.{family}"), unless(family, &quotas, "no family of the SKU list"));
        }
        for (name, Seconds { from, to }) in ranges(&settings.durations) {
            let wrong = (from > to).then(|| format!("`from`, {from}, must not be more than `to`, {to}"));
            want(format!("spec.durations.{name}"), wrong);
        }
        said
    }

    /// Checks for an Azure type or a plural of the API server, with or without a subresource.
    fn no_resource(&self, resource: &str) -> Option<String> {
        let plural = resource.split('/').next().unwrap_or_default();
        let is_served = self.plurals.iter().any(|known| known.eq_ignore_ascii_case(plural));
        if is_served { None } else { unless(resource, &RESOURCES, "no type that the simulated Azure has") }
    }

    fn no_size(&self, size: &str) -> Option<String> {
        unless(size, &self.sizes, &format!("no size in `{}`", self.location))
    }

    /// Checks for an Azure zone. Kubernetes zones have the region as a prefix, Azure zones do not.
    fn no_zone(&self, zone: &str) -> Option<String> {
        if self.zones.is_empty() {
            return Some(format!("`{zone}` is no zone: `{}` has none", self.location));
        }
        let meant = zone
            .strip_prefix(&format!("{}-", self.location))
            .filter(|meant| self.zones.iter().any(|it| it == meant));
        match meant {
            Some(meant) => {
                Some(format!("`{zone}` is a zone of nodes, and Azure's is wanted: did you mean `{meant}`?"))
            }
            None if self.zones.iter().any(|known| known == zone) => None,
            None => Some(format!(
                "`{zone}` is no zone of `{}`, which has `{}`",
                self.location,
                self.zones.join("`, `")
            )),
        }
    }
}

/// Returns a message if a name is unknown, ignoring case as Azure does.
fn unless(name: &str, known: &[impl AsRef<str>], what: &str) -> Option<String> {
    let is_known = known.is_empty() || known.iter().any(|known| known.as_ref().eq_ignore_ascii_case(name));
    (!is_known).then(|| said(name, known, what))
}

fn unless_exactly(name: &str, known: &[&str], what: &str) -> Option<String> {
    (!known.contains(&name)).then(|| said(name, known, what))
}

fn said(name: &str, known: &[impl AsRef<str>], what: &str) -> String {
    let near = nearest(name, known.iter().map(AsRef::as_ref));
    let near = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
    format!("`{name}` is {what}{near}")
}

fn ranges(durations: &Durations) -> [(&'static str, Seconds); 10] {
    let Durations {
        vm_create,
        vm_delete,
        nic,
        extension,
        boot,
        node_ready,
        node_initialize,
        pod_start,
        pod_stop,
        job,
    } = *durations;
    [
        ("vmCreate", vm_create),
        ("vmDelete", vm_delete),
        ("nic", nic),
        ("extension", extension),
        ("boot", boot),
        ("nodeReady", node_ready),
        ("nodeInitialize", node_initialize),
        ("podStart", pod_start),
        ("podStop", pod_stop),
        ("job", job),
    ]
}
