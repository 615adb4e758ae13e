//! Manifests in, manifests and remarks out.

mod clouds;
mod forms;
mod pools;

use super::{Sort, Upgraded, upgrade};
use crate::manifests::Source;

/// Upgrades one file that has something to upgrade.
fn one(text: &str) -> Upgraded {
    let mut all = upgrade(&[Source::new("guide.yaml", text)]);
    assert_eq!(all.len(), 1, "there is something to say");
    all.remove(0)
}

/// Returns the upgraded text of one file, and checks that upgrading it again changes nothing.
fn written(text: &str) -> String {
    let upgraded = one(text);
    assert!(upgraded.refused.is_empty(), "{:?}", upgraded.refused);
    let new = String::from_utf8(upgraded.text.expect("something changes")).expect("UTF-8");
    for again in upgrade(&[Source::new("guide.yaml", new.as_str())]) {
        assert_eq!(again.text, None, "{new}");
        let settled = |sort| matches!(sort, Sort::Left | Sort::Noted);
        assert!(again.remarks.iter().all(|remark| settled(remark.sort)), "{:?}", again.remarks);
    }
    new
}

/// Returns the remarks of one kind, as `line path: message`.
fn said(text: &str, sort: Sort) -> Vec<String> {
    let line = |remark: &super::Remark| {
        let fault = &remark.fault;
        format!("{} {}: {}", fault.line, crate::manifests::path_text(&fault.path), fault.message)
    };
    one(text).remarks.iter().filter(|remark| remark.sort == sort).map(line).collect()
}
