//! `nodeform catalog`: the sizes of a region.

use super::arguments::{CatalogArguments, CatalogOutput};
use super::exit::{Exit, Failure};
use super::ui::Ui;
use super::world;
use crate::catalog::filter::{CatalogFilter, GpuFilter};
use crate::model::{ClassName, MicroUsdPerHour, NetworkSetup, Quantity, Region};
use crate::offline;
use crate::policy;
use crate::render::catalog as render;

pub(super) fn run(arguments: &CatalogArguments, ui: Ui) -> Result<Exit, Failure> {
    let filter = filter(arguments)?;
    let files = world::catalogs(&arguments.catalog)?;
    let said = arguments.location.as_deref().map(world::region);
    let location = said.or_else(|| offline::region_of_files(&files)).unwrap_or_else(|| Region::new("eastus"));
    let catalog = offline::catalog(&files, &location).map_err(world::failure)?;
    let class = policy::default_class(ClassName::new("default"));
    let offered = catalog.offered(&class, NetworkSetup::AzureOverlay { is_cilium: false });
    match arguments.output {
        CatalogOutput::Table => {
            let rows = render::rows(&catalog, &offered, &filter);
            ui.text(&render::table(&rows))?;
            ui.aside(&format!("{} of {} sizes; {}\n", rows.len(), offered.types.len(), catalog.source()));
        }
        CatalogOutput::Json => {
            let document = render::document(&catalog, &offered, &filter);
            let text = serde_json::to_string_pretty(&document)
                .map_err(|error| Failure::bug(vec![format!("the catalogue has no JSON form: {error}")]))?;
            ui.text(&format!("{text}\n"))?;
        }
    }
    Ok(Exit::Done)
}

fn filter(arguments: &CatalogArguments) -> Result<CatalogFilter, Failure> {
    let cores = |count: Option<u32>| count.map(|count| i64::from(count) * 1000);
    let bytes = |text: Option<&String>| match text.map(|text| (text, Quantity::parse(text))) {
        None => Ok(None),
        Some((_, Some(quantity))) if !quantity.is_negative() => Ok(Some(quantity.units_up())),
        Some((text, _)) => {
            Err(Failure::error(format!("`{text}` is no amount of memory")).hint("write it as in `16Gi`"))
        }
    };
    let price_max =
        match arguments.price_max.as_deref().map(|text| (text, MicroUsdPerHour::from_decimal_usd(text))) {
            None => None,
            Some((_, Some(price))) => Some(price),
            Some((text, None)) => {
                return Err(
                    Failure::error(format!("`{text}` is no price")).hint("write dollars as in `0.25`")
                );
            }
        };
    Ok(CatalogFilter {
        family: arguments.family.clone(),
        arch: arguments.arch.clone(),
        cpu_milli_min: cores(arguments.cpu_min),
        cpu_milli_max: cores(arguments.cpu_max),
        memory_bytes_min: bytes(arguments.memory_min.as_ref())?,
        memory_bytes_max: bytes(arguments.memory_max.as_ref())?,
        gpu: arguments.gpu.then_some(GpuFilter::Some),
        zone: arguments.zone.clone(),
        price_max,
        name_part: arguments.name.clone(),
    })
}
