//! HTML document around the page: content policy, style and script.
//!
//! Of a plan, style and script contain only numbers: the widths of boxes.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use data_encoding::BASE64;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest as _, Sha256};

use super::fleet::Fleet;
use super::text::harmless;

/// Style of the page.
const STYLE: &str = include_str!("style.css");

/// Search, filter, and the panel, which shows the content of the tables next to the picture.
const SCRIPT: &str = include_str!("script.js");

/// A page as a file.
pub(super) struct Document<'t> {
    pub(super) title: &'t str,
    /// The distinct vCPUs of boxes.
    pub(super) widths: &'t BTreeSet<u32>,
    pub(super) body: Markup,
}

impl Document<'_> {
    /// Returns the text of the file.
    pub(super) fn text(self) -> String {
        let style = style(self.widths);
        let policy = format!(
            "default-src 'none'; style-src {}; script-src {}; base-uri 'none'; form-action 'none'",
            digest(&style),
            digest(SCRIPT)
        );
        let page = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta http-equiv="Content-Security-Policy" content=(policy);
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="referrer" content="no-referrer";
                    title { (self.title) }
                    style { (PreEscaped(style)) }
                }
                body {
                    main { (self.body) }
                    dialog id="panel" aria-labelledby="panel-title" {
                        button type="button" { "Close" }
                        h2 id="panel-title" {}
                        p class="dim" {}
                        div {}
                    }
                    script { (PreEscaped(SCRIPT)) }
                }
            }
        };
        harmless(page.into_string() + "\n")
    }
}

/// Returns the style with a class for each width of a box.
fn style(widths: &BTreeSet<u32>) -> String {
    let mut style = STYLE.to_owned();
    // Writing to a string cannot fail.
    let _ = writeln!(style, ".fleet {{ --vcpus: {}; }}", widths.last().unwrap_or(&1));
    for width in widths {
        let _ = writeln!(style, ".w{width} {{ width: calc(var(--unit) * {width}); }}");
    }
    style
}

/// Returns the digest of a text for the content policy.
fn digest(text: &str) -> String {
    format!("'sha256-{}'", BASE64.encode(&Sha256::digest(text.as_bytes())))
}

/// Returns the picture with its legend and the elements that the script needs for search and filter.
pub(super) fn picture(fleet: &Fleet<'_>, assumes_daemons: bool, picture: Markup) -> Markup {
    let pools: BTreeSet<&str> = fleet.nodes.iter().filter_map(|node| node.pool).collect();
    let has_headroom = fleet.pods.iter().any(|pod| pod.is_headroom);
    html! {
        section class="picture" aria-labelledby="picture" {
            h2 id="picture" { "The fleet before and after" }
            ul class="legend" {
                @for (class, text) in [("p", "pod"), ("m", "pod that moves or gets a node"), ("d", "DaemonSet pods"), ("h", "headroom"), ("f", "free")] {
                    @if class != "h" || has_headroom {
                        li { svg viewBox="0 0 2 2" aria-hidden="true" { path class=(class) d="M0 1h2" {} } (text) }
                    }
                }
                li { "A node is as wide as its vCPUs, a pod as its share of CPU or memory, whichever is scarcer on the node." }
                @if assumes_daemons { li { "Assumed DaemonSets are drawn on created nodes alone." } }
            }
            div class="tools" hidden {
                label { "Search " input type="search" autocomplete="off"; }
                label { "Pool " select { option value="" { "all" } @for pool in pools { option { (pool) } } } }
                output {}
            }
            (picture)
        }
    }
}
