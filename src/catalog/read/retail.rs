//! Reads prices from rows of the Retail Prices API.
//!
//! Uses the rows of the region that are of type `Consumption` and the primary meter, and neither for Windows nor of the
//! old Low Priority kind; spot rows are kept apart. If a size has several rows, the latest `effectiveStartDate` wins,
//! then the higher price, so that a plan never promises less than is billed. The order of rows does not matter.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Number;

use super::fault::{CatalogFault, prices_command, syntax};
use super::kind::Page;
use crate::catalog::price::listed;
use crate::model::{MicroUsdPerHour, Price, Region, SkuName};

/// Prices of a region.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct RetailPrices {
    pub(super) on_demand: BTreeMap<SkuName, Price>,
    pub(super) spot: BTreeMap<SkuName, Price>,
    /// US dollars per *month*, by tier of managed disk.
    pub(super) disks: BTreeMap<String, MicroUsdPerHour>,
}

#[derive(Deserialize)]
struct Answer {
    #[serde(rename = "Items", alias = "items")]
    items: Vec<Row>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Row {
    currency_code: String,
    retail_price: Option<Number>,
    arm_region_name: String,
    arm_sku_name: String,
    sku_name: String,
    meter_name: String,
    product_name: String,
    service_name: String,
    unit_of_measure: String,
    #[serde(rename = "type")]
    kind: String,
    effective_start_date: String,
    is_primary_meter_region: Option<bool>,
}

/// Item that a row prices.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Item {
    OnDemand(SkuName),
    Spot(SkuName),
    Disk(String),
}

/// Reads the prices of a region from all pages.
pub(super) fn read(pages: &[Page<'_>], region: &Region, faults: &mut Vec<CatalogFault>) -> RetailPrices {
    let faults_before = faults.len();
    let mut best: BTreeMap<Item, (String, MicroUsdPerHour)> = BTreeMap::new();
    for page in pages {
        for (index, row) in rows(page, faults).into_iter().enumerate() {
            if !row.arm_region_name.eq_ignore_ascii_case(region.as_str()) {
                continue;
            }
            let Some(item) = row.item() else { continue };
            let place = if page.is_bare { format!("[{index}]") } else { format!("Items[{index}]") };
            match row.amount(&item) {
                Ok(amount) => {
                    let found = (row.effective_start_date, amount);
                    let kept = best.entry(item).or_insert_with(|| found.clone());
                    if *kept < found {
                        *kept = found;
                    }
                }
                Err((member, what)) => {
                    let fault = CatalogFault::new(page.file, format!("{place}.{member}"), what);
                    faults.push(fault.hint(prices_command(region)));
                }
            }
        }
    }
    if best.is_empty() && faults.len() == faults_before {
        let file = pages.first().map_or("", |page| page.file);
        let what = format!("it has no price of a VM in the region `{region}`");
        faults.push(CatalogFault::new(file, "", what).hint(prices_command(region)));
    }
    collect(best)
}

fn collect(best: BTreeMap<Item, (String, MicroUsdPerHour)>) -> RetailPrices {
    let mut prices = RetailPrices::default();
    for (item, (_, amount)) in best {
        match item {
            Item::OnDemand(size) => drop(prices.on_demand.insert(size, listed(amount))),
            Item::Spot(size) => drop(prices.spot.insert(size, listed(amount))),
            Item::Disk(tier) => drop(prices.disks.insert(tier, amount)),
        }
    }
    prices
}

fn rows(page: &Page<'_>, faults: &mut Vec<CatalogFault>) -> Vec<Row> {
    let read = if page.is_bare {
        serde_json::from_str::<Vec<Row>>(page.text)
    } else {
        serde_json::from_str::<Answer>(page.text).map(|answer| answer.items)
    };
    read.unwrap_or_else(|error| {
        faults.push(syntax(page.file, &error));
        Vec::new()
    })
}

impl Row {
    /// Returns the item that the row prices, if the row is relevant.
    fn item(&self) -> Option<Item> {
        if self.kind != "Consumption" || self.is_primary_meter_region == Some(false) {
            return None;
        }
        if self.service_name == "Storage" {
            let is_managed = self.product_name.ends_with("SSD Managed Disks");
            return self
                .meter_name
                .strip_suffix(" LRS Disk")
                .filter(|_| is_managed)
                .map(|tier| Item::Disk(tier.to_owned()));
        }
        let is_linux = !self.product_name.ends_with(" Windows");
        let is_vm = matches!(self.service_name.as_str(), "Virtual Machines" | "");
        let is_cloud_service = self.product_name.ends_with(" Cloud Services");
        let ends = |end: &str| self.sku_name.ends_with(end) || self.meter_name.ends_with(end);
        if !is_linux || !is_vm || is_cloud_service || ends(" Low Priority") || self.arm_sku_name.is_empty() {
            return None;
        }
        let size = SkuName::new(&self.arm_sku_name);
        Some(if ends(" Spot") { Item::Spot(size) } else { Item::OnDemand(size) })
    }

    /// Returns the price, or the invalid member and the problem.
    fn amount(&self, item: &Item) -> Result<MicroUsdPerHour, (&'static str, String)> {
        let unit = match item {
            Item::OnDemand(_) | Item::Spot(_) => "1 Hour",
            Item::Disk(_) => "1/Month",
        };
        if self.currency_code != "USD" {
            return Err(("currencyCode", format!("prices are in `{}`, not in `USD`", self.currency_code)));
        }
        if self.unit_of_measure != unit {
            return Err(("unitOfMeasure", format!("the unit is `{}`, not `{unit}`", self.unit_of_measure)));
        }
        let Some(number) = &self.retail_price else {
            return Err(("retailPrice", "there is no price".into()));
        };
        let text = number.to_string();
        MicroUsdPerHour::from_decimal_usd(&text).ok_or(("retailPrice", format!("`{text}` is not a price")))
    }
}
