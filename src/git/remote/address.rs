//! Address of a repository with its branch and folder: only unambiguous values are accepted.

use std::fmt;
use std::net::Ipv4Addr;

use gix::bstr::ByteSlice as _;

use super::fault::RemoteFault;
use crate::model::shown::{is_obeyed, plain};

/// Maximum length of an address, a branch and a path.
const ADDRESS_MAX: usize = 2048;
const BRANCH_MAX: usize = 250;
const PATH_MAX: usize = 1024;

/// The HTTPS address of a repository on a server; on this machine also HTTP, if allowed. It holds no credentials.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address(String);

impl Address {
    /// Parses an address; `allows_http` also accepts `http://`, on this machine only.
    ///
    /// # Errors
    /// It is of another kind, or a program could interpret it differently.
    pub fn parse(text: &str, allows_http: bool) -> Result<Self, RemoteFault> {
        let refused = |because| Err(RemoteFault::Address { address: shown(text), because });
        let is_plain = |letter: char| {
            letter.is_ascii_graphic() && !matches!(letter, '"' | '\\' | '`' | '\'' | '<' | '>')
        };
        let (scheme, rest) = match text.split_once("://") {
            Some((scheme, rest)) => (scheme.to_ascii_lowercase(), rest),
            None if text.starts_with('-') => return refused("it looks like an option"),
            None if text.contains('@') && text.contains(':') => {
                return refused("SSH is not used: there is no way to keep to one key and one known host");
            }
            None => return refused("folders of this machine are not used"),
        };
        match &*scheme {
            "https" | "http" => {}
            "ssh" | "git+ssh" => {
                return refused("SSH is not used: there is no way to keep to one key and one known host");
            }
            "file" => return refused("folders of this machine are not used"),
            _ => return refused("it is neither HTTPS nor HTTP"),
        }
        if text.len() > ADDRESS_MAX || !text.chars().all(is_plain) {
            return refused("it has letters that addresses do not have, or too many");
        }
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        // Also after the first slash, which a password may contain.
        if text.contains('@') {
            return refused("it holds a user or a password, which would be shown and stored");
        }
        if text.contains(['?', '#']) {
            return refused("it has a query or a fragment, which would be shown and stored");
        }
        if authority.is_empty() || path.is_empty() || authority.starts_with('-') {
            return refused("it is not a host and a path");
        }
        match &*scheme {
            "http" if !is_loopback(authority) => {
                refused("plain HTTP would show the token to everybody on the way")
            }
            "http" if !allows_http => refused("plain HTTP is for tries on this machine, by `--allow-http`"),
            _ => Ok(Self(format!("{scheme}://{rest}"))),
        }
    }

    /// Returns the address.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the only protocol that is allowed.
    pub(super) fn scheme(&self) -> &str {
        self.0.split_once(':').map_or("https", |(scheme, _)| scheme)
    }
}

impl fmt::Display for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "`{}`", self.0)
    }
}

/// Returns an address for a message: without the parts before an `@` or after a `?` or `#`, which may be a password or
/// a token, and without control characters.
fn shown(text: &str) -> String {
    const SHOWN_LETTERS_MAX: usize = 200;
    let (before, scheme, rest) = match text.split_once("://") {
        Some((scheme, rest)) => (scheme, "://", rest),
        None => ("", "", text),
    };
    let (rest, query) = match rest.find(['?', '#']) {
        Some(place) => (&rest[..place], "?…"),
        None => (rest, ""),
    };
    // A password may contain slashes.
    let (user, rest) = rest.rsplit_once('@').map_or(("", rest), |(_, host)| ("…@", host));
    plain(&format!("{before}{scheme}{user}{rest}{query}")).chars().take(SHOWN_LETTERS_MAX).collect()
}

fn is_loopback(authority: &str) -> bool {
    let host = match authority.strip_prefix('[') {
        Some(rest) => return rest.split_once(']').is_some_and(|(host, _)| host == "::1"),
        None => authority.split_once(':').map_or(authority, |(host, _)| host),
    };
    host == "localhost" || host.parse::<Ipv4Addr>().is_ok_and(|address| address.is_loopback())
}

/// The name of a branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Branch(String);

impl Branch {
    /// Parses a branch name.
    ///
    /// # Errors
    /// Git rejects it, or a program could interpret it as an option.
    pub fn parse(text: &str) -> Result<Self, RemoteFault> {
        let refused = |because| RemoteFault::Name {
            name: plain(text).chars().take(PATH_MAX).collect(),
            what: "a branch",
            because,
        };
        if text.starts_with('-') {
            return Err(refused("it looks like an option"));
        }
        if text.starts_with("refs/") {
            return Err(refused("it is to be named without `refs/heads/`"));
        }
        let full = format!("refs/heads/{text}");
        let is_valid = gix::validate::reference::name(full.as_bytes().as_bstr()).is_ok();
        if !is_valid || text.is_empty() || text.len() > BRANCH_MAX || text.contains(['\'', '"', '$', '`']) {
            return Err(refused("Git takes no such name"));
        }
        Ok(Self(text.to_owned()))
    }

    /// Returns the name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the full reference name.
    pub(super) fn full(&self) -> String {
        format!("refs/heads/{}", self.0)
    }
}

