//! The compiled-in default catalogue: tables of facts, of which one region is parsed at a time.
//!
//! Shapes and prices are facts with a date; zones and capabilities are estimates and marked so.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

use super::data_disks::DataDiskTable;
use super::disk::DiskPrices;
use super::estimate;
use super::gpu::GpuTable;
use super::memo::Memo;
use super::price::{PricedSize, SizePrice, listed, replace_suspicious};
use super::size::{Capabilities, Size};
use super::size_name::SizeName;
use super::{Catalog, RegionZones, Stock};
use crate::model::{Digest, MicroUsdPerHour, Price, Region, SkuName};

const SIZES: &str = include_str!("default/sizes.txt");
const GPUS: &str = include_str!("default/gpus.txt");
const DISKS: &str = include_str!("default/disks.txt");
const DATA_DISKS: &str = include_str!("default/data_disks.txt");
const ZONES: &str = include_str!("default/zones.txt");
const SOURCE: &str = include_str!("default/source.txt");
/// Text before the list's date in the source of a catalogue.
const LIST_OF: &str = "price list of ";
/// Region and its prices, sorted by region.
const PRICES: &[(&str, &str)] = &include!("default/regions.in");
/// Panic message for malformed committed tables; a test parses all of them.
const WELL_FORMED: &str = "the committed tables are well formed";

/// A region that is not in the default catalogue.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("region `{region}` is not in the default catalogue, which has {known}{}", did_you_mean(.nearest.as_ref()))]
pub struct UnknownRegion {
    /// The requested region.
    pub region: Region,
    /// The region with the most similar name, if any is close.
    pub nearest: Option<Region>,
    /// Number of regions in the default catalogue.
    pub known: usize,
}

fn did_you_mean(nearest: Option<&Region>) -> String {
    nearest.map_or_else(String::new, |region| format!("; did you mean `{region}`?"))
}

/// Returns the regions of the default catalogue, sorted.
#[must_use]
pub fn regions() -> Vec<Region> {
    PRICES.iter().map(|(region, _)| Region::new(region)).collect()
}

/// Returns the date of the default price list.
#[must_use]
pub fn prices_date() -> &'static str {
    let line = SOURCE.lines().find_map(|line| line.strip_prefix("prices "));
    line.and_then(|line| line.split(' ').next()).expect(WELL_FORMED)
}

/// Returns the digest of all tables; it changes whenever prices, sizes or zones change.
#[must_use]
pub fn digest() -> Digest {
    static DIGEST: OnceLock<Digest> = OnceLock::new();
    *DIGEST.get_or_init(digest_of_tables)
}

fn digest_of_tables() -> Digest {
    let prices = PRICES.iter().flat_map(|(region, prices)| [*region, *prices]);
    let mut text = String::new();
    for part in [SIZES, GPUS, DISKS, DATA_DISKS, ZONES, SOURCE].into_iter().chain(prices) {
        // The length prefix keeps the boundaries between parts unambiguous.
        text.push_str(&format!("{}\n{part}", part.len()));
    }
    Digest::of_bytes(text.as_bytes())
}

/// Returns the date of the embedded price list named in a catalogue's source; `None` if the prices have another source.
#[must_use]
pub fn list_date(source: &str) -> Option<jiff::civil::Date> {
    source.split_once(LIST_OF)?.1.get(..10)?.parse().ok()
}

/// Loads one region. The name is matched ignoring spaces and case: `West Europe` is `westeurope`.
pub(super) fn load(region: &Region) -> Result<Catalog, UnknownRegion> {
    let (region, prices) = find(region)?;
    let zones = region_zones(&region);
    let mut sizes = priced_sizes(prices, &zones).expect(WELL_FORMED);
    let replaced = replace_suspicious(&mut sizes);
    let source = format!("embedded {LIST_OF}{}, region `{region}`", prices_date());
    Ok(Catalog {
        disks: disks(),
        stock: Arc::new(Stock::Sizes(sizes)),
        region,
        zones,
        replaced,
        source,
        only: None,
        refusals: Vec::new(),
        unbuildable: Vec::new(),
        learned: Vec::new(),
        memo: Memo::default(),
    })
}

/// Returns the disk tiers of the default catalogue.
pub(super) fn disks() -> DiskPrices {
    DiskPrices::parse(DISKS).expect(WELL_FORMED)
}

/// Returns the supported GPU sizes.
pub(super) fn gpus() -> GpuTable {
    GpuTable::parse(GPUS).expect(WELL_FORMED)
}

/// Returns the maximum number of data disks by size.
pub(super) fn data_disks() -> &'static DataDiskTable {
    static TABLE: OnceLock<DataDiskTable> = OnceLock::new();
    TABLE.get_or_init(|| {
        let vcpus = |(name, row): (&str, &str)| Some((name.to_lowercase(), Shape::read(name, row)?.vcpus));
        let vcpus: BTreeMap<String, u32> = shapes().filter_map(vcpus).collect();
        DataDiskTable::parse(DATA_DISKS, &vcpus).expect(WELL_FORMED)
    })
}

