//! A server's message after a push: where to open the pull request. It is shown, never followed.

use super::address::Address;

/// Maximum length of a line that is repeated.
const LINE_LETTERS_MAX: usize = 500;

/// Prefix of every line from the server.
const SERVER: &str = "remote:";

/// Returns the server's message about opening a pull request, in one line with an address of this server; nothing else
/// that it sends is repeated.
pub(super) fn pull_request(said: &str, address: &Address) -> Option<String> {
    let (scheme, rest) = address.as_str().split_once("://")?;
    let own = format!("{scheme}://{}/", rest.split('/').next()?);
    let lines = said.lines().filter_map(|line| line.strip_prefix(SERVER)).map(str::trim);
    let lines: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
    let at = |line: &str| line.split_whitespace().find(|word| word.starts_with(&own)).map(str::to_owned);
    let is_about = |line: &str| {
        let line = line.to_ascii_lowercase();
        ["pull request", "merge request"].iter().any(|what| line.contains(what))
    };
    let found = lines.iter().enumerate().find_map(|(place, line)| {
        let words = if is_about(line) { Some(*line) } else { None };
        let words =
            words.or_else(|| lines.get(place.checked_sub(1)?).copied().filter(|line| is_about(line)))?;
        let at = at(line)?;
        Some(if words.contains(&at) { words.to_owned() } else { format!("{words} {at}") })
    });
    found.filter(|line| line.chars().count() <= LINE_LETTERS_MAX && line.chars().all(is_shown))
}

/// Returns whether a character is printable ASCII: neither control characters nor any that change how a line is
/// displayed.
fn is_shown(letter: char) -> bool {
    letter == ' ' || letter.is_ascii_graphic()
}

#[cfg(test)]
mod tests {
    use super::{Address, pull_request};

    fn told(said: &str) -> Option<String> {
        pull_request(said, &Address::parse("https://forge.example/a/b.git", false).expect("an address"))
    }

    #[test]
    fn the_line_of_each_forge_is_repeated() {
        let github = "remote: \nremote: Create a pull request for 'x' on GitHub by visiting:        \n\
            remote:      https://forge.example/a/b/pull/new/x        \nremote: \n";
        let url = "Create a pull request for 'x' on GitHub by visiting: https://forge.example/a/b/pull/new/x";
        assert_eq!(told(github).as_deref(), Some(url));
        let gitlab = "remote:\nremote: To create a merge request for x, visit:\n\
            remote:   https://forge.example/a/b/-/merge_requests/new?x=1\n";
        let url =
            "To create a merge request for x, visit: https://forge.example/a/b/-/merge_requests/new?x=1";
        assert_eq!(told(gitlab).as_deref(), Some(url));
        let one = "remote: Create a new pull request: https://forge.example/a/b/compare\n";
        assert_eq!(
            told(one).as_deref(),
            Some("Create a new pull request: https://forge.example/a/b/compare")
        );
    }

    #[test]
    fn nothing_else_that_a_server_says_is_repeated() {
        for said in [
            "",
            "remote: Welcome\n",
            "Create a pull request: https://forge.example/a\n",
            "remote: Create a pull request:\nremote: https://evil.example/a\n",
            "remote: Create a pull request:\nremote: https://forge.example.evil/a\n",
            "remote: Create a pull request: https://forge.example/\u{202e}a\n",
            "remote: Create a pull request \u{1b}[31m: https://forge.example/a\n",
            "remote: Visit https://forge.example/a\n",
        ] {
            assert_eq!(told(said), None, "{said:?}");
        }
        let long = format!("remote: Create a pull request: https://forge.example/{}\n", "a".repeat(600));
        assert_eq!(told(&long), None);
    }
}
