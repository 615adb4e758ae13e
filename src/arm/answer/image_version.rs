//! Versions of a community gallery image.
//!
//! Must never choose one: the newest is determined by `plan`.

use jiff::Timestamp;
use serde::Deserialize;

use super::reading::Answer;

/// A version of an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageVersion {
    /// The version, such as `202507.01.0`.
    pub name: String,
    /// The image id for creating VMs, if Azure provides it: `/CommunityGalleries/G/Images/D/Versions/V`.
    pub unique_id: Option<String>,
    /// Publication date.
    pub published: Option<Timestamp>,
    /// End of life.
    pub end_of_life: Option<Timestamp>,
    /// Whether the publisher excludes it from `latest`.
    pub exclude_from_latest: bool,
}

#[derive(Deserialize)]
pub struct Wire {
    name: String,
    #[serde(default)]
    identifier: Option<WireIdentifier>,
    #[serde(default)]
    properties: WireProperties,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireIdentifier {
    #[serde(default)]
    unique_id: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct WireProperties {
    published_date: Option<String>,
    end_of_life_date: Option<String>,
    exclude_from_latest: Option<bool>,
}

impl Answer for ImageVersion {
    const WHAT: &'static str = "version of an image";
    type Wire = Wire;

    fn of(wire: Wire) -> Result<Self, String> {
        let WireProperties { published_date, end_of_life_date, exclude_from_latest } = wire.properties;
        let time = |text: Option<String>| text.and_then(|text| text.parse().ok());
        Ok(Self {
            name: wire.name,
            unique_id: wire.identifier.and_then(|identifier| identifier.unique_id),
            published: time(published_date),
            end_of_life: time(end_of_life_date),
            exclude_from_latest: exclude_from_latest.unwrap_or(false),
        })
    }
}
