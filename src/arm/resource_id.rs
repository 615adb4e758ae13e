//! Azure resource ids: parsed in any casing, printed in canonical casing.
//!
//! Must never change a name: only Azure's own words have a canonical casing.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;

/// Maximum length of a parsed id in bytes. Azure's longest names (80, nested twice) stay far below it.
const LENGTH_MAX: usize = 2048;

/// Azure's words in the casing of its specification; answers vary (`resourcegroups`, `MICROSOFT.COMPUTE`).
const CANONICAL: &[&str] = &[
    "Microsoft.Authorization",
    "Microsoft.Compute",
    "Microsoft.ContainerService",
    "Microsoft.ManagedIdentity",
    "Microsoft.Network",
    "Microsoft.Resources",
    "agentPools",
    "backendAddressPools",
    "disks",
    "extensions",
    "galleries",
    "images",
    "loadBalancers",
    "locations",
    "machines",
    "managedClusters",
    "networkInterfaces",
    "networkSecurityGroups",
    "operations",
    "routeTables",
    "subnets",
    "userAssignedIdentities",
    "versions",
    "virtualMachines",
    "virtualNetworks",
];

/// The id of a resource or resource group. Equality, order and hash ignore ASCII case, as Azure does.
#[derive(Clone, Debug)]
pub struct ResourceId {
    subscription: String,
    resource_group: Option<String>,
    provider: Option<String>,
    segments: Vec<Segment>,
}

/// A resource type with a resource name.
#[derive(Clone, Debug)]
struct Segment {
    kind: String,
    name: String,
}

/// Why a string is not a resource id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ResourceIdFault {
    /// It is longer than any Azure id.
    #[error("the id has {0} bytes, more than {LENGTH_MAX}")]
    TooLong(usize),
    /// It does not start with a subscription.
    #[error("`{0}` is no id of an Azure resource: it must begin with `/subscriptions/ID`")]
    NoSubscription(String),
    /// A path segment is empty or has a character that is not allowed in names.
    #[error("`{0}` is no id of an Azure resource: the part `{1}` is no name")]
    BadPart(String, String),
    /// After `providers` there is no namespace followed by pairs of type and name.
    #[error(
        "`{0}` is no id of an Azure resource: after `/providers/` comes a namespace, then pairs of type and name"
    )]
    BadProvider(String),
    /// It is the id of another resource type.
    #[error("`{id}` is not the id of {wanted}")]
    WrongKind {
        /// The id.
        id: String,
        /// The expected type, with its namespace.
        wanted: &'static str,
    },
}

impl ResourceId {
    /// Returns the id of a resource group.
    ///
    /// # Errors
    /// A name has an invalid character.
    pub fn of_group(subscription: &str, resource_group: &str) -> Result<Self, ResourceIdFault> {
        format!("/subscriptions/{subscription}/resourceGroups/{resource_group}").parse()
    }

    /// Returns the id of a resource in this group: `kind` is `Namespace/type`.
    ///
    /// # Errors
    /// A name has an invalid character.
    pub fn in_group(&self, kind: &str, name: &str) -> Result<Self, ResourceIdFault> {
        let group = self.resource_group.as_deref().unwrap_or_default();
        format!("/subscriptions/{}/resourceGroups/{group}/providers/{kind}/{name}", self.subscription).parse()
    }

    /// Returns the id of a child of this resource.
    ///
    /// # Errors
    /// A name has an invalid character.
    pub fn child(&self, kind: &str, name: &str) -> Result<Self, ResourceIdFault> {
        format!("{self}/{kind}/{name}").parse()
    }

    /// Parses the `spec.providerID` of a Node: `azure://` plus the id of a VM.
    ///
    /// # Errors
    /// The text is not such an id.
    pub fn of_provider_id(text: &str) -> Result<Self, ResourceIdFault> {
        let id = text.strip_prefix("azure://").unwrap_or(text);
        id.parse::<Self>()?.expect_kind("Microsoft.Compute/virtualMachines")
    }

    /// Returns the `spec.providerID` as Kubernetes' cloud provider writes it: the resource group in lower case, the
    /// rest unchanged.
    #[must_use]
    pub fn provider_id(&self) -> String {
        let mut id = self.clone();
        id.resource_group = id.resource_group.map(|group| group.to_ascii_lowercase());
        format!("azure://{id}")
    }

