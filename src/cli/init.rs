//! `nodeform init`: a NodeFleet, a NodePool and an AKSNodeClass to start from.
#![expect(clippy::disallowed_methods, reason = "writing the first files is this command's job")]

use std::fs;
use std::path::Path;

use super::arguments::InitArguments;
use super::exit::{Exit, Failure};
use super::input::InputArguments;
use super::ui::Ui;
use crate::agent_pools::{self, REGION, RegionFrom, Said, Started};
use crate::manifests::Source;
use crate::model::Region;
use crate::offline;

/// The file's name in the folder.
const FILE: &str = "nodeform.yaml";

pub(super) fn run(arguments: &InitArguments, ui: Ui) -> Result<Exit, Failure> {
    let InitArguments { folder, from, cluster_name, location } = arguments;
    let location = location.as_deref().map(super::world::region);
    if let Some(location) = &location {
        offline::Catalogs::default().of(location).map_err(super::world::failure)?;
    }
    let is_name = |text: &str| {
        let inside = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
        let ends = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
        let bytes = text.as_bytes();
        bytes.len() <= 63 && bytes.iter().copied().all(inside) && ends(bytes.first()) && ends(bytes.last())
    };
    if let Some(cluster_name) = cluster_name.as_ref().filter(|name| !is_name(name)) {
        return Err(Failure::error(format!("`{cluster_name}` cannot be the name of an AKS cluster"))
            .hint("use at most 63 letters, digits, `-` and `_`, with a letter or digit at both ends"));
    }
    let cluster = cluster_name.clone();
    let started = match from {
        Some(file) => start(file, Said { cluster, location }, ui)?,
        None => {
            let region_from = if location.is_some() { RegionFrom::User } else { RegionFrom::Nobody };
            let region = location.unwrap_or_else(|| Region::new(REGION));
            let text = manifest(cluster.as_deref().unwrap_or("my-cluster"), region.as_str());
            Started { text, pools: 1, region, region_from, left_out: Vec::new() }
        }
    };
    let region = region_said(&started);
    let text = started.text;
    if folder.as_os_str() == "-" {
        ui.text(&text)?;
        // Where a file says no region, that was warned of.
        if from.is_none() {
            ui.aside(&region);
        }
        return Ok(Exit::Done);
    }
    if folder.exists() && !folder.is_dir() {
        return Err(Failure::error(format!("`{}` is no folder", folder.display()))
            .hint("name a folder, or `-` to print the manifests instead"));
    }
    let file = folder.join(FILE);
    if file.exists() {
        return Err(Failure::error(format!("`{}` exists already and is left as it is", file.display()))
            .hint("name another folder, or `-` to print the manifests instead"));
    }
    write(folder, &file, &text)?;
    ui.text(&format!(
        "Wrote {}: a NodeFleet, {} and what {} built with.\n{region}\nNext: put workloads beside it and run\n  nodeform plan {}\n",
        file.display(),
        if started.pools == 1 { "a NodePool".to_owned() } else { format!("{} NodePools", started.pools) },
        if started.pools == 1 { "it is" } else { "they are" },
        folder.display()
    ))?;
    Ok(Exit::Done)
}

/// Says which region the manifests name, and who said so.
fn region_said(started: &Started) -> String {
    let Started { region, region_from, .. } = started;
    let whence = match region_from {
        RegionFrom::User => "of `--location`",
        RegionFrom::File => "of the file",
        RegionFrom::Nobody => {
            "a guess, since `--location` was not given: sizes and prices are those of `spec.cluster.location`"
        }
    };
    format!("Region: `{region}`, {whence}.\n")
}

/// Converts agent pools, and says what could not be carried over.
fn start(file: &Path, said: Said, ui: Ui) -> Result<Started, Failure> {
    let input = InputArguments { inputs: vec![file.to_owned()], ..InputArguments::default() };
    let mut sources = input.read()?.sources();
    let (Some(source), true) = (sources.pop(), sources.is_empty()) else {
        return Err(Failure::error(format!("`{}` is not one file", file.display())));
    };
    let started = agent_pools::start(source, &said).map_err(|faults| {
        let faults = faults.into_iter().map(|fault| format!("`{}`: {fault}", file.display())).collect();
        Failure::errors(faults).hint(
            "make the file with `az aks nodepool list -g GROUP --cluster-name NAME -o json > pools.json`",
        )
    })?;
    for what in &started.left_out {
        ui.aside(&format!("warning: {what}\n"));
    }
    // What the file says may still be out of the bounds that NodePools and classes have.
    let written = Source::new("nodeform.yaml", started.text.clone());
    if let Err(faults) = offline::read(vec![written]) {
        for fault in faults {
            ui.aside(&format!("warning: to be mended by hand: {fault}\n"));
        }
    }
    Ok(started)
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
