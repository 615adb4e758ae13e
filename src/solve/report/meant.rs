//! Suggests the intended value of a size label that no size has: a typo, a value of another label, or the name of a
//! size that is not sold.
//!
//! Must never guess far: a wrong hint is worse than none.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::model::{LabelKey, label};

/// Maximum edit distance at which a value counts as a typo.
const SLIP_MAX: usize = 3;
/// Maximum number of values in a hint.
const NAMED_MAX: usize = 3;

/// The labels whose values are names, so a value identifies its label.
pub(super) const NAMES: [&str; 7] = [
    label::INSTANCE_TYPE,
    label::SKU_FAMILY,
    label::SKU_SERIES,
    label::SKU_GPU_NAME,
    label::SKU_GPU_MANUFACTURER,
    label::ARCH,
    label::CAPACITY_TYPE,
];

/// The values of labels.
pub(super) type Values = BTreeMap<LabelKey, BTreeSet<Arc<str>>>;

/// Returns a hint for a value that the label does not have.
#[must_use]
pub(super) fn hint(key: &LabelKey, text: &str, known: &Values) -> Option<String> {
    let values = known.get(key)?;
    let is_size = matches!(key.as_str(), label::INSTANCE_TYPE | label::SKU_NAME);
    if is_size && let Some(size) = values.iter().find(|size| is_same_size(size, text)) {
        return Some(format!("did you mean `{size}`?"));
    }
    if let Some(value) = same(key, text, values) {
        return Some(format!("did you mean `{value}`?"));
    }
    of_other_label(key, text, known)
        .or_else(|| of_series(key, text, known))
        .or_else(|| is_size.then(|| nearest_sizes(text, values)).flatten())
        .or_else(|| slip(text, values).map(|value| format!("did you mean `{value}`?")))
}

/// Returns the value that is certainly meant by a different spelling.
fn same<'v>(key: &LabelKey, text: &str, values: &'v BTreeSet<Arc<str>>) -> Option<&'v Arc<str>> {
    let lower = text.to_ascii_lowercase();
    let known_slip = match (key.as_str(), lower.as_str()) {
        (label::ARCH, "x86_64" | "x86-64" | "x64" | "amd") => Some("amd64"),
        (label::ARCH, "aarch64" | "arm" | "armv8") => Some("arm64"),
        (label::CAPACITY_TYPE, "ondemand" | "on_demand" | "regular") => Some("on-demand"),
        (label::CAPACITY_TYPE, "low-priority" | "preemptible") => Some("spot"),
        // Size names contain `v5`, the label is `5`.
        (label::SKU_VERSION, version) => version.strip_prefix('v'),
        _ => None,
    };
    let is_same = |value: &&Arc<str>| value.eq_ignore_ascii_case(text) || known_slip == Some(&***value);
    // Azure's portal shows `1`; the label is `westeurope-1`.
    let suffix = format!("-{text}");
    let is_zone =
        |value: &&Arc<str>| key.as_str() == label::ZONE && !text.is_empty() && value.ends_with(&suffix);
    // `NVIDIA A100 80GB` contains the GPU's name.
    let words: Vec<&str> = lower.split(|letter: char| !letter.is_ascii_alphanumeric()).collect();
    let is_word = |value: &&Arc<str>| {
        key.as_str() == label::SKU_GPU_NAME && words.contains(&value.to_ascii_lowercase().as_str())
    };
    values
        .iter()
        .find(is_same)
        .or_else(|| values.iter().find(is_zone))
        .or_else(|| values.iter().find(is_word))
}

/// Suggests another label that has this value.
fn of_other_label(key: &LabelKey, text: &str, known: &Values) -> Option<String> {
    // Series names in Azure's documentation include the accelerator; the label does not.
    let parts: Vec<&str> = text.trim_end_matches("-series").split('_').collect();
    let series = match parts.as_slice() {
        [first, _, version] => format!("{first}{version}"),
        _ => parts.concat(),
    };
    let is_value = |other: &str, value: &str| match other {
        label::INSTANCE_TYPE => is_same_size(value, text),
        label::SKU_SERIES => compact(value) == compact(&series),
        _ => value.eq_ignore_ascii_case(text),
    };
    // Both labels contain size names.
    let own = if key.as_str() == label::SKU_NAME { label::INSTANCE_TYPE } else { key.as_str() };
    NAMES.iter().filter(|other| **other != own).find_map(|other| {
        let value = known.get(*other)?.iter().find(|value| is_value(other, value))?;
        Some(format!("`{value}` is a value of `{other}`: ask for it with that label"))
    })
}

