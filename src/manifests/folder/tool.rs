//! Tools that generate manifests, and the shell commands to run them.

use crate::manifests::listed::cluster_kinds;

/// A tool that renders folders into manifests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tool {
    /// Kustomize, standalone or within `kubectl`.
    Kustomize,
    /// Helm.
    Helm,
}

/// File names of a kustomization, in the order of kustomize.
const KUSTOMIZATIONS: [&str; 3] = ["kustomization.yaml", "kustomization.yml", "Kustomization"];

/// File name of a chart.
const CHART: &str = "Chart.yaml";

impl Tool {
    /// Returns the tool that renders folders with a file of this name.
    #[must_use]
    pub fn of_file(name: &str) -> Option<Self> {
        match name {
            CHART => Some(Self::Helm),
            _ if KUSTOMIZATIONS.contains(&name) => Some(Self::Kustomize),
            _ => None,
        }
    }

    /// Returns the tool's name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Kustomize => "kustomize",
            Self::Helm => "helm",
        }
    }
}

/// Tools whose files are not manifests and are not rendered here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Foreign {
    /// Helmfile.
    Helmfile,
    /// Jsonnet.
    Jsonnet,
    /// CUE.
    Cue,
    /// Terraform and OpenTofu.
    Terraform,
}

impl Foreign {
    /// Returns the tool of a file, by its path.
    #[must_use]
    pub fn of_path(path: &str) -> Option<Self> {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        let ends = |endings: &[&str]| endings.iter().any(|ending| name.ends_with(ending));
        if name.starts_with("helmfile.y") || folder.rsplit('/').next() == Some("helmfile.d") {
            Some(Self::Helmfile)
        } else if ends(&[".jsonnet", ".libsonnet"]) {
            Some(Self::Jsonnet)
        } else if ends(&[".cue"]) {
            Some(Self::Cue)
        } else if ends(&[".tf", ".tofu", ".tf.json", ".tfvars", ".tfvars.json"]) {
            Some(Self::Terraform)
        } else {
            None
        }
    }

    /// Returns the tool's name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Helmfile => "Helmfile",
            Self::Jsonnet => "Jsonnet",
            Self::Cue => "CUE",
            Self::Terraform => "Terraform",
        }
    }

    /// Explains how to turn its files into readable manifests.
    #[must_use]
    pub const fn hint(self) -> &'static str {
        match self {
            Self::Helmfile => "render them and pass the output: `helmfile template | nodeform plan -`",
            Self::Jsonnet => "render them and pass the output: `jsonnet -y FILE | nodeform plan -`",
            Self::Cue => "render them and pass the output: `cue export --out yaml | nodeform plan -`",
            Self::Terraform => {
                concat!(
                    "name the manifests that Terraform applies, or a dump of the cluster: `kubectl get ",
                    cluster_kinds!(),
                    " -A -o yaml | nodeform plan -`"
                )
            }
        }
    }
}

/// Quotes a word for a shell.
#[must_use]
pub fn shell_word(word: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-+:@%,=".contains(&byte);
    let word = if word.starts_with('-') { format!("./{word}") } else { word.to_owned() };
    if !word.is_empty() && word.bytes().all(is_plain) {
        word
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}
