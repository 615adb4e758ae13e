//! Azure's offer in one region: sizes, zones and prices, and the instance types derived from them.
//!
//! A catalogue is an immutable value for one region: the compiled-in default, or built from user-supplied files. Never
//! fetches anything and never chooses a size. In reading order: a size ([`size_name`], [`size`], [`gpu`]), its price
//! ([`price`], [`disk`]), the sources of both (the embedded default, [`estimate`], user-supplied files, [`build`]), the
//! assumptions about missing data ([`assumed`]), and the instance types built from them.

mod answer;
pub mod assumed;
pub mod build;
mod data_disks;
pub mod disk;
mod embedded;
pub mod estimate;
pub mod filter;
pub mod gpu;
mod labels;
mod learned;
mod memo;
pub mod miss;
mod offered;
mod offering;
pub mod price;
mod read;
pub mod refuse;
pub mod refused;
pub mod reserve;
pub mod size;
pub mod size_name;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

pub use self::embedded::{UnknownRegion, digest as embedded_digest, list_date, prices_date, regions};
pub use self::offering::NO_ZONE;
pub use self::price::{PricedSize, ReplacedPrice, SizePrice};
pub use self::read::CatalogFault;
use memo::Memo;

use crate::model::{
    CapacityType, ClassName, Digest, InstanceType, LabelKey, LearnedSize, NetworkSetup, NodeClass, Price,
    Refusal, Region, SizeQuota, SkuName, Usage, Zone, label,
};

/// The OS disk of an AKSNodeClass that names no size, in GB.
const OS_DISK_GB: u32 = 128;

/// What can be bought in one region.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Catalog {
    /// The region.
    pub region: Region,
    stock: Arc<Stock>,
    zones: RegionZones,
    disks: disk::DiskPrices,
    replaced: Vec<ReplacedPrice>,
    source: String,
    /// What may be bought of it at all, where that is narrowed.
    #[serde(skip)]
    only: Option<Arc<BTreeSet<Way>>>,
    /// What Azure refuses for the time being.
    #[serde(skip)]
    refusals: Vec<Refusal>,
    /// What nodes of its sizes really offer.
    #[serde(skip)]
    learned: Vec<LearnedSize>,
    /// What cannot be made of it, sorted.
    #[serde(skip)]
    unbuildable: Vec<Unbuildable>,
    #[serde(skip)]
    memo: Memo,
}

/// A way to have a size: where, and how it is bought.
pub type Way = (SkuName, Zone, CapacityType);

/// What a catalogue is made of.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
enum Stock {
    /// Azure's sizes, sorted by name; instance types are made for each class.
    Sizes(Vec<PricedSize>),
    /// Instance types as a list gives them, sorted by name; classes change nothing.
    Types { types: Vec<InstanceType>, well_known: BTreeSet<LabelKey> },
    /// The instance types that each class was offered once.
    Recorded {
        by_class: BTreeMap<ClassName, Vec<InstanceType>>,
        /// Of VM and assumed OS disk.
        prices: Vec<((SkuName, CapacityType), (Price, Price))>,
        well_known: BTreeSet<LabelKey>,
    },
}

/// The zones of a region.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum RegionZones {
    /// These (`1`, `2`, …), sorted.
    Zones(Vec<Arc<str>>),
    /// The region has none.
    None,
    /// It is not known which. Only "no zone" is offered then, which every region has.
    Unknown,
}

impl RegionZones {
    /// Returns the zones that are known.
    #[must_use]
    pub fn listed(&self) -> &[Arc<str>] {
        match self {
            Self::Zones(zones) => zones,
            Self::None | Self::Unknown => &[],
        }
    }
}

/// A size that an AKSNodeClass cannot use, and why.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RefusedSize {
    /// The size.
    pub size: SkuName,
    /// Why, for people.
    pub because: String,
}

/// A size of which no VM can be made for a class, as its image cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Unbuildable {
    /// The AKSNodeClass.
    pub class: ClassName,
    /// The size.
    pub size: SkuName,
    /// Why, for people.
    pub because: Arc<str>,
}

/// What a catalogue offers to one AKSNodeClass.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Offered {
    /// The instance types, sorted by name.
    pub types: Vec<InstanceType>,
    /// The sizes that are left out, sorted by name.
    pub refused: Vec<RefusedSize>,
    /// What those of them would be that the class alone leaves out, sorted by name: they say what stands against the
    /// class where nothing else is left.
    pub unsuited: Vec<InstanceType>,
}

