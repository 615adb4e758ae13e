//! Images in community galleries.

use serde_json::{Value, json};

use super::{ArmError, Azure, Call, Stage, page};
use crate::sim::http::Answer;
use crate::sim::settings::Image;

fn find<'a>(azure: &'a Azure, gallery: &str, definition: &str) -> Option<&'a Image> {
    azure.settings.images.iter().find(|image| {
        image.gallery.eq_ignore_ascii_case(gallery) && image.definition.eq_ignore_ascii_case(definition)
    })
}

pub(crate) fn versions(
    azure: &Azure,
    call: &Call<'_>,
    stage: &mut Stage<'_>,
    (gallery, definition): (&str, &str),
) -> Result<Answer, ArmError> {
    let image = find(azure, gallery, definition).ok_or_else(|| {
        let message = format!(
            "The gallery image {} in community gallery {} could not be found in region {}.",
            call.segment(9),
            call.segment(7),
            azure.settings.location
        );
        ArmError::new(404, "NotFound", message)
    })?;
    let all = image.versions.iter().map(|version| {
        let value = json!({
            "name": version.version, "location": azure.settings.location,
            "type": "Microsoft.Compute/locations/communityGalleries/images/versions",
            "identifier": {
                "uniqueId": format!("/CommunityGalleries/{}/Images/{}/Versions/{}", image.gallery, image.definition, version.version),
            },
            "properties": {"publishedDate": version.published, "excludeFromLatest": false},
        });
        (version.version.to_lowercase(), value)
    });
    let mut all: Vec<(String, Value)> = all.collect();
    all.sort_by(|left, right| left.0.cmp(&right.0));
    Ok(page::answer(azure, call, stage, all.into_iter().map(|(name, value)| (name, move || value))))
}

/// Checks that the image of a VM exists.
pub(crate) fn check(azure: &Azure, reference: &Value) -> Result<(), ArmError> {
    let given = |name: &str| reference.get(name).and_then(Value::as_str);
    let Some(id) = given("communityGalleryImageId") else {
        if given("id").or_else(|| given("sharedGalleryImageId")).or_else(|| given("publisher")).is_some() {
            let message =
                "The simulated Azure has images of community galleries only: set communityGalleryImageId.";
            return Err(ArmError::new(404, "ImageNotFound", message));
        }
        return Err(ArmError::invalid(
            "imageReference",
            "Required parameter 'imageReference' is missing (null).",
        ));
    };
    let parts: Vec<&str> = id.trim_matches('/').split('/').collect();
    let lower: Vec<String> = parts.iter().map(|part| part.to_lowercase()).collect();
    let is_formed = parts.len() == 6
        && lower[0] == "communitygalleries"
        && lower[2] == "images"
        && lower[4] == "versions";
    if !is_formed {
        return Err(ArmError::invalid(
            "imageReference.communityGalleryImageId",
            format!("The value '{id}' of parameter 'communityGalleryImageId' is invalid."),
        ));
    }
    let has_version = find(azure, parts[1], parts[3]).is_some_and(|image| {
        lower[5] == "latest"
            || image.versions.iter().any(|version| version.version.eq_ignore_ascii_case(parts[5]))
    });
    if has_version {
        return Ok(());
    }
    let message = format!("The gallery image {id} is not available in {} region.", azure.settings.location);
    Err(ArmError::new(404, "GalleryImageNotFound", message))
}
