//! Converts a NodeFleet from its wire type. A field that plans do not support yet is refused by name, never ignored.

use std::sync::Arc;

use super::fault::Fault;
use super::{holds, path};
use crate::api::node_fleet::{self as wire, NodeFleet, NodeFleetSpec};
use crate::api::text::{NumberOrWord, Quantity as WireQuantity};
use crate::model::{
    Commitment, Discount, ExtraCost, Fleet, FleetLimits, MicroUsd, MicroUsdPerHour, MinValuesPolicy, Mode,
    NetworkSetup, Prefer, Prices, Quantity, Region, Safety, SkuName, SpreadHosts, Strategy,
};

/// Returns the settings of the whole cluster.
///
/// # Errors
/// Amounts that cannot be parsed, and fields that have no effect yet.
pub(super) fn fleet(wire: &NodeFleet) -> Result<Fleet, Vec<Fault>> {
    let spec = wire.spec.clone().unwrap_or_default();
    let mut faults = not_acted_on(&spec);
    let holds::Kept { holds, reviewed } = holds::kept(&spec, &mut faults);
    faults.extend(unpaid(&spec));
    faults.extend(unheeded(&spec));
    faults.extend(unspread(&spec));
    let cluster = spec.cluster.unwrap_or_default();
    let limits = limits(&spec.limits.unwrap_or_default(), &mut faults);
    let prices = prices(&spec.prices.unwrap_or_default(), &mut faults);
    if !faults.is_empty() {
        return Err(faults);
    }
    Ok(Fleet {
        name: wire.metadata.name.as_deref().map(Arc::from),
        network: network(&cluster),
        names_dataplane: cluster.network_dataplane.is_some(),
        cluster: cluster.name.as_deref().map(Arc::from),
        region: cluster.location.as_deref().map(region),
        prices,
        limits,
        min_values_policy: match spec.min_values_policy {
            Some(wire::MinValuesPolicy::BestEffort) => MinValuesPolicy::BestEffort,
            Some(wire::MinValuesPolicy::Strict) | None => MinValuesPolicy::Strict,
        },
        holds,
        strategy: match spec.strategy {
            Some(wire::Strategy::Karpenter) => Strategy::Karpenter,
            Some(wire::Strategy::Cheapest) | None => Strategy::Cheapest,
        },
        prefer: match spec.prefer {
            Some(wire::Prefer::Availability) => Prefer::Availability,
            Some(wire::Prefer::Price) | None => Prefer::Price,
        },
        extra_cost: extra_cost(spec.preferences.unwrap_or_default()),
        spread_hosts: spread_hosts(spec.spread.unwrap_or_default()),
        safety: safety(&spec.safety.unwrap_or_default()),
        is_suspended: spec.suspend == Some(true),
        mode: match spec.mode {
            Some(wire::Mode::Auto) => Mode::Auto,
            Some(wire::Mode::Review) => Mode::Review,
            Some(wire::Mode::Observe) | None => Mode::Observe,
        },
        reviewed,
    })
}

/// Refuses a cost limit on preferences with strategy `karpenter`, which meets them at any cost.
fn unpaid(spec: &NodeFleetSpec) -> Option<Fault> {
    let limit = spec.preferences.as_ref()?.max_extra_cost_percent.as_ref()?;
    let is_limited = matches!(limit, NumberOrWord::Number(_));
    (is_limited && spec.strategy == Some(wire::Strategy::Karpenter)).then(|| Fault {
        path: path("spec.preferences.maxExtraCostPercent"),
        message: "strategy `karpenter` takes preferences for required, whatever that costs".to_owned(),
        hint: Some("take it out or write `unlimited`, or plan by strategy `cheapest`".to_owned()),
    })
}

/// Refuses `prefer: availability` with strategy `karpenter`, which chooses sizes by price alone.
fn unheeded(spec: &NodeFleetSpec) -> Option<Fault> {
    let is_asked = spec.prefer == Some(wire::Prefer::Availability);
    (is_asked && spec.strategy == Some(wire::Strategy::Karpenter)).then(|| Fault {
        path: path("spec.prefer"),
        message: "strategy `karpenter` chooses by price alone, as Karpenter does".to_owned(),
        hint: Some("take it out or write `price`, or plan by strategy `cheapest`".to_owned()),
    })
}

/// Refuses a number of hosts with strategy `karpenter`, which creates a node for every `maxSkew` spread pods.
fn unspread(spec: &NodeFleetSpec) -> Option<Fault> {
    let is_number = matches!(spec.spread.as_ref()?.min_hosts, Some(NumberOrWord::Number(_)));
    (is_number && spec.strategy == Some(wire::Strategy::Karpenter)).then(|| Fault {
        path: path("spec.spread.minHosts"),
        message: "strategy `karpenter` makes a node for every `maxSkew` pods that are spread over hosts"
            .to_owned(),
        hint: Some("take it out or write `each`, or plan by strategy `cheapest`".to_owned()),
    })
}

/// Returns the limits on lost nodes. The schema rejects negative numbers.
fn safety(wire: &wire::Safety) -> Safety {
    let default = Safety::default();
    let number =
        |wire: Option<i32>, default| wire.and_then(|number| u32::try_from(number).ok()).unwrap_or(default);
    Safety {
        max_loss_percent: number(wire.max_loss_percent, default.max_loss_percent),
        max_loss_nodes: number(wire.max_loss_nodes, default.max_loss_nodes),
    }
}

