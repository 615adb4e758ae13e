//! The lists of sizes and prices that the user gives, and the catalogues that were made of them.
//!
//! A list is read once for each region, however many worlds are made with it: Azure's own answer is megabytes. What is kept
//! follows from the texts alone, and copies share it. No list is fetched here.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::{Problem, region};
use crate::catalog::Catalog;
use crate::model::Region;

/// Lists of sizes and prices, each with its name and text; without any, those that are compiled in.
#[derive(Clone, Debug, Default)]
pub struct Catalogs(Arc<Lists>);

#[derive(Debug, Default)]
struct Lists {
    files: Vec<(String, String)>,
    /// The region that they speak of.
    region: OnceLock<Option<Region>>,
    /// What was made of them.
    made: Mutex<BTreeMap<Region, Catalog>>,
}

impl From<Vec<(String, String)>> for Catalogs {
    fn from(files: Vec<(String, String)>) -> Self {
        Self(Arc::new(Lists { files, ..Lists::default() }))
    }
}

impl Catalogs {
    /// Returns whether the user gives none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.files.is_empty()
    }

    /// Returns the region of the lists, where they speak of one only.
    #[must_use]
    pub fn region(&self) -> Option<Region> {
        self.0.region.get_or_init(|| region::of_texts(&self.texts())).clone()
    }

    /// Returns the catalogue of a region.
    ///
    /// # Errors
    /// What is wrong with the lists, or that the region is not known.
    pub fn of(&self, region: &Region) -> Result<Catalog, Vec<Problem>> {
        let made = || self.0.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(catalog) = made().get(region) {
            return Ok(catalog.clone());
        }
        let catalog = self.read(region)?;
        Ok(made().entry(region.clone()).or_insert(catalog).clone())
    }

    fn read(&self, region: &Region) -> Result<Catalog, Vec<Problem>> {
        if self.is_empty() {
            return Catalog::embedded(region).map_err(|unknown| vec![region::unknown(&unknown)]);
        }
        Catalog::from_files(&self.texts(), region).map_err(|faults| {
            faults.iter().map(|fault| Problem { what: fault.to_string(), hint: None }).collect()
        })
    }

    fn texts(&self) -> Vec<(&str, &str)> {
        self.0.files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_catalogue_is_made_once_and_copies_share_it() {
        let westeurope = Region::new("westeurope");
        let catalogs = Catalogs::default();
        let copy = catalogs.clone();
        let made = catalogs.of(&westeurope).expect("is known");
        let kept = copy.0.made.lock().expect("nobody panicked");
        assert_eq!(kept.keys().collect::<Vec<_>>(), [&westeurope]);
        assert_eq!(kept[&westeurope], made);
    }

    #[test]
    fn what_cannot_be_read_is_said_each_time() {
        let catalogs = Catalogs::from(vec![("sizes.json".to_owned(), "{".to_owned())]);
        let said = |region: &str| catalogs.of(&Region::new(region)).expect_err("is no list");
        assert_eq!(said("westeurope"), said("westeurope"));
        assert!(Catalogs::default().of(&Region::new("atlantis")).is_err());
    }
}
