//! GPU sizes supported by AKS, with the GPU's manufacturer and the operating systems that have a driver.
//!
//! The table lists names: a size that is not in it is not a supported GPU size, whatever its name.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::model::SkuName;

/// Who makes a GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum GpuMaker {
    /// NVIDIA.
    Nvidia,
    /// AMD.
    Amd,
}

impl GpuMaker {
    /// Returns the value of `karpenter.azure.com/sku-gpu-manufacturer`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Nvidia => "nvidia",
            Self::Amd => "amd",
        }
    }

    /// Reads the label value.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Nvidia, Self::Amd].into_iter().find(|maker| maker.as_str() == text)
    }
}

/// What is known of a supported GPU size.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Gpu {
    /// Who makes the GPU.
    pub maker: GpuMaker,
    /// The operating systems with a driver: `ubuntu`, `azurelinux`, `azurelinux3`, `windows`.
    pub systems: Vec<Arc<str>>,
}

/// The supported GPU sizes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GpuTable(BTreeMap<String, Arc<Gpu>>);

impl GpuTable {
    /// Reads lines of name without tier in lower case, maker, and operating systems with commas between;
    /// lines that begin with `#` are passed over. `None` when a line is not of this form.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        lines.map(entry).collect::<Option<BTreeMap<_, _>>>().map(Self)
    }

    /// Returns the entry of a size, if it is a supported GPU size.
    #[must_use]
    pub fn get(&self, name: &SkuName) -> Option<&Arc<Gpu>> {
        let name = name.as_str().to_ascii_lowercase();
        let (_tier, size) = name.split_once('_')?;
        self.0.get(size.strip_suffix("_promo").unwrap_or(size))
    }
}

fn entry(line: &str) -> Option<(String, Arc<Gpu>)> {
    let mut words = line.split(' ');
    let (name, maker, systems) = (words.next()?, words.next()?, words.next()?);
    let systems = systems.split(',').map(Arc::from).collect();
    Some((name.to_owned(), Arc::new(Gpu { maker: GpuMaker::parse(maker)?, systems })))
}
