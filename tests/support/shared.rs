//! What several test programs need: files beside the checkout.
#![expect(clippy::disallowed_methods, reason = "tests read files and settings")]

/// The text of a file of the shared data, which is not part of the repository.
///
/// Without it, says what is skipped; with `NODEFORM_REQUIRE_SHARED` set, fails.
#[expect(clippy::print_stderr, reason = "what is skipped must be seen")]
pub(crate) fn shared(path: &str) -> Option<String> {
    let file = format!("{}/../shared/{path}", env!("CARGO_MANIFEST_DIR"));
    match std::fs::read_to_string(&file) {
        Ok(text) => Some(text),
        Err(error) if std::env::var("NODEFORM_REQUIRE_SHARED").is_ok() => panic!("{file}: {error}"),
        Err(_) => {
            eprintln!("skipped: {file} is absent");
            None
        }
    }
}
