//! Describes the schemas' patterns in words. Must cover every pattern: a regular expression is not a helpful message.

use crate::api::pattern;

/// Returns the description of a pattern, to follow "must be".
pub(crate) fn words(text: &str) -> Option<&'static str> {
    let known = WORDS.iter().find(|(known, _)| *known == text);
    known.map(|(_, words)| *words)
}

const WORDS: &[(&str, &str)] = &[
    (
        pattern::QUALIFIED_NAME,
        "a name of letters, digits, `-`, `_` and `.`, with a DNS name and `/` before it if need be",
    ),
    (
        pattern::LABEL_VALUE,
        "empty or letters, digits, `-`, `_` and `.` that begin and end with a letter or digit",
    ),
    (pattern::QUANTITY, "an amount such as `500m`, `4` or `16Gi`"),
    (pattern::FILE_SIZE, "digits and a unit, such as `50Mi` or `2Gi`"),
    (pattern::DURATION, "a duration of hours, minutes and seconds such as `30m` or `1h30m`"),
    (
        pattern::DURATION_OR_NEVER,
        "a duration of hours, minutes and seconds such as `30m` or `720h`, or `Never`",
    ),
    (pattern::WINDOW_DURATION, "a duration of hours and minutes such as `8h` or `1h30m`"),
    (
        pattern::SCHEDULE,
        "a cron schedule of five fields such as `0 9 * * 1-5`, or one of `@daily`, `@weekly` and the like",
    ),
    (pattern::NODES_OR_PERCENT, "a number of nodes such as `5`, or a percentage from `0%` to `100%`"),
    (pattern::PRICE, "dollars per hour such as `0.25`"),
    (
        pattern::PRICE_ADJUSTMENT,
        "a sign with dollars per hour such as `-0.5`, or with a percentage such as `+10%`, not below `-100%`",
    ),
    (pattern::CONDITION_TYPE, "a CamelCase word"),
    (pattern::CONDITION_REASON, "a CamelCase word"),
    (pattern::CLAIM_CONDITION_REASON, "empty or a CamelCase word"),
    (
        pattern::SUBNET_ID,
        "the ARM id of a subnet: `/subscriptions/…/resourceGroups/…/providers/Microsoft.Network/virtualNetworks/…/subnets/…`",
    ),
    (pattern::DNS_ZONE, "a DNS zone such as `example.com`, or `.`"),
    (pattern::PORT_RANGE, "two ports with one space between them, such as `1024 60999`"),
    (pattern::DOLLARS, "US dollars as digits with at most six decimals, such as `\"0.12\"`"),
    (pattern::LOCATION, "an Azure location in lower case without spaces, such as `westeurope`"),
    (pattern::CLUSTER_NAME, "the name of an AKS cluster: letters, digits, `-` and `_`, at most 63"),
    (
        pattern::RESOURCE_GROUP,
        "the name of a resource group: letters, digits, `-`, `_`, `.` and brackets, at most 90",
    ),
    (
        pattern::SSH_PUBLIC_KEY,
        "a public SSH key such as `ssh-ed25519 AAAA… name`, or `ecdsa-sha2-nistp256 AAAA… name`",
    ),
    (pattern::SIZE, "a VM size such as `Standard_D4s_v5`"),
    (pattern::FAMILY, "a family of VM sizes such as `Dsv5`"),
    (pattern::DAY, "a day such as `2027-02-28`"),
    (pattern::DAYS_DURATION, "a duration of days, hours and minutes such as `30d`"),
    (pattern::WINDOW, "a cron schedule, `/`, a duration and a time zone, such as `0 1 * * 1-5/4h UTC`"),
    (pattern::TIME_ZONE, "a time zone of the IANA list such as `Europe/Berlin`"),
    (pattern::REPOSITORY, "an address by HTTPS such as `https://github.com/team/fleet`, without a password"),
    (pattern::GROUP, "an API group without a version, such as `karpenter.azure.com`"),
    (pattern::UNLIMITED, "a whole number, or `unlimited`"),
    (pattern::EACH, "a whole number, or `each`"),
    (pattern::DIGEST, "`sha256:` and 64 lower-case hexadecimal digits"),
    (pattern::SUBSCRIPTION_ID, "an ARM id that begins with `/subscriptions/`"),
];

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::words;
    use crate::api::Kind;

    fn patterns(schema: &Value, found: &mut Vec<String>) {
        match schema {
            Value::Object(fields) => {
                found.extend(fields.get("pattern").and_then(Value::as_str).map(str::to_owned));
                fields.values().for_each(|field| patterns(field, found));
            }
            Value::Array(items) => items.iter().for_each(|item| patterns(item, found)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    #[test]
    fn every_pattern_has_words_and_compiles() {
        for kind in Kind::ALL {
            let schema = serde_json::from_str(kind.facts().schema).unwrap();
            let mut found = Vec::new();
            patterns(&schema, &mut found);
            for pattern in found {
                assert!(words(&pattern).is_some(), "{}: {pattern}", kind.facts().kind);
                regex_lite::Regex::new(&pattern).unwrap();
            }
        }
    }
}
