//! One type for each kind of name, so that a pool cannot be confused with a node.
//!
//! Names compare and sort by their bytes. They check no invariant: a name is taken from the input as it is, already
//! validated by the reader of the input.

use std::fmt;
use std::sync::Arc;

macro_rules! name {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(transparent)]
        pub struct $name(Arc<str>);

        impl $name {
            /// Makes the name of this text.
            pub fn new(text: impl AsRef<str>) -> Self {
                Self(Arc::from(text.as_ref()))
            }

            /// Returns the name's text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.pad(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(formatter, "{:?}", &*self.0)
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self::new(text)
            }
        }

        impl std::borrow::Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }
    };
}

name! {
    /// The name of a NodePool.
    PoolName
}
name! {
    /// The name of an AKSNodeClass.
    ClassName
}
name! {
    /// The name of a Kubernetes Node.
    NodeName
}
name! {
    /// The name of a NodeClaim.
    ClaimName
}
name! {
    /// The name of a VM size as Azure writes it, such as `Standard_D4s_v5`; with a plain list of instance
    /// types, the name of the type.
    SkuName
}
name! {
    /// The value of `topology.kubernetes.io/zone`, such as `westeurope-1`; `0` is Azure's "no zone".
    Zone
}
name! {
    /// An Azure region by its short name, such as `westeurope`.
    Region
}
name! {
    /// A Kubernetes namespace.
    Namespace
}
name! {
    /// The name of a NodeOverlay.
    OverlayName
}
name! {
    /// The name of a CapacityBuffer.
    BufferName
}
name! {
    /// Pods of one owner and one template, as a short digest of both.
    Purpose
}
name! {
    /// The key of a label, such as `kubernetes.io/arch`.
    LabelKey
}

/// A pod's namespace and name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PodKey {
    /// The namespace.
    pub namespace: Namespace,
    /// The name; made up from the workload's name and an ordinal where the pod does not exist yet.
    pub name: Arc<str>,
}

impl PodKey {
    /// Makes the key of a pod.
    pub fn new(namespace: impl AsRef<str>, name: impl AsRef<str>) -> Self {
        Self { namespace: Namespace::new(namespace), name: Arc::from(name.as_ref()) }
    }

    /// Makes the key of a placeholder of a CapacityBuffer. No pod has such a name: Kubernetes allows no colon.
    #[must_use]
    pub fn placeholder(namespace: &Namespace, buffer: &BufferName, ordinal: u32) -> Self {
        let name = format!("{PLACEHOLDER}{}-{ordinal}", buffer.as_str());
        Self { namespace: namespace.clone(), name: Arc::from(name) }
    }

    /// Returns whether this is no pod but room that a CapacityBuffer keeps for one.
    #[must_use]
    pub fn is_placeholder(&self) -> bool {
        self.name.starts_with(PLACEHOLDER)
    }
}

/// What the names of placeholders begin with.
const PLACEHOLDER: &str = "buffer:";

impl std::str::FromStr for PodKey {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (namespace, name) =
            text.split_once('/').ok_or_else(|| format!("`{text}` is not `namespace/name`"))?;
        Ok(Self::new(namespace, name))
    }
}

impl serde::Serialize for PodKey {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        super::written::text::serialize(self, serializer)
    }
}

impl<'de> serde::Deserialize<'de> for PodKey {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        super::written::text::deserialize(deserializer)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for PodKey {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "PodKey".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({"type": "string", "description": "A pod as `namespace/name`."})
    }
}

impl fmt::Display for PodKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.namespace, self.name)
    }
}

/// The labels of namespaces.
pub type NamespaceLabels =
    std::collections::BTreeMap<Namespace, std::collections::BTreeMap<LabelKey, Arc<str>>>;
