//! `nodeform schema`.

use super::arguments::SchemaArguments;
use super::exit::{Exit, Failure};
use super::ui::Ui;
use crate::api::Kind;

/// The formats that are not Kubernetes kinds.
const FORMATS: [(&str, &str); 5] = [
    ("catalog", include_str!("../../schemas/catalog.json")),
    ("plan", include_str!("../../schemas/plan.json")),
    ("simulatedazure", include_str!("../../schemas/simulatedazure.json")),
    ("simulatedfaults", include_str!("../../schemas/simulatedfaults.json")),
    ("snapshot", include_str!("../../schemas/snapshot.json")),
];

pub(super) fn run(arguments: &SchemaArguments, ui: Ui) -> Result<Exit, Failure> {
    let kinds = || Kind::ALL.into_iter().map(Kind::facts);
    let singulars = kinds().map(|facts| (facts.singular, facts.schema));
    let mut schemas: Vec<(&str, &str)> = singulars.chain(FORMATS).collect();
    schemas.sort_unstable();
    let Some(wanted) = &arguments.name else {
        let names: String = schemas.iter().map(|(name, _)| format!("{name}\n")).collect();
        ui.text(&names)?;
        return Ok(Exit::Done);
    };
    let lower = wanted.to_lowercase();
    // A kind can be given by any name that kubectl accepts.
    let named = kinds().find(|facts| facts.plural == lower || facts.short_names.contains(&lower.as_str()));
    let name = named.map_or(lower.as_str(), |facts| facts.singular);
    match schemas.iter().find(|(known, _)| *known == name) {
        Some((_, schema)) => {
            ui.text(&format!("{}\n", schema.trim_end()))?;
            Ok(Exit::Done)
        }
        None => {
            let known: Vec<String> = schemas.iter().map(|(name, _)| format!("`{name}`")).collect();
            Err(Failure::error(format!("there is no schema `{wanted}`"))
                .hint(format!("there are {}", known.join(", "))))
        }
    }
}
