//! The grammar of size names against an independent parse of every known name.

use nodeform::catalog::size_name::SizeName;
use nodeform::model::SkuName;
use serde_json::{Value, json};

use super::shared::azure_json;

#[test]
fn every_known_size_name_is_read_as_the_independent_parser_reads_it() {
    let Some(known) = azure_json("reference/vm_size_names_parsed.json") else { return };
    let known = known.as_object().expect("is an object");
    for (name, expected) in known {
        let parts = SizeName::parse(&SkuName::new(name)).unwrap_or_else(|| panic!("`{name}` is refused"));
        let size = name.split_once('_').map(|(_, size)| size);
        let text = |text: &str| if text.is_empty() { Value::Null } else { Value::from(text) };
        let read = json!({
            "accelerator": parts.accelerator,
            "additiveFeatures": parts.features,
            "confidentialChild": parts.is_confidential_child,
            "constrainedCpus": parts.constrained_cpus,
            "cpus": parts.cpus,
            "family": parts.family,
            "promo": parts.is_promo,
            "series": parts.series,
            "size": size,
            "subfamily": text(&parts.subfamily),
            "version": parts.version.map(|version| format!("v{version}")),
        });
        assert_eq!(&read, expected, "{name}");
    }
    assert_eq!(known.len(), 1502);
}