/// Suggests the series that begin like the text, and their family.
fn of_series(key: &LabelKey, text: &str, known: &Values) -> Option<String> {
    if !matches!(key.as_str(), label::SKU_FAMILY | label::SKU_SERIES) {
        return None;
    }
    let lower = compact(text.trim_end_matches("-series"));
    let letters: String = lower.chars().take_while(char::is_ascii_lowercase).collect();
    let first = letters.chars().next()?;
    let family = known.get(label::SKU_FAMILY)?.iter().find(|family| {
        let mut own = family.chars().map(|letter| letter.to_ascii_lowercase());
        own.next() == Some(first) && own.next().is_none()
    })?;
    // A list of sizes may omit the series.
    let none = BTreeSet::new();
    let series = known.get(label::SKU_SERIES).unwrap_or(&none);
    let begin = |part: &str| -> Vec<&Arc<str>> {
        series.iter().filter(|value| !part.is_empty() && compact(value).starts_with(part)).collect()
    };
    // The longest prefix that some series has: for `NCads_v9`, it is `NCads`.
    let ends = (2..=lower.len()).rev().filter_map(|end| lower.get(..end));
    let named = ends.map(begin).find(|found| !found.is_empty()).unwrap_or_default();
    if named.is_empty() {
        let is_family = key.as_str() == label::SKU_FAMILY;
        return is_family.then(|| format!("did you mean `{family}`?"));
    }
    let named: Vec<&str> = named.into_iter().map(|value| &**value).collect();
    let named = listed(&named);
    Some(match key.as_str() {
        label::SKU_FAMILY => format!(
            "the family is `{family}`; for a part of it ask for `{}` such as {named}",
            label::SKU_SERIES
        ),
        _ => format!("the nearest series are {named}"),
    })
}

/// Suggests the sizes nearest to one that does not exist: those with the same letters, then with the nearest number of
/// vCPUs.
fn nearest_sizes(text: &str, values: &BTreeSet<Arc<str>>) -> Option<String> {
    let asked = Parts::of(text)?;
    let all: Vec<(Parts, &Arc<str>)> =
        values.iter().filter_map(|size| Some((Parts::of(size)?, size))).collect();
    let family = asked.letters.chars().next();
    let same_letters = |(parts, _): &&(Parts, &Arc<str>)| parts.letters == asked.letters;
    let same_family = |(parts, _): &&(Parts, &Arc<str>)| parts.letters.chars().next() == family;
    let mut near: Vec<&(Parts, &Arc<str>)> = all.iter().filter(same_letters).collect();
    if near.is_empty() {
        near = all.iter().filter(same_family).collect();
    }
    near.sort_by_key(|(parts, size)| (parts.distance(&asked), *size));
    let names: Vec<&str> = near.iter().take(NAMED_MAX).map(|(_, size)| &***size).collect();
    (!names.is_empty()).then(|| format!("no size has this name; the nearest are {}", listed(&names)))
}

/// A size's name split into the parts that determine its distance to another.
#[derive(Debug)]
struct Parts {
    /// The letters before the vCPUs, in lower case.
    letters: String,
    cpus: u32,
    /// The part after them, without the version.
    features: String,
    version: u32,
}

impl Parts {
    /// Parses a name, ignoring case, tier and separators.
    fn of(name: &str) -> Option<Self> {
        let name = compact(name);
        let name = name.strip_prefix("standard").unwrap_or(&name);
        let digits = name.find(|letter: char| letter.is_ascii_digit()).filter(|place| *place > 0)?;
        let (letters, rest) = name.split_at(digits);
        let end = rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(rest.len());
        let (cpus, rest) = rest.split_at(end);
        let version =
            rest.rsplit_once('v').and_then(|(features, version)| Some((features, version.parse().ok()?)));
        // A name without a version is version 1.
        let (features, version) = version.unwrap_or((rest, 1));
        let (letters, features) = (letters.to_owned(), features.to_owned());
        Some(Self { letters, cpus: cpus.parse().ok()?, features, version })
    }

    fn distance(&self, asked: &Self) -> (u32, usize, u32) {
        let lacking = |own: &str, of: &str| own.chars().filter(|letter| !of.contains(*letter)).count();
        // A missing requested feature weighs more than an extra one.
        let features =
            2 * lacking(&asked.features, &self.features) + lacking(&self.features, &asked.features);
        (self.cpus.abs_diff(asked.cpus), features, self.version.abs_diff(asked.version))
    }
}

fn is_same_size(size: &str, text: &str) -> bool {
    let bare = |name: &str| {
        let name = compact(name);
        name.strip_prefix("standard").map_or(name.clone(), str::to_owned)
    };
    bare(size) == bare(text)
}

/// Returns a name in lower case without separators.
fn compact(name: &str) -> String {
    let is_part = |letter: &char| !matches!(letter, '_' | '-' | ' ');
    name.chars().filter(is_part).map(|letter| letter.to_ascii_lowercase()).collect()
}

/// Returns the value of which a text is a typo.
fn slip<'v>(text: &str, values: &'v BTreeSet<Arc<str>>) -> Option<&'v Arc<str>> {
    let (lower, slips) = (text.to_ascii_lowercase(), text.chars().count() / 3);
    let close = values
        .iter()
        .filter(|value| value.chars().count() > 1)
        .map(|value| (strsim::osa_distance(&value.to_ascii_lowercase(), &lower), value));
    close.min().filter(|(distance, _)| *distance <= slips.clamp(1, SLIP_MAX)).map(|(_, value)| value)
}

