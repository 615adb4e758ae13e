//! Lists objects: discovers the served kinds, and reads all pages of one.
//!
//! An incomplete list fails as a whole, so that a part is never taken for all.

use std::collections::BTreeMap;
use std::fmt::Display;

use serde::Deserialize;
use serde_json::Value;
use url::form_urlencoded;

use super::failure::ClusterFailureKind;
use super::{Cluster, ClusterFailure};
use crate::world::{Listing, NoList};

/// Maximum number of objects of a page.
const PAGE: usize = 500;

/// Maximum number of pages of a list: a million objects.
const PAGES_MAX: usize = 2_000;

/// A group of which every version is read: its preferred version does not serve all kinds, and alpha and beta ones are
/// needed.
const OF_MANY_VERSIONS: &str = "scheduling.k8s.io";

/// Kinds that an API server serves, such as `pods` and `nodepools.karpenter.sh`, each with the path of its list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Served(BTreeMap<String, String>);

impl Served {
    /// Returns the list path of a kind, named as in `kubectl api-resources -o name`.
    #[must_use]
    pub fn path(&self, resource: &str) -> Option<&str> {
        self.0.get(resource).map(String::as_str)
    }
}

/// All objects of a kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listed {
    /// The pages, as the API server sent them.
    pub pages: Vec<Vec<u8>>,
    /// The resource version of the list, to compare it with later ones.
    pub resource_version: String,
}