    /// Returns the id if it has this type (`Namespace/type` or `Namespace/type/childType`).
    ///
    /// # Errors
    /// The id has another type.
    pub fn expect_kind(self, wanted: &'static str) -> Result<Self, ResourceIdFault> {
        if self.kind().eq_ignore_ascii_case(wanted) {
            Ok(self)
        } else {
            Err(ResourceIdFault::WrongKind { id: self.to_string(), wanted })
        }
    }

    /// Returns the subscription id.
    #[must_use]
    pub fn subscription(&self) -> &str {
        &self.subscription
    }

    /// Returns the resource group, if the resource is in one.
    #[must_use]
    pub fn resource_group(&self) -> Option<&str> {
        self.resource_group.as_deref()
    }

    /// Returns the namespace and types, such as `Microsoft.Network/virtualNetworks/subnets`; for a group
    /// `Microsoft.Resources/resourceGroups`, for a subscription `Microsoft.Resources/subscriptions`.
    #[must_use]
    pub fn kind(&self) -> String {
        let Some(provider) = &self.provider else {
            let word = if self.resource_group.is_some() { "resourceGroups" } else { "subscriptions" };
            return format!("Microsoft.Resources/{word}");
        };
        let kinds: Vec<&str> = self.segments.iter().map(|segment| segment.kind.as_str()).collect();
        format!("{provider}/{}", kinds.join("/"))
    }

    /// Returns the last name: the resource's own.
    #[must_use]
    pub fn name(&self) -> &str {
        match self.segments.last() {
            Some(segment) => &segment.name,
            None => self.resource_group.as_deref().unwrap_or(&self.subscription),
        }
    }

    /// Returns the parent resource, if this is a child resource.
    #[must_use]
    pub fn parent(&self) -> Option<Self> {
        if self.segments.len() < 2 {
            return None;
        }
        let mut parent = self.clone();
        parent.segments.pop();
        Some(parent)
    }

    /// Returns whether this resource is in that resource group.
    #[must_use]
    pub fn is_in_group(&self, group: &Self) -> bool {
        let same = |a: Option<&str>, b: Option<&str>| match (a, b) {
            (Some(a), Some(b)) => a.eq_ignore_ascii_case(b),
            (None, _) | (_, None) => false,
        };
        self.subscription.eq_ignore_ascii_case(&group.subscription)
            && same(self.resource_group(), group.resource_group())
    }

    fn key(&self) -> String {
        self.to_string().to_ascii_lowercase()
    }
}

impl FromStr for ResourceId {
    type Err = ResourceIdFault;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.len() > LENGTH_MAX {
            return Err(ResourceIdFault::TooLong(text.len()));
        }
        let rest = text.strip_prefix('/').ok_or_else(|| ResourceIdFault::NoSubscription(text.to_owned()))?;
        let parts: Vec<&str> = rest.strip_suffix('/').unwrap_or(rest).split('/').collect();
        if let Some(part) = parts.iter().find(|part| !is_name(part)) {
            return Err(ResourceIdFault::BadPart(text.to_owned(), (*part).to_owned()));
        }
        let (subscription, rest) = match parts.as_slice() {
            [word, id, rest @ ..] if word.eq_ignore_ascii_case("subscriptions") => (*id, rest),
            _ => return Err(ResourceIdFault::NoSubscription(text.to_owned())),
        };
        let (resource_group, rest) = match rest {
            [word, name, rest @ ..] if word.eq_ignore_ascii_case("resourceGroups") => (Some(*name), rest),
            rest => (None, rest),
        };
        let bad_provider = || ResourceIdFault::BadProvider(text.to_owned());
        let (provider, segments) = match rest {
            [] => (None, Vec::new()),
            [word, namespace, pairs @ ..] if word.eq_ignore_ascii_case("providers") => {
                (Some(canonical(namespace)), segments(pairs).ok_or_else(bad_provider)?)
            }
            _ => return Err(bad_provider()),
        };
        Ok(Self {
            subscription: subscription.to_owned(),
            resource_group: resource_group.map(str::to_owned),
            provider,
            segments,
        })
    }
}

