//! Swap and huge pages of a node's Linux, in an AKSNodeClass.
//!
//! Must never compute a size: sizes stay text.

use serde::{Deserialize, Serialize};

use super::sysctls::Sysctls;

/// Swap, huge pages and kernel settings.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct LinuxOsConfig {
    /// Size of a swap file on each node, for example `1500Mi`; rounded to whole MiB. Needs `kubelet.failSwapOn: false`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("pattern" = crate::api::pattern::FILE_SIZE)))]
    pub swap_file_size: Option<String>,
    /// Kernel settings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sysctls: Option<Sysctls>,
    /// When memory is tidied up to make huge pages: `/sys/kernel/mm/transparent_hugepage/defrag`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transparent_huge_page_defrag: Option<TransparentHugePageDefrag>,
    /// When huge pages are used: `/sys/kernel/mm/transparent_hugepage/enabled`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transparent_huge_page_enabled: Option<TransparentHugePageEnabled>,
}

/// When memory is tidied up to make huge pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum TransparentHugePageDefrag {
    /// At once, always.
    Always,
    /// In the background.
    Defer,
    /// In the background, and at once where a program asked for it.
    #[serde(rename = "defer+madvise")]
    DeferMadvise,
    /// At once where a program asked for it.
    Madvise,
    /// Never.
    Never,
}

/// When huge pages are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum TransparentHugePageEnabled {
    /// Always.
    Always,
    /// Where a program asked for them.
    Madvise,
    /// Never.
    Never,
}