impl Listed {
    /// Returns the objects, in the order of the list.
    #[must_use]
    pub fn items(&self) -> Vec<Value> {
        // Each page was parsed as JSON when it was received.
        let pages = self.pages.iter().map(|page| serde_json::from_slice::<Value>(page).unwrap_or_default());
        let items =
            pages.filter_map(|mut page| serde_json::from_value::<Vec<Value>>(page["items"].take()).ok());
        items.flatten().collect()
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Groups {
    groups: Vec<Group>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Group {
    name: String,
    preferred_version: Option<Version>,
    versions: Vec<Version>,
}

impl Group {
    /// Returns the versions whose kinds are read, in order: the first that serves a kind is used.
    fn versions_read(&self) -> Vec<&str> {
        let most = if self.name == OF_MANY_VERSIONS { usize::MAX } else { 1 };
        let mut read: Vec<&str> = Vec::new();
        for Version { group_version } in self.preferred_version.iter().chain(&self.versions) {
            if read.len() < most && !read.contains(&group_version.as_str()) {
                read.push(group_version);
            }
        }
        read
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Version {
    group_version: String,
}

#[derive(Deserialize)]
struct Resources {
    resources: Vec<Resource>,
}

#[derive(Deserialize)]
struct Resource {
    name: String,
    #[serde(default)]
    verbs: Vec<String>,
}

#[derive(Deserialize)]
struct Page {
    #[serde(default)]
    metadata: PageMeta,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct PageMeta {
    #[serde(rename = "continue")]
    next: Option<String>,
    resource_version: Option<String>,
}

impl Cluster {
    /// Discovers which kinds of these groups are served; the empty group is the core one. A group that is not installed
    /// has none.
    ///
    /// # Errors
    /// The API server does not answer, or the answer is invalid.
    pub async fn served(&self, groups: &[&str]) -> Result<Served, ClusterFailure> {
        let mut served = Served::default();
        if groups.contains(&"") {
            self.add_resources(&mut served, "", "/api/v1").await?;
        }
        let there: Groups = self.json("/apis").await?;
        for group in there.groups.into_iter().filter(|group| groups.contains(&group.name.as_str())) {
            for version in group.versions_read() {
                self.add_resources(&mut served, &group.name, &format!("/apis/{version}")).await?;
            }
        }
        Ok(served)
    }

    async fn add_resources(
        &self,
        served: &mut Served,
        group: &str,
        path: &str,
    ) -> Result<(), ClusterFailure> {
        let there: Resources = self.json(path).await?;
        let listed = there.resources.into_iter().filter(|resource| {
            resource.verbs.iter().any(|verb| verb == "list") && !resource.name.contains('/')
        });
        for Resource { name, .. } in listed {
            let known = if group.is_empty() { name.clone() } else { format!("{name}.{group}") };
            served.0.entry(known).or_insert_with(|| format!("{path}/{name}"));
        }
        Ok(())
    }

    /// Lists all objects of a kind. `query` is empty or has additional parameters, such as
    /// `fieldSelector=spec.nodeName%3Da`.
    ///
    /// # Errors
    /// Any page that fails. If one has expired (410), the list is restarted once.
    pub async fn list(&self, path: &str, query: &str) -> Result<Listed, ClusterFailure> {
        match self.pages(path, query).await {
            Err(failure) if failure.kind == ClusterFailureKind::Expired => self.pages(path, query).await,
            other => other,
        }
    }

    /// Lists all objects of a kind, and returns them with this process' own later writes included.
    ///
    /// # Errors
    /// As [`list`](Self::list).
    pub async fn look(&self, path: &str) -> Result<Listing, ClusterFailure> {
        let Listed { pages, .. } = self.list(path, "").await?;
        let at = self.clock().now();
        let listing = self.with_world(|world| {
            world.listed(path, &pages, at)?;
            Ok::<_, NoList>(world.listing(path).unwrap_or_default())
        });
        listing.map_err(|fault| self.no_api_server(path, &fault))
    }

    async fn pages(&self, path: &str, query: &str) -> Result<Listed, ClusterFailure> {
        let mut listed = Listed::default();
        let mut next = String::new();
        for _ in 0..PAGES_MAX {
            let mut uri = format!("{path}?limit={PAGE}");
            for part in [query, &next].into_iter().filter(|part| !part.is_empty()) {
                uri.push('&');
                uri.push_str(part);
            }
            let bytes = self.read_text(&uri).await?;
            let Page { metadata } = self.parsed(path, &bytes)?;
            listed.pages.push(bytes);
            listed.resource_version = metadata.resource_version.unwrap_or_default();
            let Some(token) = metadata.next.filter(|token| !token.is_empty()) else { return Ok(listed) };
            next = form_urlencoded::Serializer::new(String::new()).append_pair("continue", &token).finish();
        }
        Err(ClusterFailure {
            kind: ClusterFailureKind::Other,
            what: format!("`GET {path}` does not end after {PAGES_MAX} pages"),
            hint: "check that an API server answers there".to_owned(),
        })
    }

    async fn json<T: for<'de> Deserialize<'de>>(&self, path: &str) -> Result<T, ClusterFailure> {
        let bytes = self.read_text(path).await?;
        self.parsed(path, &bytes)
    }

    fn parsed<T: for<'de> Deserialize<'de>>(&self, path: &str, bytes: &[u8]) -> Result<T, ClusterFailure> {
        serde_json::from_slice(bytes).map_err(|error| self.no_api_server(path, &error))
    }

    fn no_api_server(&self, path: &str, why: &dyn Display) -> ClusterFailure {
        ClusterFailure {
            kind: ClusterFailureKind::Other,
            what: format!("`GET {path}`: the server at {} is no API server: {why}", self.server()),
            hint: "look where the kubeconfig leads: `kubectl config view --minify`".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Group;

    #[test]
    fn groups_of_pods_are_found_in_every_version_that_is_served() {
        let read = |name: &str, versions: [&str; 3]| -> Vec<String> {
            let version = |version| serde_json::json!({"groupVersion": format!("{name}/{version}")});
            let group = serde_json::json!({
                "name": name, "preferredVersion": version(versions[0]), "versions": versions.map(version),
            });
            let group: Group = serde_json::from_value(group).expect("a group of the API server");
            group.versions_read().into_iter().map(str::to_owned).collect()
        };
        assert_eq!(
            read("scheduling.k8s.io", ["v1", "v1beta1", "v1alpha3"]),
            ["scheduling.k8s.io/v1", "scheduling.k8s.io/v1beta1", "scheduling.k8s.io/v1alpha3"]
        );
        assert_eq!(read("autoscaling", ["v2", "v1", "v2beta2"]), ["autoscaling/v2"]);
    }
}
