//! Names of objects. Must only check the syntax: only callers with all objects know whether a name is taken.

use crate::api::Kind;
use crate::policy::fault::{Fault, shortened};
use crate::policy::place::Place;

/// Maximum length of a pool's name: it is a label value on the pool's nodes.
const POOL_LETTERS_MAX: usize = 63;
/// Maximum length of a DNS name.
const NAME_LETTERS_MAX: usize = 253;

/// Returns the faults of an object's name.
pub(super) fn faults(kind: Kind, object: &Place<'_>) -> Vec<Fault> {
    let Some(place) = object.at("metadata.name") else {
        let fault = object.fault_at("metadata.name", "is missing: an object needs a name");
        return vec![fault.hint(format!("add `metadata: {{name: …}}` to the {}", kind.facts().kind))];
    };
    let Some(name) = place.value.as_str() else {
        return vec![place.fault("must be text").hint("put it in quotes")];
    };
    if !is_dns_subdomain(name) {
        let fault = place.fault(format!("{} is not a name", shortened(name)));
        return vec![fault.hint("a name is lower-case letters, digits, `-` and `.`, at most 253, and begins and ends with a letter or digit")];
    }
    if kind == Kind::NodePool && name.len() > POOL_LETTERS_MAX {
        let message =
            format!("is {} characters long, a pool's name has at most {POOL_LETTERS_MAX}", name.len());
        return vec![place.fault(message).hint("it is used as the value of a label on the pool's nodes")];
    }
    Vec::new()
}

/// Returns whether a text is a DNS name in lower case, as object names and label prefixes are.
pub(super) fn is_dns_subdomain(text: &str) -> bool {
    let is_part_right = |part: &str| {
        let ends = [part.bytes().next(), part.bytes().next_back()];
        let is_end = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        !part.is_empty()
            && part.bytes().all(|byte| is_end(byte) || byte == b'-')
            && ends.into_iter().flatten().all(is_end)
    };
    text.len() <= NAME_LETTERS_MAX && text.split('.').all(is_part_right)
}
