//! Label selectors of nodes in the syntax of kubectl's `-l`.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use super::{LabelKey, Operator, Requirement, label};

/// A node selector, as in kubectl's `-l`. Without terms it selects all nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeSelector {
    text: Arc<str>,
    /// Terms that must all hold. Terms of the same key are not merged: `a,a!=b` requires the label to exist.
    terms: Vec<(LabelKey, Requirement)>,
}

impl NodeSelector {
    /// Parses `key`, `!key`, `key=value`, `key==value`, `key!=value`, `key in (a,b)`, `key notin (a,b)`, `key>1` and
    /// `key<1`, separated by commas; an empty text selects all nodes.
    ///
    /// # Errors
    /// The part that is not a valid term, and why.
    pub fn parse(text: &str) -> Result<Self, String> {
        let trimmed = text.trim();
        let terms = match trimmed {
            "" => Vec::new(),
            _ => parts(trimmed)?.into_iter().map(term).collect::<Result<_, _>>()?,
        };
        Ok(Self { text: Arc::from(trimmed), terms })
    }

    /// Returns whether nodes with these labels are selected.
    #[must_use]
    pub fn selects(&self, labels: &BTreeMap<LabelKey, Arc<str>>) -> bool {
        self.terms.iter().all(|(key, wanted)| match labels.get(key) {
            Some(value) => wanted.accepts(value),
            None => wanted.accepts_absence(),
        })
    }

    /// Returns whether all nodes are selected.
    #[must_use]
    pub const fn is_everything(&self) -> bool {
        self.terms.is_empty()
    }

    /// Returns the original text.
    #[must_use]
    pub const fn as_text(&self) -> &Arc<str> {
        &self.text
    }
}

impl fmt::Display for NodeSelector {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

/// Splits at commas outside parentheses.
fn parts(text: &str) -> Result<Vec<&str>, String> {
    let (mut parts, mut start, mut is_inside) = (Vec::new(), 0, false);
    for (place, character) in text.char_indices() {
        match (character, is_inside) {
            ('(', false) => is_inside = true,
            (')', true) => is_inside = false,
            (',', false) => {
                parts.push(text[start..place].trim());
                start = place + 1;
            }
            ('(', true) | (')', false) => return Err(format!("`{text}`: a parenthesis is out of place")),
            _ => {}
        }
    }
    if is_inside {
        return Err(format!("`{text}`: `)` is missing"));
    }
    parts.push(text[start..].trim());
    Ok(parts)
}

fn term(text: &str) -> Result<(LabelKey, Requirement), String> {
    let wrong = || format!("`{text}` is no term of a label selector");
    let (key, requirement) = if let Some(key) = text.strip_prefix('!') {
        (key, Requirement::none())
    } else if let Some(listed) = text.strip_suffix(')') {
        set(listed).ok_or_else(wrong)?
    } else if let Some((key, value)) = text.split_once("!=") {
        (key, Requirement::new(Operator::NotIn, [one(value).ok_or_else(wrong)?]))
    } else if let Some((key, value)) = text.split_once('=') {
        let value = value.strip_prefix('=').unwrap_or(value);
        (key, Requirement::one(one(value).ok_or_else(wrong)?))
    } else if let Some((key, value)) = text.split_once('>') {
        (key, bound(Operator::Gt, value).ok_or_else(wrong)?)
    } else if let Some((key, value)) = text.split_once('<') {
        (key, bound(Operator::Lt, value).ok_or_else(wrong)?)
    } else {
        (text, Requirement::any())
    };
    let key = one(key).filter(|key| !key.is_empty()).ok_or_else(wrong)?;
    Ok((LabelKey::new(label::normalized(key)), requirement))
}

/// Parses `key in (a,b` and `key notin (a,b`.
fn set(text: &str) -> Option<(&str, Requirement)> {
    let (head, values) = text.split_once('(')?;
    let (key, operator) = head.trim_end().rsplit_once(char::is_whitespace)?;
    let operator = match operator {
        "in" => Operator::In,
        "notin" => Operator::NotIn,
        _ => return None,
    };
    let values: Vec<&str> = values.split(',').map(one).collect::<Option<_>>()?;
    Some((key, Requirement::new(operator, values)))
}

fn bound(operator: Operator, value: &str) -> Option<Requirement> {
    let value = one(value)?;
    value.parse::<i64>().is_ok().then(|| Requirement::new(operator, [value]))
}

/// Returns a key or value without surrounding whitespace; `None` if it contains whitespace or selector syntax.
fn one(text: &str) -> Option<&str> {
    let text = text.trim();
    let is_plain = |character: char| !character.is_whitespace() && !"=!<>(),".contains(character);
    text.chars().all(is_plain).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn selects(selector: &str, labels: &[(&str, &str)]) -> bool {
        let labels = labels.iter().map(|(key, value)| (LabelKey::new(key), Arc::from(*value))).collect();
        NodeSelector::parse(selector).expect("a selector").selects(&labels)
    }

    #[test]
    fn terms_are_read_as_kubectl_reads_them() {
        let node = [("agentpool", "web"), ("disk", "ssd"), ("cores", "8")];
        for yes in [
            "",
            "agentpool",
            "agentpool=web",
            "agentpool == web",
            "agentpool in (web, batch)",
            "agentpool notin (batch),disk=ssd",
            "!gpu",
            "gpu!=yes",
            "gpu notin (yes)",
            "cores>4,cores<9",
        ] {
            assert!(selects(yes, &node), "{yes}");
        }
        for no in ["gpu", "!disk", "agentpool!=web", "disk in (hdd)", "cores>8", "gpu,gpu!=yes", "a="] {
            assert!(!selects(no, &node), "{no}");
        }
    }

    #[test]
    fn what_is_no_selector_is_refused_by_the_part_that_is_wrong() {
        for wrong in ["a in b", "a in (b", "a b", ",a", "a,,b", "a=b=c", "a>many", "(a)", "a))", "in (b)"] {
            assert!(NodeSelector::parse(wrong).is_err(), "{wrong}");
        }
        assert!(NodeSelector::parse("x=1,a b").is_err_and(|why| why.contains("`a b`")));
    }

    #[test]
    fn old_keys_mean_the_stable_ones() {
        let node = [("topology.kubernetes.io/zone", "eastus-1")];
        assert!(selects("failure-domain.beta.kubernetes.io/zone=eastus-1", &node));
    }
}
