//! `nodeform init`: a NodeFleet, a NodePool and an AKSNodeClass to start from.
#![expect(clippy::disallowed_methods, reason = "writing the first files is this command's job")]

use std::fs;
use std::path::Path;

use super::arguments::InitArguments;
use super::exit::{Exit, Failure};
use super::ui::Ui;
use crate::offline;

/// The file's name in the folder.
const FILE: &str = "nodeform.yaml";

pub(super) fn run(arguments: &InitArguments, ui: Ui) -> Result<Exit, Failure> {
    let InitArguments { folder, cluster_name, location } = arguments;
    let location = super::world::region(location);
    offline::catalog(&[], &location).map_err(super::world::failure)?;
    let is_name = |text: &str| {
        let inside = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
        let ends = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
        let bytes = text.as_bytes();
        bytes.len() <= 63 && bytes.iter().copied().all(inside) && ends(bytes.first()) && ends(bytes.last())
    };
    if !is_name(cluster_name) {
        return Err(Failure::error(format!("`{cluster_name}` cannot be the name of an AKS cluster"))
            .hint("use at most 63 letters, digits, `-` and `_`, with a letter or digit at both ends"));
    }
    let text = manifest(cluster_name, location.as_str());
    if folder.as_os_str() == "-" {
        ui.text(&text)?;
        return Ok(Exit::Done);
    }
    let file = folder.join(FILE);
    if file.exists() {
        return Err(Failure::error(format!("`{}` exists already and is left as it is", file.display()))
            .hint("name another folder, or `-` to print the manifests instead"));
    }
    write(folder, &file, &text)?;
    ui.text(&format!(
        "Wrote {}: a NodeFleet, a NodePool and an AKSNodeClass.\n\nNext: put workloads beside it and run\n  nodeform plan {}\n",
        file.display(),
        folder.display()
    ))?;
    Ok(Exit::Done)
}

fn write(folder: &Path, file: &Path, text: &str) -> Result<(), Failure> {
    fs::create_dir_all(folder)
        .and_then(|()| fs::write(file, text))
        .map_err(|error| Failure::error(format!("`{}` cannot be written: {error}", file.display())))
}

/// The manifests. Names are checked before they come here, so that they need no quoting beyond what stands.
fn manifest(cluster: &str, location: &str) -> String {
    format!(
        r#"# What holds for the whole cluster.
apiVersion: nodeform.dev/v1alpha1
kind: NodeFleet
metadata:
  name: "{fleet}"
spec:
  cluster:
    name: "{cluster}"
    location: {location}
    networkPlugin: azure
    networkPluginMode: overlay
  mode: observe # nothing is changed; plans are shown
  limits: # for all pools together
    nodes: 50
    cpu: "400"
    costPerMonth: "10000" # US dollars
---
# Which nodes may be made. Narrow or widen it with requirements; `nodeform catalog` lists what there is.
apiVersion: karpenter.sh/v1
kind: NodePool
metadata:
  name: general-purpose
spec:
  template:
    spec:
      requirements:
        - key: kubernetes.io/arch
          operator: In
          values: [amd64] # add arm64 once your images run there: it is cheaper
        - key: kubernetes.io/os
          operator: In
          values: [linux]
        - key: karpenter.sh/capacity-type
          operator: In
          values: [on-demand] # add spot for what may be taken away
        - key: karpenter.azure.com/sku-family
          operator: In
          values: [D, E, F]
      nodeClassRef:
        group: karpenter.azure.com
        kind: AKSNodeClass
        name: default
      expireAfter: 720h
  limits:
    cpu: "200"
  disruption:
    consolidationPolicy: WhenEmptyOrUnderutilized
    consolidateAfter: 0s
    budgets:
      - nodes: 10%
---
# How the nodes' VMs are built.
apiVersion: karpenter.azure.com/v1beta1
kind: AKSNodeClass
metadata:
  name: default
spec:
  imageFamily: Ubuntu
  osDiskSizeGB: 128
"#,
        fleet = object_name(cluster),
    )
}

/// Makes a Kubernetes object's name of a cluster's: lower case, with `-` for what is not allowed.
fn object_name(cluster: &str) -> String {
    cluster
        .chars()
        .map(|character| if character.is_ascii_alphanumeric() { character.to_ascii_lowercase() } else { '-' })
        .collect()
}
