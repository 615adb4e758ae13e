//! Files in a folder beside manifests.

use crate::manifests::{NO_OBJECT, Source, read};

/// Returns whether a walked file beside a manifest is skipped, or its first fault.
fn walked(text: &str) -> Result<bool, String> {
    let own = Source::new("a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n");
    let other = Source { is_walked: true, ..Source::new("stray.json", text) };
    match read(vec![own, other]) {
        Ok(objects) => Ok(objects.strays.iter().any(|name| &**name == "stray.json")
            && objects.passed_over.get(NO_OBJECT) == Some(&1)),
        Err(faults) => Err(faults[0].to_string()),
    }
}

#[test]
fn what_says_nothing_of_an_object_is_passed_over_where_it_was_walked_to() {
    for text in [
        "a: 1\n",
        "metadata: {name: x}\n",
        "- a\n- {b: c}\n",
        "text\n",
        "7\n",
        "{\"a\": 1, /* c */}",
        "a: [\n",
        "a: !Ref b\na: c\n",
        "\"k\u{0}\": [",
        "apiVersion: 1\ndatasources: []\n",
        "kind: pipeline\nname: x\n",
    ] {
        assert_eq!(walked(text), Ok(true), "{text:?}");
        let named = read(vec![Source::new("stray.json", text)]);
        let is_passed = named.as_ref().is_ok_and(|objects| objects.strays.len() == 1);
        assert!(is_passed == (text == "a: 1\n"), "{text:?} is told where it is named: {named:?}");
    }
}

#[test]
fn what_says_half_of_an_object_is_a_fault_wherever_it_was_found() {
    for text in [
        "kind: Deployment\n",
        "apiVersion: v1\nmetadata: {name: x}\n",
        "- {apiVersion: v1, kind: Pod}\n",
        "apiVersion: v1\nkind: [\n",
        "kind: Pod\na: [\n",
        "{\"apiVersion\": \"v1\", \"kind\": \"Pod\",, }",
        "x: 1\n---\n  apiVersion: v1\n kind: Pod\n",
    ] {
        assert!(walked(text).is_err(), "{text:?}");
    }
    let utf16: Vec<u8> = "apiVersion: v1".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let bytes = [&[0xff, 0xfe][..], &utf16].concat();
    let source = Source { name: "a.yaml".to_owned(), bytes, is_walked: true };
    assert!(read(vec![source]).is_err_and(|faults| faults[0].to_string().contains("UTF-16")));
}
