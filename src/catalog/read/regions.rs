//! Finds the regions in files, for users who did not name one.
//!
//! Never reports faults; reading the file does.

use std::collections::BTreeSet;

use serde::Deserialize;

use crate::model::Region;

/// Content of a file: a response with its rows, or the bare rows.
#[derive(Deserialize)]
#[serde(untagged)]
enum Rows {
    Answer {
        #[serde(alias = "value", alias = "Items", alias = "instanceTypes")]
        rows: Vec<Row>,
    },
    Bare(Vec<Row>),
}

/// Fields with the region of a size, a price or an instance type.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Row {
    #[serde(default)]
    locations: Vec<String>,
    arm_region_name: Option<String>,
    #[serde(default)]
    offerings: Vec<Offering>,
}

#[derive(Deserialize)]
struct Offering {
    zone: Option<String>,
}

/// Returns the regions in these texts, in lower case. A text of unknown kind has none.
pub(in crate::catalog) fn named(texts: &[(&str, &str)]) -> BTreeSet<Region> {
    let mut regions = BTreeSet::new();
    for (_, text) in texts {
        let Ok(rows) = serde_json::from_str::<Rows>(text) else { continue };
        let rows = match rows {
            Rows::Answer { rows } | Rows::Bare(rows) => rows,
        };
        for Row { locations, arm_region_name, offerings } in rows {
            let zones = offerings.into_iter().filter_map(|offering| offering.zone);
            let of_zones = zones.filter_map(|zone| Some(zone.rsplit_once('-')?.0.to_owned()));
            let names = locations.into_iter().chain(arm_region_name).chain(of_zones);
            regions
                .extend(names.filter(|name| !name.is_empty()).map(|name| Region::new(name.to_lowercase())));
        }
    }
    regions
}

#[cfg(test)]
mod tests {
    use super::named;

    #[test]
    fn each_kind_of_file_names_its_regions() {
        let shown = |text: &str| {
            let names: Vec<String> = named(&[("f", text)]).iter().map(ToString::to_string).collect();
            names.join(" ")
        };
        assert_eq!(shown(r#"{"value":[{"locations":["SouthCentralUS"],"name":"x"}]}"#), "southcentralus");
        assert_eq!(
            shown(r#"{"Items":[{"armRegionName":"eastus"},{"armRegionName":"westus"}]}"#),
            "eastus westus"
        );
        assert_eq!(shown(r#"[{"name":"t","offerings":[{"zone":"eastus-1"},{"zone":"0"}]}]"#), "eastus");
        assert_eq!(shown("no JSON"), "");
    }
}
