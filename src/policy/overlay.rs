//! Converts a NodeOverlay from its wire type.
//!
//! The schema and Karpenter's rules have been checked already; only amounts that cannot be parsed remain.

use super::fault::Fault;
use super::{path, pool};
use crate::api::node_overlay::{NodeOverlay, OverlayRequirement};
use crate::api::template::Requirement;
use crate::model::{Overlay, OverlayName, PriceChange};

/// Returns the overlay, or all its faults.
///
/// # Errors
/// Prices that the schema accepts but that cannot be parsed.
pub(super) fn overlay(wire: &NodeOverlay) -> Result<Overlay, Vec<Fault>> {
    let spec = &wire.spec;
    let price = match (&spec.price, &spec.price_adjustment) {
        (Some(text), _) => Some((PriceChange::parse_price(text), text, "spec.price")),
        (None, Some(text)) => Some((PriceChange::parse_adjustment(text), text, "spec.priceAdjustment")),
        (None, None) => None,
    };
    let price = match price {
        Some((None, text, at)) => {
            let message = format!("`{text}` is more than can be counted");
            return Err(vec![Fault { path: path(at), message, hint: None }]);
        }
        Some((price, _, _)) => price,
        None => None,
    };
    let requirement = |OverlayRequirement { key, operator, values }: &OverlayRequirement| Requirement {
        key: key.clone(),
        operator: *operator,
        values: values.clone(),
        min_values: None,
    };
    let requirements: Vec<Requirement> = spec.requirements.iter().map(requirement).collect();
    Ok(Overlay {
        name: OverlayName::new(wire.metadata.name.as_deref().unwrap_or_default()),
        weight: spec.weight.and_then(|weight| u32::try_from(weight).ok()).unwrap_or(0),
        requirements: pool::requirements(&requirements),
        price,
        capacity: super::amounts(spec.capacity.as_ref(), "spec.capacity")?,
    })
}