fn find(region: &Region) -> Result<(Region, &'static str), UnknownRegion> {
    let wanted = normalized(region);
    if let Ok(index) = PRICES.binary_search_by(|(known, _)| known.cmp(&wanted.as_str()))
        && let Some((known, prices)) = PRICES.get(index)
    {
        return Ok((Region::new(known), *prices));
    }
    let nearest = PRICES
        .iter()
        .map(|(known, _)| (strsim::damerau_levenshtein(known, &wanted), *known))
        .min()
        .filter(|(distance, _)| *distance <= 3)
        .map(|(_, known)| Region::new(known));
    Err(UnknownRegion { region: region.clone(), nearest, known: PRICES.len() })
}

/// Converts a region's name to ARM's spelling: `West Europe` becomes `westeurope`.
pub(super) fn normalized(region: &Region) -> String {
    region.as_str().chars().filter(|letter| !letter.is_whitespace()).collect::<String>().to_lowercase()
}

fn region_zones(region: &Region) -> RegionZones {
    let row = ZONES.lines().find_map(|line| line.strip_prefix(region.as_str())?.strip_prefix(' '));
    match row.expect(WELL_FORMED) {
        "?" => RegionZones::Unknown,
        "-" => RegionZones::None,
        zones => RegionZones::Zones(zones.split(' ').map(Arc::from).collect()),
    }
}

/// Returns each known size with its row, sorted by name.
fn shapes() -> impl Iterator<Item = (&'static str, &'static str)> {
    SIZES.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once(' '))
}

/// Returns those of these sizes that the tables know, sorted by name and without prices. The region's own price list
/// may lack them.
pub(super) fn known_sizes(names: &BTreeSet<&SkuName>, zones: &RegionZones) -> Vec<PricedSize> {
    let gpus = gpus();
    let mut sizes = Vec::new();
    for (name, row) in shapes() {
        if names.contains(&SkuName::new(format!("Standard_{name}"))) {
            let size = size(name, row, zones, &gpus).expect(WELL_FORMED);
            sizes.push(PricedSize { size, price: SizePrice::UNKNOWN });
        }
    }
    sizes
}

/// Joins shapes and prices; both tables have the same order, so one pass suffices.
fn priced_sizes(prices: &str, zones: &RegionZones) -> Option<Vec<PricedSize>> {
    let gpus = gpus();
    let mut shapes = shapes();
    let mut sizes = Vec::new();
    for row in prices.lines().filter(|line| !line.starts_with('#')) {
        let (name, price) = row.split_once(' ')?;
        let (_, shape) = shapes.find(|(known, _)| *known == name)?;
        let size = size(name, shape, zones, &gpus)?;
        let price = listed(MicroUsdPerHour::from_decimal_usd(price)?);
        sizes.push(PricedSize { size, price: SizePrice::on_demand(price) });
    }
    Some(sizes)
}

/// Shape of a size from the tables, or from its name if the tables do not have it.
struct Shape<'a> {
    parts: SizeName,
    vcpus: u32,
    memory_mib: i64,
    gpus: u32,
    arch: &'a str,
    quota_family: &'a str,
    is_estimate: bool,
}

impl<'a> Shape<'a> {
    fn read(name: &str, row: &'a str) -> Option<Self> {
        let parts = SizeName::parse(&SkuName::new(format!("Standard_{name}")))?;
        let mut words = row.splitn(5, ' ');
        let mut word = || words.next();
        let (vcpus, memory_mib, gpus, arch, quota_family) = (word()?, word()?, word()?, word()?, word()?);
        if vcpus == "?" {
            let (vcpus, arch) = (parts.cpus, estimate::arch(&parts));
            let memory_mib = estimate::memory_mib(&parts, vcpus).unwrap_or(0);
            return Some(Self { parts, vcpus, memory_mib, gpus: 0, arch, quota_family, is_estimate: true });
        }
        let (vcpus, memory_mib) = (vcpus.parse().ok()?, memory_mib.parse().ok()?);
        let gpus = gpus.parse().ok()?;
        Some(Self { parts, vcpus, memory_mib, gpus, arch, quota_family, is_estimate: false })
    }
}

/// Builds a size from its row and name. In a region with zones, it is assumed to be available in all of them.
fn size(name: &str, row: &str, zones: &RegionZones, gpus: &GpuTable) -> Option<Size> {
    let shape = Shape::read(name, row)?;
    let name = SkuName::new(format!("Standard_{name}"));
    let estimated = estimate::capabilities(&shape.parts, shape.vcpus, shape.arch);
    Some(Size {
        capabilities: Capabilities { data_disks_max: data_disks().get(&name), ..estimated },
        gpu: gpus.get(&name).cloned(),
        parts: Some(shape.parts),
        quota_family: Arc::from(shape.quota_family),
        vcpus: shape.vcpus,
        memory_bytes: shape.memory_mib << 20,
        gpus: shape.gpus,
        arch: Arc::from(shape.arch),
        zones: zones.listed().to_vec(),
        restriction: None,
        is_estimate: true,
        is_shape_estimate: shape.is_estimate,
        name,
    })
}

/// Returns the embedded price of each size of a region as an estimate, for catalogues without prices; nothing if the
/// region is unknown.
pub(super) fn fallback_prices(region: &Region) -> Vec<(SkuName, SizePrice)> {
    let Ok(catalog) = load(region) else { return Vec::new() };
    let as_estimate = |price: Price| price.known().map_or(Price::Unknown, Price::Estimated);
    catalog
        .sizes()
        .iter()
        .map(|sold| (sold.size.name.clone(), SizePrice::on_demand(as_estimate(sold.price.on_demand))))
        .collect()
}