/// Returns the number of hosts that pods are spread over. The schema rejects invalid numbers and words.
fn spread_hosts(spread: wire::Spread) -> SpreadHosts {
    match spread.min_hosts {
        Some(NumberOrWord::Number(hosts)) => SpreadHosts::AtLeast(u32::try_from(hosts).unwrap_or(u32::MAX)),
        Some(NumberOrWord::Word(_)) => SpreadHosts::Each,
        None => SpreadHosts::default(),
    }
}

/// Returns the limit on the extra cost of preferences. The schema rejects invalid percentages and words.
fn extra_cost(preferences: wire::Preferences) -> ExtraCost {
    match preferences.max_extra_cost_percent {
        Some(NumberOrWord::Number(percent)) => ExtraCost::Percent(u32::try_from(percent).unwrap_or(0)),
        Some(NumberOrWord::Word(_)) => ExtraCost::Unlimited,
        None => ExtraCost::default(),
    }
}

/// Converts a region to Azure's spelling: `West Europe` is `westeurope`.
fn region(text: &str) -> Region {
    Region::new(text.replace(' ', "").to_ascii_lowercase())
}

/// Returns a fault for each field that requests something unsupported. A value that equals the default behaviour is
/// accepted.
fn not_acted_on(spec: &NodeFleetSpec) -> Vec<Fault> {
    let asked = [(
        "spec.allow",
        spec.allow.as_ref().is_some_and(|list| !list.is_empty()),
        "no standing bounds are kept",
    )];
    asked
        .into_iter()
        .filter(|(_, is_asked, _)| *is_asked)
        .map(|(at, _, instead)| Fault {
            path: path(at),
            message: format!("this version does not act on this field yet: {instead}"),
            hint: Some("remove the field for this version; it is valid for later ones".to_owned()),
        })
        .collect()
}

/// Returns the network set-up; `None` if the fleet does not set it.
fn network(cluster: &wire::Cluster) -> Option<NetworkSetup> {
    let is_cilium = cluster.network_dataplane == Some(wire::NetworkDataplane::Cilium);
    let is_overlay = cluster.network_plugin_mode == Some(wire::NetworkPluginMode::Overlay);
    match cluster.network_plugin {
        Some(wire::NetworkPlugin::None) => Some(NetworkSetup::None),
        Some(wire::NetworkPlugin::Azure) if is_overlay => Some(NetworkSetup::AzureOverlay { is_cilium }),
        Some(wire::NetworkPlugin::Azure) => Some(NetworkSetup::Azure { is_cilium }),
        None if is_overlay || cluster.network_dataplane.is_some() => {
            Some(NetworkSetup::AzureOverlay { is_cilium })
        }
        None => None,
    }
}

fn limits(wire: &wire::FleetLimits, faults: &mut Vec<Fault>) -> FleetLimits {
    let mut amount = |quantity: Option<&WireQuantity>, field: &str| -> Option<Quantity> {
        let text = quantity?.to_string();
        let amount = Quantity::parse(&text).filter(|quantity| !quantity.is_negative());
        if amount.is_none() {
            faults.push(Fault {
                path: path(&format!("spec.limits.{field}")),
                message: format!("`{text}` is no amount from 0 upward that can be counted"),
                hint: Some("write an amount such as `200` or `16Ti`".to_owned()),
            });
        }
        amount
    };
    let nodes = amount(wire.nodes.as_ref(), "nodes").and_then(|nodes| u64::try_from(nodes.units_down()).ok());
    let cpu_milli = amount(wire.cpu.as_ref(), "cpu").map(|cpu| cpu.milli_down());
    let memory_bytes = amount(wire.memory.as_ref(), "memory").map(|memory| memory.units_down());
    let cost = wire.cost_per_month.as_deref();
    let cost_per_month = cost.and_then(|text| dollars(text, "spec.limits.costPerMonth", faults));
    FleetLimits {
        nodes,
        cpu_milli,
        memory_bytes,
        cost_per_month: cost_per_month.map(|amount| MicroUsd(amount.0)),
    }
}

fn prices(wire: &wire::Prices, faults: &mut Vec<Fault>) -> Prices {
    let cost_per_node = wire.cost_per_node.as_deref();
    let cost_per_node = cost_per_node.and_then(|text| dollars(text, "spec.prices.costPerNode", faults));
    let discounts = wire.discounts.iter().flatten().map(|wire| Discount {
        family: Arc::from(wire.family.as_str()),
        percent: u32::try_from(wire.percent).unwrap_or(0),
    });
    let commitments = wire.commitments.iter().flatten().enumerate().filter_map(|(index, wire)| {
        let at = format!("spec.prices.commitments[{index}].pricePerHour");
        Some(Commitment {
            size: SkuName::new(&wire.size),
            count: u32::try_from(wire.count).unwrap_or(0),
            price: dollars(&wire.price_per_hour, &at, faults)?,
        })
    });
    Prices {
        cost_per_node: cost_per_node.unwrap_or_default(),
        discounts: discounts.collect(),
        commitments: commitments.collect(),
    }
}

fn dollars(text: &str, at: &str, faults: &mut Vec<Fault>) -> Option<MicroUsdPerHour> {
    let amount = MicroUsdPerHour::from_decimal_usd(text);
    if amount.is_none() {
        faults.push(Fault {
            path: path(at),
            message: format!("`{text}` is no amount of dollars that can be counted"),
            hint: Some("write dollars as a decimal, such as \"0.12\"".to_owned()),
        });
    }
    amount
}