impl Catalog {
    /// Loads a region of the compiled-in default.
    ///
    /// # Errors
    /// When the default does not have the region; the error names the nearest that it has.
    pub fn embedded(region: &Region) -> Result<Self, UnknownRegion> {
        embedded::load(region)
    }

    /// Makes the catalogue of a region of files that the user gives, each with its name and its text: the
    /// answer of ARM's `Microsoft.Compute/skus`, rows of the Retail Prices API, or a plain list of instance
    /// types, recognised by what is in them. The order of the files does not matter.
    ///
    /// # Errors
    /// Every fault of every file, sorted.
    pub fn from_files(texts: &[(&str, &str)], region: &Region) -> Result<Self, Vec<CatalogFault>> {
        read::from_files(texts, region)
    }

    /// Returns the regions that files of the user speak of, for one who did not name any.
    #[must_use]
    pub fn regions_of_files(texts: &[(&str, &str)]) -> BTreeSet<Region> {
        read::regions::named(texts)
    }

    /// Reads what a subscription uses of its quotas: the output of `az vm list-usage -o json`, or ARM's answer.
    ///
    /// # Errors
    /// Every fault, by line.
    pub fn usages(file: &str, text: &str) -> Result<Vec<Usage>, Vec<CatalogFault>> {
        read::usages::read(file, text)
    }

    /// Returns what VMs of each size take of quotas, where that is known: of ready instance types it is not.
    #[must_use]
    pub fn size_quotas(&self) -> BTreeMap<SkuName, SizeQuota> {
        let quota = |sold: &PricedSize| {
            let size = &sold.size;
            let quota = SizeQuota { family: Arc::clone(&size.quota_family), vcpus: i64::from(size.vcpus) };
            (size.name.clone(), quota)
        };
        self.sizes().iter().map(quota).collect()
    }

    /// Makes a catalogue of ready instance types: every class is offered all of them. `well_known` are the
    /// labels that pods may ask for beyond Karpenter's own.
    #[must_use]
    pub fn of_types(
        region: Region,
        mut types: Vec<InstanceType>,
        well_known: impl IntoIterator<Item = LabelKey>,
    ) -> Self {
        types.sort_by(|left, right| left.name.cmp(&right.name));
        let source = format!("a list of {} instance types, region `{region}`", types.len());
        let stock = Stock::Types { types, well_known: well_known.into_iter().collect() };
        Self::of_stock(region, stock, source)
    }

    /// Makes a catalogue of recorded answers: the instance types of each class, and labels that have a
    /// meaning beside Karpenter's and the Azure provider's.
    #[must_use]
    pub fn recorded(
        region: Region,
        by_class: BTreeMap<ClassName, Vec<InstanceType>>,
        well_known: BTreeSet<LabelKey>,
    ) -> Self {
        let source = format!("recorded, region `{region}`");
        Self::of_stock(region, Stock::Recorded { by_class, prices: Vec::new(), well_known }, source)
    }

    /// Returns a catalogue of recorded answers with what sizes cost that no class was offered: VM, and OS disk
    /// where no class is known; of any other catalogue nothing changes.
    #[must_use]
    pub fn with_prices(
        mut self,
        costs: impl IntoIterator<Item = ((SkuName, CapacityType), (Price, Price))>,
    ) -> Self {
        if let Stock::Recorded { prices, .. } = Arc::make_mut(&mut self.stock) {
            prices.extend(costs);
            prices.sort();
        }
        self
    }

    fn of_stock(region: Region, stock: Stock, source: String) -> Self {
        let (zones, disks) = (RegionZones::Unknown, disk::DiskPrices::default());
        let (stock, replaced) = (Arc::new(stock), Vec::new());
        let (refusals, learned, unbuildable) = (Vec::new(), Vec::new(), Vec::new());
        let memo = Memo::default();
        Self {
            region,
            stock,
            zones,
            disks,
            replaced,
            source,
            only: None,
            refusals,
            learned,
            unbuildable,
            memo,
        }
    }

    /// Returns the instance types that nodes of this class may have.
    #[must_use]
    pub fn offered(&self, class: &NodeClass, network: NetworkSetup) -> Arc<Offered> {
        self.memo.of(class, network, || self.make_offered(class, network))
    }

    fn make_offered(&self, class: &NodeClass, network: NetworkSetup) -> Offered {
        let mut offered = self.all_offered(class, network);
        offered.leave_out(class, &self.unbuildable);
        if let Some(only) = &self.only {
            for kind in &mut offered.types {
                let name = &kind.name;
                for offering in &mut kind.offerings {
                    let way = (name.clone(), offering.zone.clone(), offering.capacity_type);
                    offering.is_available &= only.contains(&way);
                }
            }
        }
        refused::rule_out(&mut offered.types, &self.refusals);
        learned::lower(&mut offered.types, &class.name, &self.learned);
        offered
    }

