//! The user's lists of sizes and prices, and the catalogues built from them.
//!
//! A list is parsed once per region, however many worlds use it: Azure's own response is megabytes. The cache depends
//! on the texts alone and is shared by copies. Never fetches a list.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::{Problem, region};
use crate::catalog::Catalog;
use crate::model::Region;

/// Lists of sizes and prices, each with its name and text; if empty, the embedded ones are used.
#[derive(Clone, Debug, Default)]
pub struct Catalogs(Arc<Lists>);

#[derive(Debug, Default)]
struct Lists {
    files: Vec<(String, String)>,
    /// The region that the lists cover.
    region: OnceLock<Option<Region>>,
    /// Catalogues already built.
    made: Mutex<BTreeMap<Region, Catalog>>,
}

impl From<Vec<(String, String)>> for Catalogs {
    fn from(files: Vec<(String, String)>) -> Self {
        Self(Arc::new(Lists { files, ..Lists::default() }))
    }
}

impl Catalogs {
    /// Returns whether the user gave no lists.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.files.is_empty()
    }

    /// Returns the region of the lists if they cover exactly one.
    #[must_use]
    pub fn region(&self) -> Option<Region> {
        self.0.region.get_or_init(|| region::of_texts(&self.texts())).clone()
    }

    /// Returns the catalogue of a region.
    ///
    /// # Errors
    /// The faults of the lists, or that the region is unknown.
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
