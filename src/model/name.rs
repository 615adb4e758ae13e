//! One type for each kind of name, so that a pool is never mistaken for a node.
//!
//! Names are compared and sorted by their bytes. They hold no checked invariant: a name is what the input
//! said, and the reader of the input has judged it.

use std::fmt;
use std::sync::Arc;

macro_rules! name {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
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
}

impl fmt::Display for PodKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.namespace, self.name)
    }
}
