//! Comparison of a node in two plans: every field of its machine, annotations and NodeClaim, and the age of its image.
//!
//! Nothing in a plan file that its page does not show is sent unless planning again yields the same. Must never skip a
//! field because it is unknown here: values are compared whole.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::civil::Date;

use crate::model::{LabelKey, label};
use crate::plan::execution::{Launch, Machine};
use crate::plan::{ClaimSpec, Difference};

/// Maximum age of an approved image relative to the newest one, in days.
const IMAGE_DAYS_MAX: i32 = 30;

/// Labels that only select among the choices, which are compared one by one.
const DECIDED_BY_CHOICE: [&str; 3] = [label::INSTANCE_TYPE, label::ZONE, label::CAPACITY_TYPE];

/// Returns the difference between two machines.
pub(super) fn machine(approved: &Machine, fresh: &Machine) -> Option<String> {
    if let Some(because) = image(&approved.image, &fresh.image) {
        return Some(because);
    }
    let of_same_image = Machine { image: approved.image.clone(), ..fresh.clone() };
    Difference::of(approved, &of_same_image).map(|found| format!("of its VM, {found}"))
}

/// Returns the difference between two launches, except for their choices.
pub(super) fn launch(approved: &Launch, fresh: &Launch, has_same_first: bool) -> Option<String> {
    let mut fresh = Launch { choices: approved.choices.clone(), ..fresh.clone() };
    if !has_same_first {
        fresh.capacity = approved.capacity.clone();
    }
    Difference::of(approved, &fresh).map(|found| format!("of its launch, {found}"))
}

/// Returns the difference between two claims. The fresh claim may list fewer sizes, zones and capacity types, with the
/// labels that follow: the approved lists are on the page, and only the choices are launched.
pub(super) fn claim(approved: &ClaimSpec, fresh: &ClaimSpec) -> Option<String> {
    // Higher prices are reported separately.
    let (price_max, primary) = (approved.price_max, approved.primary.clone());
    let mut fresh = ClaimSpec { price_max, primary, ..fresh.clone() };
    for key in DECIDED_BY_CHOICE {
        let lists = (approved.requirements.get(key), fresh.requirements.get(key));
        if let (Some(ours), Some(theirs)) = lists
            && ours.intersection(theirs) == *theirs
        {
            fresh.requirements.set(LabelKey::new(key), ours.clone());
        }
    }
    if own_labels(approved) == own_labels(&fresh) {
        fresh.labels = approved.labels.clone();
    }
    Difference::of(approved, &fresh).map(|found| format!("of its NodeClaim, {found}"))
}

/// Returns the labels that do not depend on the choice.
fn own_labels(claim: &ClaimSpec) -> BTreeMap<&LabelKey, &Arc<str>> {
    let is_well_known = |key: &LabelKey| {
        label::WELL_KNOWN.contains(&key.as_str()) || label::WELL_KNOWN_AZURE.contains(&key.as_str())
    };
    claim.labels.iter().filter(|(key, _)| !is_well_known(key)).collect()
}

/// Returns why an approved image may not be used now that there is a newer one: it must have the same definition and be
/// at most `IMAGE_DAYS_MAX` days older by its dated version.
fn image(approved: &str, newest: &str) -> Option<String> {
    if approved.eq_ignore_ascii_case(newest) {
        return None;
    }
    let other = || Some(format!("image `{approved}` was approved, but a new plan uses `{newest}`"));
    let (Some((ours, old)), Some((theirs, new))) = (dated(approved), dated(newest)) else { return other() };
    if !ours.eq_ignore_ascii_case(theirs) || old > new {
        return other();
    }
    let days = (new - old).get_days();
    (days > IMAGE_DAYS_MAX).then(|| {
        format!(
            "image `{approved}` is {days} days older than the newest one; at most {IMAGE_DAYS_MAX} days are allowed"
        )
    })
}

/// Splits an AKS image into its definition and the date of its version, such as `202508.20.0`.
fn dated(image: &str) -> Option<(&str, Date)> {
    let (definition, version) = image.rsplit_once("/versions/")?;
    let mut parts = version.split('.');
    let (month, day, _) = (parts.next()?, parts.next()?, parts.next()?);
    let date = |from: &str| from.parse::<i8>().ok();
    let (year, of_year) = month.split_at_checked(4)?;
    let date = Date::new(year.parse().ok()?, date(of_year)?, date(day)?).ok()?;
    parts.next().is_none().then_some((definition, date))
}

#[cfg(test)]
mod tests {
    use super::image;

    #[test]
    fn an_image_may_be_thirty_days_older_than_the_newest_and_of_no_other_definition() {
        let of =
            |name: &str, version: &str| format!("/CommunityGalleries/g/images/{name}/versions/{version}");
        let newest = of("2204gen2containerd", "202511.20.0");
        let said = |approved: &str| image(approved, &newest);
        assert_eq!(said(&newest), None);
        assert_eq!(said(&newest.to_uppercase()), None);
        assert_eq!(said(&of("2204gen2containerd", "202510.21.3")), None);
        let old = said(&of("2204gen2containerd", "202510.20.0")).expect("it is too old");
        assert!(old.contains("is 31 days older than the newest one"), "{old}");
        for strange in [
            of("2204gen2containerd", "202511.21.0"),
            of("2204gen2TLcontainerd", "202511.19.0"),
            of("2204gen2containerd", "1.2"),
            of("2204gen2containerd", "202513.01.0"),
            of("2204gen2containerd", "202511.19.0.1"),
            "/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/images/mine".to_owned(),
            "née/versions/20né11.1.0".to_owned(),
            String::new(),
        ] {
            let because = said(&strange).unwrap_or_else(|| panic!("`{strange}` is refused"));
            assert!(because.contains("but a new plan uses"), "{because}");
        }
    }
}