/// The folder of plans, from the top of the repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FolderPath(Vec<String>);

impl FolderPath {
    /// Parses a path; the empty one is the top.
    ///
    /// # Errors
    /// It leads out of the repository, or into Git's own folder.
    pub fn parse(text: &str) -> Result<Self, RemoteFault> {
        let refused = |because| RemoteFault::Name {
            name: plain(text).chars().take(PATH_MAX).collect(),
            what: "a folder of the repository",
            because,
        };
        let text_plain = text.trim_end_matches('/');
        if text_plain.starts_with('/') || text.len() > PATH_MAX {
            return Err(refused("it is counted from the top of the repository, without a slash before it"));
        }
        let parts: Vec<String> =
            text_plain.split('/').filter(|_| !text_plain.is_empty()).map(str::to_owned).collect();
        let is_bad = |part: &String| {
            matches!(part.as_str(), "" | "." | "..")
                || part.eq_ignore_ascii_case(".git")
                || part.contains(|letter: char| is_obeyed(letter) || letter == '\\')
        };
        if parts.iter().any(is_bad) {
            return Err(refused("a part of it is no name of a folder"));
        }
        // Users write the folder's name on a command line.
        if parts.iter().any(|part| part.starts_with('-')) {
            return Err(refused("it looks like an option"));
        }
        Ok(Self(parts))
    }

    /// Returns the path components.
    #[must_use]
    pub fn parts(&self) -> &[String] {
        &self.0
    }
}

impl fmt::Display for FolderPath {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0.join("/"))
    }
}

#[cfg(test)]
mod tests {
    use super::{Address, Branch, FolderPath};

    fn said(text: &str, allows_http: bool) -> String {
        match Address::parse(text, allows_http) {
            Ok(address) => address.to_string(),
            Err(fault) => fault.to_string(),
        }
    }

    #[test]
    fn addresses_are_https_and_on_this_machine_http_by_flag() {
        assert_eq!(said("https://forge.example/a/b.git", false), "`https://forge.example/a/b.git`");
        assert_eq!(said("HTTPS://forge.example:8443/a", false), "`https://forge.example:8443/a`");
        for here in ["http://127.0.0.1:80/a", "http://localhost/a", "http://[::1]:3000/a"] {
            assert!(Address::parse(here, true).is_ok(), "{here}");
            assert!(said(here, false).contains("--allow-http"), "{here}");
        }
        for there in ["http://forge.example/a", "http://127.0.0.1.example/a", "http://localhost.example/a"] {
            assert!(said(there, true).contains("plain HTTP would show the token"), "{there}");
        }
    }

    #[test]
    fn what_could_mean_something_else_is_refused_by_name_and_passwords_are_not_repeated() {
        for (text, because) in [
            ("ssh://git@forge.example/a", "SSH"),
            ("git@forge.example:a/b", "SSH"),
            ("file:///tmp/a", "folders"),
            ("/tmp/a", "folders"),
            ("--upload-pack=touch", "option"),
            ("ext::sh -c a", "folders"),
            ("https://-forge/a", "host and a path"),
            ("https://forge.example", "host and a path"),
            ("https://forge.example/a b", "letters"),
            ("https://forge.example/a\nb", "letters"),
            ("ftp://forge.example/a", "neither"),
        ] {
            assert!(said(text, true).contains(because), "{text}: {}", said(text, true));
        }
        let told = said("https://me:canary-7@forge.example/a", false);
        assert!(told.contains("a user or a password") && !told.contains("canary-7"), "{told}");
        for text in [
            "https://forge.example/a?token=canary-7",
            "https://forge.example/a?access_token=canary-7&x",
            "https://forge.example/a#canary-7",
            "https://me:a/b@canary-7@forge.example/a",
            "me:canary-7@forge.example/a",
            "forge.example/a?token=canary-7",
            "https://forge.example?token=canary-7",
        ] {
            let told = said(text, true);
            assert!(!told.contains("canary-7") && told.contains("forge.example"), "{told}");
        }
        let told = said("https://forge.example/\u{202e}a\u{1b}[2J", true);
        assert!(!told.contains(['\u{202e}', '\u{1b}']), "{told}");
    }

    #[test]
    fn branches_and_folders_are_names_and_nothing_else() {
        for good in ["main", "release/1.2", "nodeform/prod/create"] {
            assert!(Branch::parse(good).is_ok(), "{good}");
        }
        for bad in [
            "",
            "-d",
            "--mirror",
            "a..b",
            "a b",
            "a:b",
            "+a",
            "refs/heads/a",
            "a.lock",
            "a\n",
            "a^",
            "@{u}/x",
            "*",
        ] {
            let is_plus = bad == "+a";
            assert!(is_plus || Branch::parse(bad).is_err(), "{bad}");
        }
        assert_eq!(
            FolderPath::parse("nodeform/plans/").map(|path| path.to_string()),
            Ok("nodeform/plans".to_owned())
        );
        assert_eq!(FolderPath::parse("").map(|path| path.parts().len()), Ok(0));
        for bad in ["/a", "a/../b", "..", "a//b", ".git/x", "a/.GIT", "a\\b", "./a"] {
            assert!(FolderPath::parse(bad).is_err(), "{bad}");
        }
    }
}