    fn all_offered(&self, class: &NodeClass, network: NetworkSetup) -> Offered {
        match &*self.stock {
            Stock::Sizes(sizes) => offered::offered(sizes, &self.region, &self.disks, class, network),
            Stock::Types { types, .. } => Offered { types: types.clone(), ..Offered::default() },
            Stock::Recorded { by_class, .. } => {
                let types = by_class.get(&class.name).cloned().unwrap_or_default();
                Offered { types, ..Offered::default() }
            }
        }
    }

    /// Returns whether a pod may ask for this label without its NodePool naming it.
    #[must_use]
    pub fn is_well_known(&self, key: &LabelKey) -> bool {
        let key = key.as_str();
        label::WELL_KNOWN.contains(&key)
            || match &*self.stock {
                Stock::Sizes(_) => label::WELL_KNOWN_AZURE.contains(&key),
                Stock::Types { well_known, .. } => well_known.contains(key),
                Stock::Recorded { well_known, .. } => {
                    label::WELL_KNOWN_AZURE.contains(&key) || well_known.contains(key)
                }
            }
    }

    /// Returns the list price by the hour of a managed OS disk of this many GB: premium SSD.
    #[must_use]
    pub fn os_disk_price(&self, size_gb: u32) -> Price {
        self.disks.price(disk::DiskKind::PremiumSsd, size_gb)
    }

    /// Returns the sizes with their prices, sorted by name; none where the catalogue is a plain list of
    /// instance types.
    #[must_use]
    pub fn sizes(&self) -> &[PricedSize] {
        match &*self.stock {
            Stock::Sizes(sizes) => sizes,
            Stock::Types { .. } | Stock::Recorded { .. } => &[],
        }
    }

    /// Returns a size with its price, offered or not.
    #[must_use]
    pub fn size(&self, name: &SkuName) -> Option<&PricedSize> {
        let sizes = self.sizes();
        sizes.binary_search_by(|sold| sold.size.name.cmp(name)).ok().and_then(|index| sizes.get(index))
    }

    /// Returns what a size costs, offered or not: what existing nodes are counted with. With a plain list,
    /// the cheapest of its offerings of this capacity type.
    #[must_use]
    pub fn price(&self, name: &SkuName, capacity_type: CapacityType) -> Price {
        match &*self.stock {
            Stock::Sizes(_) => self.size(name).map_or(Price::Unknown, |sold| match capacity_type {
                CapacityType::OnDemand => sold.price.on_demand,
                CapacityType::Spot => sold.price.spot,
                CapacityType::Reserved => Price::Unknown,
            }),
            Stock::Types { .. } => self.least_offered(name, capacity_type),
            Stock::Recorded { prices, .. } => {
                let mut recorded = prices.iter();
                let found = recorded.find(|((size, kind), _)| size == name && *kind == capacity_type);
                found.map_or_else(|| self.least_offered(name, capacity_type), |(_, (price, _))| *price)
            }
        }
    }

    /// Returns what the OS disk of a node costs whose AKSNodeClass is not known: the managed disk that a class
    /// gives where it says nothing, as an estimate. Ready instance types say themselves what disk they have.
    #[must_use]
    pub fn assumed_os_disk(&self, name: &SkuName) -> Price {
        let price = match &*self.stock {
            Stock::Sizes(_) => {
                let is_premium = self.size(name).and_then(|sold| sold.size.capabilities.premium_storage);
                self.disks.os_disk(is_premium, OS_DISK_GB)
            }
            Stock::Types { .. } | Stock::Recorded { .. } => {
                let recorded = match &*self.stock {
                    Stock::Recorded { prices, .. } => prices.iter().find(|((size, _), _)| size == name),
                    Stock::Sizes(_) | Stock::Types { .. } => None,
                };
                let ready = || self.types().find(|ready| ready.name == *name);
                let own = || ready().map_or(Price::Unknown, |ready| ready.os_disk.price());
                recorded.map_or_else(own, |(_, (_, disk))| *disk)
            }
        };
        price.known().map_or(Price::Unknown, Price::Estimated)
    }

    fn least_offered(&self, name: &SkuName, capacity_type: CapacityType) -> Price {
        self.types()
            .filter(|offered| offered.name == *name)
            .flat_map(|offered| &offered.offerings)
            .filter(|offering| offering.capacity_type == capacity_type)
            .filter_map(|offering| Some((offering.price.known()?, offering.price)))
            .min()
            .map_or(Price::Unknown, |(_, price)| price)
    }

