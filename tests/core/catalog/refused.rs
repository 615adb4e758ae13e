//! What Azure refuses for the time being, taken off the catalogue.

use std::collections::BTreeSet;

use nodeform::catalog::Catalog;
use nodeform::model::{CapacityType, Refusal, RefusedBecause, RefusedPlace, Region, SkuName, Zone};

use super::oracle::{OVERLAY, class};

/// The ways to have these sizes that a refusal takes off, as `D4as_v5/1/spot`.
fn gone(size: Option<&str>, place: RefusedPlace, capacity_type: Option<CapacityType>) -> BTreeSet<String> {
    const SIZES: [&str; 4] = ["Standard_D2as_v5", "Standard_D4as_v5", "Standard_D8as_v5", "Standard_D4s_v5"];
    let catalog = Catalog::embedded(&Region::new("westeurope")).expect("is known");
    let ways = |catalog: &Catalog| -> BTreeSet<String> {
        let offered = catalog.offered(&class(), OVERLAY);
        let kinds = offered.types.iter().filter(|kind| SIZES.contains(&kind.name.as_str()));
        let ways = kinds.flat_map(|kind| kind.offerings.iter().map(move |offering| (kind, offering)));
        let available = ways.filter(|(_, offering)| offering.is_available);
        let way = |(kind, offering): (&nodeform::model::InstanceType, &nodeform::model::Offering)| {
            let (size, zone) = (kind.name.as_str(), offering.zone.as_str());
            let zone = zone.trim_start_matches("westeurope-");
            format!("{}/{zone}/{}", size.trim_start_matches("Standard_"), offering.capacity_type)
        };
        available.map(way).collect()
    };
    let refusal = Refusal {
        size: size.map(SkuName::new),
        place,
        capacity_type,
        because: RefusedBecause::AllocationFailure,
        said: None,
        until: "2026-11-21T10:00:00Z".parse().expect("a time"),
    };
    ways(&catalog).difference(&ways(&catalog.without(vec![refusal]))).cloned().collect()
}

fn text(ways: &BTreeSet<String>) -> String {
    ways.iter().map(String::as_str).collect::<Vec<_>>().join(" ")
}

#[test]
fn a_refused_size_goes_with_larger_ones_of_its_series_where_and_as_it_was_refused() {
    let zone = RefusedPlace::Zone(Zone::new("westeurope-1"));
    let of_zone = gone(Some("Standard_D4as_v5"), zone.clone(), Some(CapacityType::Spot));
    assert_eq!(text(&of_zone), "D4as_v5/1/spot D8as_v5/1/spot");
    let both = gone(Some("Standard_D8as_v5"), zone, None);
    assert_eq!(text(&both), "D8as_v5/1/on-demand D8as_v5/1/spot");
}

#[test]
fn all_of_spot_goes_and_on_demand_stays() {
    let spot = gone(None, RefusedPlace::Everywhere, Some(CapacityType::Spot));
    assert!(spot.len() >= 12 && spot.iter().all(|way| way.ends_with("/spot")), "{spot:?}");
    let zonal = gone(Some("Standard_D4s_v5"), RefusedPlace::EveryZone, Some(CapacityType::OnDemand));
    assert_eq!(text(&zonal), "D4s_v5/1/on-demand D4s_v5/2/on-demand D4s_v5/3/on-demand");
}
