//! Parses the names of Azure's VM sizes.
//!
//! After the tier: one family letter, up to two sub-family letters, vCPU digits, optionally `-` and the constrained
//! vCPUs, feature letters, then parts separated by underscores: `NDR`, an accelerator (a preceding `xl_` is dropped),
//! `cc`, a variant's digits, a version, `Promo`. Only interprets the name; never claims anything about the actual VM.

use std::sync::Arc;

use crate::model::SkuName;

/// The letters that name features. `C` stands in confidential sizes, `P` in FPGA sizes.
const FEATURE_LETTERS: &str = "abcdefilmnopstrPC";

/// A size's name, taken apart.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SizeName {
    /// The family letter, such as `D`.
    pub family: Arc<str>,
    /// The letters after the family, such as `C` in `NC24ads`; empty where there are none.
    pub subfamily: Arc<str>,
    /// The number in the name: vCPUs, except in the oldest series (`D11` has two).
    pub cpus: u32,
    /// How many of the vCPUs are left on, where the name constrains them (`M8-2ms`: 2).
    pub constrained_cpus: Option<u32>,
    /// The feature letters, such as `ads`.
    pub features: Arc<str>,
    /// The accelerator, such as `A100`.
    pub accelerator: Option<Arc<str>>,
    /// Whether the size is a confidential child (`cc`).
    pub is_confidential_child: bool,
    /// The version, such as 5 of `v5`.
    pub version: Option<u32>,
    /// Whether the size was a promotion.
    pub is_promo: bool,
    /// Family, sub-family, features and version, such as `NCads_v4`.
    pub series: Arc<str>,
}

impl SizeName {
    /// Takes a name such as `Standard_NC24ads_A100_v4` apart; `None` when it does not follow the grammar.
    #[must_use]
    pub fn parse(name: &SkuName) -> Option<Self> {
        let (_tier, size) = name.as_str().split_once('_')?;
        let mut parts = size.split('_').peekable();
        let head = Head::parse(parts.next()?)?;
        let _ = parts.next_if_eq(&"NDR");
        let dropped = parts.next_if_eq(&"xl").is_some();
        let accelerator = parts.next_if(|part| is_accelerator(part));
        if dropped && accelerator.is_none() {
            return None;
        }
        let is_confidential_child = parts.next_if_eq(&"cc").is_some();
        let _variant = parts.next_if(|part| is_digits(part));
        let version = match parts.next_if(|part| part.strip_prefix('v').is_some_and(is_digits)) {
            Some(part) => Some(part.get(1..)?.parse().ok()?),
            None => None,
        };
        let is_promo = parts.next_if_eq(&"Promo").is_some();
        if parts.next().is_some() {
            return None;
        }
        Some(Self {
            series: series(&head, version),
            family: Arc::from(head.family),
            subfamily: Arc::from(head.subfamily),
            cpus: head.cpus,
            constrained_cpus: head.constrained_cpus,
            features: Arc::from(head.features),
            accelerator: accelerator.map(Arc::from),
            is_confidential_child,
            version,
            is_promo,
        })
    }

    /// Returns whether the name has this feature letter.
    #[must_use]
    pub fn has(&self, feature: char) -> bool {
        self.features.contains(feature)
    }

    /// Returns the version, or 1 where the name has none: what `karpenter.azure.com/sku-version` says.
    #[must_use]
    pub fn version_or_one(&self) -> u32 {
        self.version.unwrap_or(1)
    }
}

fn series(head: &Head<'_>, version: Option<u32>) -> Arc<str> {
    let stem = format!("{}{}{}", head.family, head.subfamily, head.features);
    Arc::from(version.map_or(stem.clone(), |version| format!("{stem}_v{version}")))
}

/// The part before the first underscore: `NC24ads`, `M8-2ms`.
struct Head<'a> {
    family: &'a str,
    subfamily: &'a str,
    cpus: u32,
    constrained_cpus: Option<u32>,
    features: &'a str,
}

impl<'a> Head<'a> {
    fn parse(text: &'a str) -> Option<Self> {
        let letters = text.find(|letter: char| !letter.is_ascii_uppercase())?;
        if !(1..=3).contains(&letters) {
            return None;
        }
        let (family, subfamily) = text.get(..letters)?.split_at(1);
        let (cpus, rest) = number(text.get(letters..)?)?;
        let (constrained_cpus, features) = match rest.strip_prefix('-') {
            Some(rest) => {
                let (constrained, features) = number(rest)?;
                (Some(constrained), features)
            }
            None => (None, rest),
        };
        let known = features.chars().all(|letter| FEATURE_LETTERS.contains(letter));
        known.then_some(Self { family, subfamily, cpus, constrained_cpus, features })
    }
}

/// Splits the digits off the front.
fn number(text: &str) -> Option<(u32, &str)> {
    let end = text.find(|digit: char| !digit.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    Some((digits.parse().ok()?, rest))
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Upper-case letters, digits, then upper-case letters if any: `T4`, `MI300X`, `RTXPRO6000BSE`.
fn is_accelerator(text: &str) -> bool {
    let rest = text.trim_start_matches(|letter: char| letter.is_ascii_uppercase());
    let tail = rest.trim_start_matches(|digit: char| digit.is_ascii_digit());
    rest.len() < text.len()
        && tail.len() < rest.len()
        && tail.bytes().all(|letter| letter.is_ascii_uppercase())
}

#[cfg(test)]
mod tests {
    use super::{SizeName, SkuName};

    fn parse(name: &str) -> Option<SizeName> {
        SizeName::parse(&SkuName::new(name))
    }

    #[test]
    fn a_name_with_every_kind_of_part_is_taken_apart() {
        let size = parse("Standard_NC24ads_A100_v4").expect("follows the grammar");
        assert_eq!((&*size.family, &*size.subfamily, size.cpus, &*size.features), ("N", "C", 24, "ads"));
        assert_eq!(size.accelerator.as_deref(), Some("A100"));
        assert_eq!((&*size.series, size.version_or_one()), ("NCads_v4", 4));
    }

    #[test]
    fn unusual_names_are_read() {
        assert_eq!(parse("Standard_M8-2ms").and_then(|size| size.constrained_cpus), Some(2));
        assert_eq!(parse("Standard_M416s_8_v2").map(|size| size.series.to_string()), Some("Ms_v2".into()));
        assert_eq!(parse("Standard_D2_v2").map(|size| size.series.to_string()), Some("D_v2".into()));
        let rtx = parse("Standard_NC144ds_xl_RTXPRO6000BSE_v6").expect("follows the grammar");
        assert_eq!(rtx.accelerator.as_deref(), Some("RTXPRO6000BSE"));
        let rack = parse("Standard_ND128isr_NDR_GB200_v6").expect("follows the grammar");
        assert_eq!(rack.accelerator.as_deref(), Some("GB200"));
        assert!(parse("Standard_DC16ads_cc_v5").is_some_and(|size| size.is_confidential_child));
        assert!(parse("Standard_D2_v2_Promo").is_some_and(|size| size.is_promo));
    }

    #[test]
    fn what_does_not_follow_the_grammar_is_refused() {
        for name in
            ["", "Standard", "Standard_", "Dsv3_Type3", "Standard_D", "Standard_4s", "Standard_D4q_v5"]
        {
            assert!(parse(name).is_none(), "{name}");
        }
        for name in ["Standard_D4s_v5_x", "Standard_D4s__v5", "Standard_D4s_xl_v5", "Standard_D99999999999s"]
        {
            assert!(parse(name).is_none(), "{name}");
        }
    }
}