fn listed(names: &[&str]) -> String {
    let named: Vec<String> = names.iter().take(NAMED_MAX).map(|name| format!("`{name}`")).collect();
    match named.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::{Arc, LabelKey, Values, hint, label};

    fn known() -> Values {
        let table: [(&str, &[&str]); 8] = [
            (
                label::INSTANCE_TYPE,
                &[
                    "Standard_A4_v2",
                    "Standard_D2s_v5",
                    "Standard_D48s_v5",
                    "Standard_D4ds_v5",
                    "Standard_D4s_v3",
                    "Standard_D4s_v5",
                    "Standard_D8s_v5",
                    "Standard_NC24ads_A100_v4",
                ],
            ),
            (label::SKU_SERIES, &["Ds_v5", "Ebds_v5", "NCads_v4", "NCas_v3"]),
            (label::SKU_FAMILY, &["A", "D", "E", "N"]),
            (label::SKU_VERSION, &["1", "3", "5"]),
            (label::SKU_GPU_NAME, &["A100", "T4"]),
            (label::SKU_GPU_MANUFACTURER, &["nvidia"]),
            (label::ARCH, &["amd64", "arm64"]),
            (label::CAPACITY_TYPE, &["on-demand", "spot"]),
        ];
        let values = |values: &[&str]| values.iter().map(|value| Arc::from(*value)).collect();
        let mut known: Values = table.map(|(key, of)| (LabelKey::new(key), values(of))).into();
        known.insert(LabelKey::new(label::ZONE), values(&["westeurope-1", "westeurope-2"]));
        known
    }

    #[test]
    fn a_value_that_nothing_has_is_told_what_was_meant() {
        let series = "ask for it with that label";
        let table = [
            (label::INSTANCE_TYPE, "D4s_v5", Some("did you mean `Standard_D4s_v5`?".to_owned())),
            (label::INSTANCE_TYPE, "standard_d4sv5", Some("did you mean `Standard_D4s_v5`?".to_owned())),
            (
                label::INSTANCE_TYPE,
                "D4s_v9",
                Some(
                    "no size has this name; the nearest are `Standard_D4s_v5`, `Standard_D4s_v3` and \
                     `Standard_D4ds_v5`"
                        .to_owned(),
                ),
            ),
            (
                label::INSTANCE_TYPE,
                "Standard_D6s_v5",
                Some(
                    "no size has this name; the nearest are `Standard_D4s_v5`, `Standard_D8s_v5` and \
                     `Standard_D4s_v3`"
                        .to_owned(),
                ),
            ),
            (label::INSTANCE_TYPE, "D", Some(format!("`D` is a value of `{}`: {series}", label::SKU_FAMILY))),
            (
                label::SKU_FAMILY,
                "NC",
                Some(format!(
                    "the family is `N`; for a part of it ask for `{}` such as `NCads_v4` and `NCas_v3`",
                    label::SKU_SERIES
                )),
            ),
            (
                label::SKU_FAMILY,
                "Standard_D4s_v5",
                Some(format!("`Standard_D4s_v5` is a value of `{}`: {series}", label::INSTANCE_TYPE)),
            ),
            (
                label::SKU_FAMILY,
                "Dsv5",
                Some(format!("`Ds_v5` is a value of `{}`: {series}", label::SKU_SERIES)),
            ),
            (label::SKU_FAMILY, "d", Some("did you mean `D`?".to_owned())),
            (label::SKU_FAMILY, "DX", Some("did you mean `D`?".to_owned())),
            (label::SKU_SERIES, "NC", Some("the nearest series are `NCads_v4` and `NCas_v3`".to_owned())),
            (
                label::INSTANCE_TYPE,
                "NCads_A100_v4",
                Some(format!("`NCads_v4` is a value of `{}`: {series}", label::SKU_SERIES)),
            ),
            (label::SKU_SERIES, "N", Some(format!("`N` is a value of `{}`: {series}", label::SKU_FAMILY))),
            (label::SKU_VERSION, "v5", Some("did you mean `5`?".to_owned())),
            (
                label::SKU_GPU_NAME,
                "nvidia",
                Some(format!("`nvidia` is a value of `{}`: {series}", label::SKU_GPU_MANUFACTURER)),
            ),
            (label::SKU_GPU_NAME, "NVIDIA-A100-80GB", Some("did you mean `A100`?".to_owned())),
            (label::ARCH, "x86_64", Some("did you mean `amd64`?".to_owned())),
            (label::ARCH, "spot", Some(format!("`spot` is a value of `{}`: {series}", label::CAPACITY_TYPE))),
            (label::CAPACITY_TYPE, "on-demnd", Some("did you mean `on-demand`?".to_owned())),
            (label::ZONE, "2", Some("did you mean `westeurope-2`?".to_owned())),
            (label::ZONE, "eastus-1", None),
            (label::SKU_GPU_NAME, "unheard-of", None),
        ];
        for (key, text, expected) in table {
            assert_eq!(hint(&LabelKey::new(key), text, &known()), expected, "{key} {text}");
        }
    }
}
