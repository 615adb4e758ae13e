//! The newest versions of node images in AKS's community galleries, for classes without images of their own.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::Ask;
use super::azure::Reader;
use crate::api::aks_node_class::AksNodeClass;
use crate::arm::Request;
use crate::arm::answer::ImageVersion;
use crate::arm::request::CommunityImage;
use crate::launch::image::{Definition, Wanted, definitions};
use crate::snapshot::azure::ClusterFacts;

/// Next step if an image does not exist.
const OTHERWISE: &str = "choose another `imageFamily` in the AKSNodeClass where nodes need it";

/// Reads the newest version of each image that these classes may need.
pub(super) async fn newest(
    reader: &mut Reader<'_, impl Ask>,
    subscription: &str,
    cluster: &ClusterFacts,
    classes: &[AksNodeClass],
) -> BTreeMap<Arc<str>, Arc<str>> {
    let mut newest = BTreeMap::new();
    for definition in needed(cluster, classes) {
        let Definition { gallery, name, .. } = definition;
        let image = CommunityImage { gallery, definition: name };
        let request = Request::list_image_versions(subscription, &cluster.location, &image);
        let what = format!("versions of image `{name}`");
        let Some(versions) = reader.list::<ImageVersion>(&what, &request).await else {
            reader.advise(OTHERWISE);
            continue;
        };
        let usable = versions.into_iter().filter(|version| !version.exclude_from_latest);
        match usable.max_by(|one, other| (one.published, &one.name).cmp(&(other.published, &other.name))) {
            Some(version) => {
                newest.insert(definition.key(), definition.version(&version.name));
            }
            None => {
                reader.gap(&what, &format!("there is none in `{}`", cluster.location));
                reader.advise(OTHERWISE);
            }
        }
    }
    newest
}

/// Returns the images that classes without images of their own may need, without duplicates.
fn needed(cluster: &ClusterFacts, classes: &[AksNodeClass]) -> BTreeSet<Definition> {
    let without = classes.iter().filter(|class| {
        let images = class.status.as_ref().and_then(|status| status.images.as_ref());
        images.is_none_or(Vec::is_empty)
    });
    let Ok(version) = cluster.kubernetes_version.parse() else { return BTreeSet::new() };
    let wanted = without.map(|class| Wanted::of(&class.spec.clone().unwrap_or_default()));
    wanted.flat_map(|wanted| definitions(wanted, &version)).copied().collect()
}
