//! Location of a repository in Azure DevOps: in a project, which is in an organization or a collection.

use crate::forge::place::Place;

/// Path component between project and repository in the address that Git uses.
const GIT: &str = "_git";

/// A repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Location {
    /// The organization; for a server, the collection with its parent path; empty if the host names the organization.
    collection: Vec<String>,
    project: String,
    repository: String,
}

impl Location {
    /// Parses the address: `https://dev.azure.com/ORGANISATION/PROJECT/_git/REPOSITORY`,
    /// `https://ORGANISATION.visualstudio.com/PROJECT/_git/REPOSITORY`, or that of a server. The project may be left
    /// out if the repository has the same name.
    pub(super) fn of(place: &Place) -> Result<Self, String> {
        let other = || "the path is not `ORGANISATION/PROJECT/_git/REPOSITORY`".to_owned();
        let at = place.names.iter().position(|name| name == GIT).ok_or_else(other)?;
        let (before, after) = place.names.split_at(at);
        let [_, repository] = after else { return Err(other()) };
        let host = place.origin.host_str().unwrap_or_default();
        let least = usize::from(!host.ends_with(".visualstudio.com"));
        if before.len() < least {
            return Err(other());
        }
        let (project, collection) = match before.split_last() {
            Some((project, collection)) if before.len() > least => (project, collection),
            Some(_) | None => (repository, before),
        };
        Ok(Self { collection: collection.to_vec(), project: project.clone(), repository: repository.clone() })
    }

    /// Returns the name of the repository, for errors.
    pub(super) fn name(&self) -> String {
        format!("`{}/{}`", self.project, self.repository)
    }

    /// Returns the path of something in the repository.
    pub(super) fn path<'a>(&'a self, rest: &[&'a str]) -> Vec<&'a str> {
        let repository = [self.project.as_str(), "_apis", "git", "repositories", &self.repository];
        self.collection.iter().map(String::as_str).chain(repository).chain(rest.iter().copied()).collect()
    }

    /// Returns the path of the signed-in user.
    pub(super) fn connection_data(&self) -> Vec<&str> {
        self.collection.iter().map(String::as_str).chain(["_apis", "connectionData"]).collect()
    }

    /// Returns the path of a pull request's web page.
    pub(super) fn page<'a>(&'a self, number: &'a str) -> Vec<&'a str> {
        let page = [self.project.as_str(), GIT, &self.repository, "pullrequest", number];
        self.collection.iter().map(String::as_str).chain(page).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::remote::Address;

    fn path(address: &str) -> Result<String, String> {
        let address = Address::parse(address, false).expect("an address");
        Ok(Location::of(&Place::of(&address)?)?.path(&["refs"]).join("/"))
    }

    #[test]
    fn a_repository_is_found_below_its_project_on_every_kind_of_host() {
        for (address, expected) in [
            (
                "https://dev.azure.com/acme/my%20infra/_git/plans",
                "acme/my infra/_apis/git/repositories/plans/refs",
            ),
            ("https://dev.azure.com/acme/_git/plans", "acme/plans/_apis/git/repositories/plans/refs"),
            ("https://acme.visualstudio.com/infra/_git/plans", "infra/_apis/git/repositories/plans/refs"),
            ("https://acme.visualstudio.com/_git/plans", "plans/_apis/git/repositories/plans/refs"),
            (
                "https://devops.acme.example/tfs/Default/infra/_git/plans",
                "tfs/Default/infra/_apis/git/repositories/plans/refs",
            ),
        ] {
            assert_eq!(path(address).as_deref(), Ok(expected), "{address}");
        }
    }

    #[test]
    fn an_address_of_another_form_is_refused() {
        for address in
            ["dev.azure.com/acme/infra/plans", "dev.azure.com/acme/infra/_git", "dev.azure.com/_git/plans"]
        {
            assert!(path(&format!("https://{address}")).is_err(), "{address}");
        }
    }
}