/// Returns the pairs of type and name; `None` if there is none or one is incomplete.
fn segments(pairs: &[&str]) -> Option<Vec<Segment>> {
    let segments: Option<Vec<Segment>> = pairs
        .chunks(2)
        .map(|pair| match pair {
            [kind, name] => Some(Segment { kind: canonical(kind), name: (*name).to_owned() }),
            _ => None,
        })
        .collect();
    segments.filter(|segments| !segments.is_empty())
}

/// Returns whether a segment is a valid Azure name: letters, digits and some punctuation, but nothing that would change
/// a URL.
fn is_name(part: &str) -> bool {
    !part.is_empty()
        && part != "."
        && part != ".."
        && part.chars().all(|c| {
            c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '(' | ')' | ' ' | '~' | '!' | ',' | '=')
        })
}

fn canonical(word: &str) -> String {
    let known = CANONICAL.iter().find(|known| known.eq_ignore_ascii_case(word));
    known.map_or_else(|| word.to_owned(), |known| (*known).to_owned())
}

impl fmt::Display for ResourceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "/subscriptions/{}", self.subscription)?;
        if let Some(group) = &self.resource_group {
            write!(f, "/resourceGroups/{group}")?;
        }
        if let Some(provider) = &self.provider {
            write!(f, "/providers/{provider}")?;
        }
        for Segment { kind, name } in &self.segments {
            write!(f, "/{kind}/{name}")?;
        }
        Ok(())
    }
}

impl PartialEq for ResourceId {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for ResourceId {}

impl PartialOrd for ResourceId {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for ResourceId {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

impl Hash for ResourceId {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key().hash(state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const VM: &str =
        "/subscriptions/S-1/resourceGroups/MC_Rg_(x)/providers/Microsoft.Compute/virtualMachines/aks-a";

    #[test]
    fn an_id_in_any_casing_is_the_same_and_prints_azures_words_in_one() {
        let odd =
            "/SUBSCRIPTIONS/s-1/resourcegroups/mc_rg_(X)/PROVIDERS/microsoft.compute/VIRTUALMACHINES/AKS-A";
        let odd: ResourceId = odd.parse().unwrap();
        assert_eq!(odd, VM.parse().unwrap());
        assert_eq!(
            odd.to_string(),
            "/subscriptions/s-1/resourceGroups/mc_rg_(X)/providers/Microsoft.Compute/virtualMachines/AKS-A"
        );
    }

    #[test]
    fn the_provider_id_has_the_group_in_lower_case_and_nothing_else() {
        let id: ResourceId = VM.parse().unwrap();
        let provider_id = id.provider_id();
        assert_eq!(
            provider_id,
            "azure:///subscriptions/S-1/resourceGroups/mc_rg_(x)/providers/Microsoft.Compute/virtualMachines/aks-a"
        );
        assert_eq!(ResourceId::of_provider_id(&provider_id).unwrap(), id);
    }

    #[test]
    fn children_know_their_parent_and_kind() {
        let subnet: ResourceId =
            "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/v/subnets/n"
                .parse()
                .unwrap();
        assert_eq!(subnet.kind(), "Microsoft.Network/virtualNetworks/subnets");
        assert_eq!(subnet.parent().unwrap().name(), "v");
        assert!(subnet.is_in_group(&ResourceId::of_group("S", "G").unwrap()));
        assert!(!subnet.is_in_group(&ResourceId::of_group("S", "other").unwrap()));
    }

    #[test]
    fn texts_that_are_no_ids_are_refused() {
        let bad = [
            "",
            "/",
            "subscriptions/s",
            "/subscriptions/",
            "/subscriptions/s/resourceGroups",
            "/subscriptions/s/resourceGroups/g/providers",
            "/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute",
            "/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/virtualMachines",
            "/subscriptions/s/resourceGroups/../providers/Microsoft.Compute/virtualMachines/v",
            "/subscriptions/s/resourceGroups/g?x=1",
            "/subscriptions/s//resourceGroups/g",
            "/subscriptions/s/resourceGroups/g%2f..",
            "/subscriptions/s/resourceGroups/g\n",
        ];
        for text in bad {
            assert!(text.parse::<ResourceId>().is_err(), "{text:?}");
        }
        assert!(format!("/subscriptions/{}", "x".repeat(3000)).parse::<ResourceId>().is_err());
    }
}
