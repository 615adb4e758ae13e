//! Location of a repository on a forge, from the address that Git uses.

use url::Url;

use super::fault::one_line;
use crate::git::remote::Address;
use crate::model::shown::is_obeyed;

/// A repository, by the address that Git uses.
#[derive(Clone, Debug)]
pub(super) struct Place {
    /// The scheme, host and port, without a path.
    pub(super) origin: Url,
    /// The decoded path components; the last one without `.git`.
    pub(super) names: Vec<String>,
}

impl Place {
    /// Parses an address.
    ///
    /// # Errors
    /// A forge could interpret its path differently, with the reason.
    pub(super) fn of(address: &Address) -> Result<Self, String> {
        let url = Url::parse(address.as_str()).map_err(|error| error.to_string())?;
        let path = url.path().trim_matches('/');
        let mut names = path.split('/').map(decoded).collect::<Result<Vec<String>, String>>()?;
        if let Some(last) = names.last_mut()
            && let Some(name) = last.strip_suffix(".git")
        {
            *last = name.to_owned();
        }
        if let Some(bad) = names.iter().find(|name| !is_name(name)) {
            return Err(format!("`{}` is not the name of a repository or of its owner", one_line(bad)));
        }
        let mut origin = url;
        origin.set_path("");
        Ok(Self { origin, names })
    }

    /// Returns the owner and the repository, as on GitHub and Gitea.
    ///
    /// # Errors
    /// The path does not have exactly two components.
    pub(super) fn owner_and_repository(&self) -> Result<[String; 2], String> {
        let names: Result<[String; 2], _> = self.names.clone().try_into();
        names.map_err(|_| "the path is not `OWNER/REPOSITORY`".to_owned())
    }
}

/// Decodes percent-encoded characters, such as spaces in Azure DevOps projects.
fn decoded(segment: &str) -> Result<String, String> {
    let mut bytes = Vec::new();
    let mut rest = segment.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digits = [rest.next().unwrap_or_default(), rest.next().unwrap_or_default()];
        let digits = data_encoding::HEXUPPER_PERMISSIVE.decode(&digits);
        bytes.extend(digits.map_err(|_| format!("`{}` is not encoded as addresses are", one_line(segment)))?);
    }
    String::from_utf8(bytes).map_err(|_| format!("`{}` is not UTF-8", one_line(segment)))
}

fn is_name(name: &str) -> bool {
    let is_bad =
        |letter: char| is_obeyed(letter) || matches!(letter, '/' | '\\' | '`' | '"' | '\'' | '<' | '>');
    !matches!(name, "" | "." | ".." | ".git") && !name.contains(is_bad)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(path: &str) -> Result<Vec<String>, String> {
        let address = Address::parse(&format!("https://forge.example/{path}"), false).expect("an address");
        Place::of(&address).map(|place| place.names)
    }

    #[test]
    fn names_are_those_of_the_path_without_the_ending() {
        assert_eq!(names("org/plans.git"), Ok(vec!["org".to_owned(), "plans".to_owned()]));
        assert_eq!(names("org/plans/"), Ok(vec!["org".to_owned(), "plans".to_owned()]));
        assert_eq!(names("o/my%20p/_git/r").map(|names| names.join("|")), Ok("o|my p|_git|r".to_owned()));
    }

    #[test]
    fn a_name_that_leads_elsewhere_is_refused() {
        for path in
            ["org/%2e%2e%2fadmin", "org//plans", "org/a%2Fb", "org/%0a", "org/%zz", "org/%ff", "org/%60a"]
        {
            assert!(names(path).is_err(), "{path}: {:?}", names(path));
        }
    }
}
