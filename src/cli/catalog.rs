//! `nodeform catalog`: the VM sizes of a region.

use super::arguments::{CatalogArguments, CatalogOutput};
use super::exit::{Exit, Failure};
use super::ui::Ui;
use super::world;
use crate::catalog::RefusedSize;
use crate::catalog::filter::{Asked, CatalogFilter, GpuFilter};
use crate::catalog::miss::{Instead, Miss, misses};
use crate::model::{ClassName, MicroUsdPerHour, NetworkSetup, Price, Quantity, Region};
use crate::policy;
use crate::render::catalog as render;

pub(super) fn run(arguments: &CatalogArguments, ui: Ui) -> Result<Exit, Failure> {
    let filter = filter(arguments)?;
    let catalogs = world::catalogs(&arguments.catalog)?;
    let said = arguments.location.as_deref().map(world::region);
    let location = said.or_else(|| catalogs.region()).unwrap_or_else(|| Region::new("eastus"));
    let catalog = catalogs.of(&location).map_err(world::failure)?;
    let class = policy::default_class(ClassName::new("default"));
    let offered = catalog.offered(&class, NetworkSetup::AzureOverlay { is_cilium: false });
    let shown = match arguments.output {
        CatalogOutput::Table => {
            let rows = render::rows(&catalog, &offered, &filter);
            ui.text(&render::table(&rows))?;
            ui.aside(&format!("{} of {} sizes; {}\n", rows.len(), offered.types.len(), catalog.source()));
            rows.len()
        }
        CatalogOutput::Json => {
            let document = render::document(&catalog, &offered, &filter);
            let text = serde_json::to_string_pretty(&document)
                .map_err(|error| Failure::bug(vec![format!("the catalogue has no JSON form: {error}")]))?;
            ui.text(&format!("{text}\n"))?;
            document.sizes.len()
        }
    };
    if shown == 0 {
        let unfit = unfit(arguments.name.as_deref(), &offered.refused);
        ui.aside(&unfit);
        for miss in misses(&filter, &offered.types) {
            if unfit.is_empty() || miss.asked != Asked::Name {
                ui.aside(&missed(arguments, &miss, offered.types.len()));
            }
        }
    }
    Ok(Exit::Done)
}

/// Returns messages for sizes of this name that are sold but cannot serve as nodes.
fn unfit(name: Option<&str>, refused: &[RefusedSize]) -> String {
    const SHOWN_MAX: usize = 3;
    let part = name.unwrap_or_default().to_ascii_lowercase();
    let is_meant =
        |one: &&RefusedSize| !part.is_empty() && one.size.as_str().to_ascii_lowercase().contains(&part);
    let lines = refused.iter().filter(is_meant).take(SHOWN_MAX);
    lines.map(|one| format!("`{}` serves no node: {}\n", one.size, one.because)).collect()
}

/// Returns which flag excludes all sizes, and a value that would not.
fn missed(arguments: &CatalogArguments, miss: &Miss, all: usize) -> String {
    let Miss { asked, of, instead } = miss;
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let cores = |count: Option<u32>| count.unwrap_or_default().to_string();
    let (flag, value) = match asked {
        Asked::Name => ("", text(&arguments.name)),
        Asked::Family => ("--family ", text(&arguments.family)),
        Asked::Arch => ("--arch ", text(&arguments.arch)),
        Asked::CpuMin => ("--cpu-min ", cores(arguments.cpu_min)),
        Asked::CpuMax => ("--cpu-max ", cores(arguments.cpu_max)),
        Asked::MemoryMin => ("--memory-min ", text(&arguments.memory_min)),
        Asked::MemoryMax => ("--memory-max ", text(&arguments.memory_max)),
        Asked::Gpu => ("--gpu", String::new()),
        Asked::Zone => ("--zone ", text(&arguments.zone)),
        Asked::PriceMax => ("--price-max ", text(&arguments.price_max)),
    };
    let of = match (*of == all, of) {
        (true, _) => "none of them".to_owned(),
        (false, 1) => "not the 1 that the rest of the command matches".to_owned(),
        (false, of) => format!("none of the {of} that the rest of the command matches"),
    };
    let hint = match instead {
        Instead::Nothing if *asked == Asked::Zone => "hint: no zone of this region is known\n".to_owned(),
        Instead::Nothing => String::new(),
        Instead::Near(near) => format!("hint: did you mean `{flag}{near}`?\n"),
        Instead::Known(known) => format!("hint: what there is: {}\n", known.join(", ")),
        Instead::AtMost(most) => format!("hint: {most} is the most\n"),
        Instead::AtLeast(least) => format!("hint: {least} is the least\n"),
        Instead::Price(price) => {
            let price = render::ShownPrice::from(Price::Listed(*price)).usd_per_hour;
            format!("hint: {} is the least\n", price.unwrap_or_default())
        }
    };
    format!("`{flag}{value}` matches {of}\n{hint}")
}

/// Minimum plausible memory without a unit, in bytes: Azure's smallest size has half a GiB, so less than a MiB is
/// probably a mistake.
const BYTES_MEANT_MIN: i64 = 1 << 20;

/// Parses an amount of memory. A bare number means bytes; an implausibly small one is an error.
fn bytes(text: Option<&str>) -> Result<Option<i64>, Failure> {
    let Some(text) = text else { return Ok(None) };
    let read = Quantity::parse(text).filter(|quantity| !quantity.is_negative());
    let Some(bytes) = read.map(|quantity| quantity.units_up()) else {
        return Err(Failure::error(format!("`{text}` is no amount of memory")).hint("write it as in `16Gi`"));
    };
    let is_bare = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    if is_bare && bytes > 0 && bytes < BYTES_MEANT_MIN {
        return Err(Failure::error(format!("`{text}` without a unit is a number of bytes"))
            .hint(format!("did you mean `{text}Gi`?")));
    }
    Ok(Some(bytes))
}

fn filter(arguments: &CatalogArguments) -> Result<CatalogFilter, Failure> {
    let cores = |count: Option<u32>| count.map(|count| i64::from(count) * 1000);
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
    let (memory_min, memory_max) =
        (bytes(arguments.memory_min.as_deref())?, bytes(arguments.memory_max.as_deref())?);
    let is_contrary =
        [("cpu", cores(arguments.cpu_min), cores(arguments.cpu_max)), ("memory", memory_min, memory_max)];
    for (what, least, most) in is_contrary {
        if least.zip(most).is_some_and(|(least, most)| least > most) {
            return Err(Failure::error(format!(
                "no size matches: `--{what}-min` is more than `--{what}-max`"
            ))
            .hint("swap the two"));
        }
    }
    Ok(CatalogFilter {
        family: arguments.family.clone(),
        arch: arguments.arch.clone(),
        cpu_milli_min: cores(arguments.cpu_min),
        cpu_milli_max: cores(arguments.cpu_max),
        memory_bytes_min: memory_min,
        memory_bytes_max: memory_max,
        gpu: arguments.gpu.then_some(GpuFilter::Some),
        zone: arguments.zone.clone(),
        price_max,
        name_part: arguments.name.clone(),
    })
}