    /// Returns the ready instance types, if the catalogue is made of them.
    fn types(&self) -> impl Iterator<Item = &InstanceType> {
        let lists: Vec<&Vec<InstanceType>> = match &*self.stock {
            Stock::Sizes(_) => Vec::new(),
            Stock::Types { types, .. } => vec![types],
            Stock::Recorded { by_class, .. } => by_class.values().collect(),
        };
        lists.into_iter().flatten()
    }

    /// Returns the zones of the region.
    #[must_use]
    pub const fn zones(&self) -> &RegionZones {
        &self.zones
    }

    /// Returns every zone that anything is sold in, by its label's value.
    #[must_use]
    pub fn zone_names(&self) -> BTreeSet<Zone> {
        let region = &self.region;
        let listed = self.zones.listed().iter().map(|zone| Zone::new(format!("{region}-{zone}")));
        let offered = self.types().flat_map(|kind| &kind.offerings).map(|offering| offering.zone.clone());
        listed.chain(offered).filter(|zone| zone.as_str() != NO_ZONE).collect()
    }

    /// Returns the catalogue as if nothing could be bought in these zones. Prices stay known, and so does what
    /// is sold without a zone: Azure places that where it can.
    #[must_use]
    pub fn without_zones(mut self, gone: &BTreeSet<Zone>) -> Self {
        let region = self.region.clone();
        self.memo = Memo::default();
        match Arc::make_mut(&mut self.stock) {
            Stock::Sizes(sizes) => {
                for sold in sizes {
                    sold.size.zones.retain(|zone| !gone.contains(format!("{region}-{zone}").as_str()));
                }
            }
            Stock::Types { types, .. } => types.iter_mut().for_each(|kind| kind.withdraw(gone)),
            Stock::Recorded { by_class, .. } => {
                by_class.values_mut().flatten().for_each(|kind| kind.withdraw(gone));
            }
        }
        self
    }

    /// Returns the catalogue as if nothing could be bought but in these ways. Prices stay known.
    #[must_use]
    pub fn with_only(mut self, ways: BTreeSet<Way>) -> Self {
        self.only = Some(Arc::new(ways));
        self.memo = Memo::default();
        self
    }

    /// Returns the catalogue without what Azure refuses for the time being. Prices stay known.
    #[must_use]
    pub fn without(mut self, refusals: Vec<Refusal>) -> Self {
        self.refusals = refusals;
        self.memo = Memo::default();
        self
    }

    /// Returns the catalogue without what rests for a while beside what Azure refuses.
    #[must_use]
    pub fn without_also(mut self, resting: Vec<Refusal>) -> Self {
        self.refusals.extend(resting);
        self.memo = Memo::default();
        self
    }

    /// Returns the catalogue without what no VM can be made of. Prices stay known.
    #[must_use]
    pub fn without_unbuildable(mut self, mut unbuildable: Vec<Unbuildable>) -> Self {
        unbuildable.sort();
        self.unbuildable = unbuildable;
        self.memo = Memo::default();
        self
    }

    /// Returns the catalogue with sizes that offer no more than nodes of theirs really did.
    #[must_use]
    pub fn with_learned(mut self, learned: Vec<LearnedSize>) -> Self {
        self.learned = learned;
        self.memo = Memo::default();
        self
    }

    /// Returns how many sizes (or instance types) the catalogue has.
    #[must_use]
    pub fn len(&self) -> usize {
        match &*self.stock {
            Stock::Sizes(sizes) => sizes.len(),
            Stock::Types { .. } | Stock::Recorded { .. } => {
                self.types().map(|offered| &offered.name).collect::<BTreeSet<_>>().len()
            }
        }
    }

    /// Returns whether the catalogue has nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the list prices that were not believed, sorted by size, with what is used instead.
    #[must_use]
    pub fn replaced_prices(&self) -> &[ReplacedPrice] {
        &self.replaced
    }

    /// Returns the digest of all that the catalogue says: equal catalogues have equal digests, whatever the
    /// order of the files that they were read from.
    #[must_use]
    pub fn digest(&self) -> Digest {
        // All maps and lists in it are sorted, so plain JSON is already canonical, and ten times as fast.
        Digest::of_bytes(&serde_json::to_vec(self).expect("every key of a catalogue's maps is text"))
    }

    /// Returns where the catalogue comes from, for the head of a plan.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }
}
