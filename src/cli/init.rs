//! `nodeform init`: a NodeFleet, a NodePool and an AKSNodeClass to start from.
#![expect(clippy::disallowed_methods, reason = "writing the first files is this command's job")]

use std::path::{Path, PathBuf};
use std::{fs, iter};

use super::arguments::InitArguments;
use super::exit::{Exit, Failure};
use super::init_review::Reviewing;
use super::input::InputArguments;
use super::ui::Ui;
use crate::agent_pools::{self, REGION, RegionFrom, Said, Started};
use crate::manifests::Source;
use crate::model::Region;
use crate::offline;

/// The file name within the folder.
const FILE: &str = "nodeform.yaml";

/// The manifest folder in a repository with reviewed plans.
const FLEET: &str = "fleet";

pub(super) fn run(arguments: &InitArguments, ui: Ui) -> Result<Exit, Failure> {
    let InitArguments { folder, from, cluster_name, location, review, git_repository } = arguments;
    let reviewing = review.zip(git_repository.as_deref());
    let reviewing = reviewing.map(|(forge, repository)| Reviewing::of(forge, repository)).transpose()?;
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
    let text = match &reviewing {
        Some(reviewing) => reviewing.manifests(&started.text),
        None => started.text,
    };
    if folder.as_os_str() == "-" {
        ui.text(&text)?;
        // If a file has no region, there was already a warning.
        if from.is_none() {
            ui.aside(&region);
        }
        if let Some(reviewing) = &reviewing {
            ui.aside(&reviewing.by_hand());
        }
        return Ok(Exit::Done);
    }
    if folder.exists() && !folder.is_dir() {
        return Err(Failure::error(format!("`{}` is not a folder", folder.display()))
            .hint("name a folder, or `-` to print the manifests instead"));
    }
    let wrote = Written { folder, pools: started.pools, region, reviewing };
    wrote.all(&text, ui)
}

/// The written files and the messages about them.
struct Written<'a> {
    folder: &'a Path,
    pools: usize,
    region: String,
    reviewing: Option<Reviewing>,
}

impl Written<'_> {
    fn all(self, text: &str, ui: Ui) -> Result<Exit, Failure> {
        let Self { folder, pools, region, reviewing } = self;
        let beside = reviewing.as_ref().map(Reviewing::files).unwrap_or_default();
        let beside: Vec<(PathBuf, &str)> =
            beside.into_iter().map(|(path, text)| (folder.join(path), text)).collect();
        // Separate from the pipelines, which are YAML but not manifests.
        let manifests = if reviewing.is_some() { folder.join(FLEET) } else { folder.to_owned() };
        let file = manifests.join(FILE);
        let all = || iter::once(&file).chain(beside.iter().map(|(path, _)| path));
        let known = all().filter(|path| path.exists());
        let faults: Vec<String> =
            known.map(|path| format!("`{}` exists already and is left as it is", path.display())).collect();
        if !faults.is_empty() {
            return Err(Failure::errors(faults)
                .hint("nothing is written: name another folder, or `-` to print the manifests instead"));
        }
        write(&file, text)?;
        beside.iter().try_for_each(|(path, text)| write(path, text))?;
        let kinds = match pools {
            1 => "NodeFleet, NodePool and AKSNodeClass".to_owned(),
            many => format!("NodeFleet, {many} NodePools and their AKSNodeClasses"),
        };
        ui.text(&format!("Wrote {}: {kinds}\n", file.display()))?;
        for (path, _) in &beside {
            ui.text(&format!("Wrote {}\n", path.display()))?;
        }
        let by_hand =
            reviewing.as_ref().map_or_else(String::new, |reviewing| format!("\n{}", reviewing.by_hand()));
        let folder = manifests.display();
        ui.text(&format!(
            "{region}{by_hand}\nNext: put workloads beside it and run\n  nodeform plan {folder}\n"
        ))?;
        Ok(Exit::Done)
    }
}

/// Returns a message with the region of the manifests and its source.
fn region_said(started: &Started) -> String {
    let Started { region, region_from, .. } = started;
    let whence = match region_from {
        RegionFrom::User => "from `--location`",
        RegionFrom::File => "from the file",
        RegionFrom::Nobody => {
            "a guess, since `--location` was not given: sizes and prices are those of `spec.cluster.location`"
        }
    };
    format!("Region: `{region}`, {whence}.\n")
}

/// Converts agent pools and warns about settings that could not be carried over.
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
    // The converted values may still exceed the limits of NodePools and classes.
    let written = Source::new("nodeform.yaml", started.text.clone());
    if let Err(faults) = offline::read(vec![written]) {
        for fault in faults {
            ui.aside(&format!("warning: fix by hand: {fault}\n"));
        }
    }
    Ok(started)
}

fn write(file: &Path, text: &str) -> Result<(), Failure> {
    fs::create_dir_all(file.parent().unwrap_or(file))
        .and_then(|()| fs::write(file, text))
        .map_err(|error| Failure::error(format!("`{}` cannot be written: {error}", file.display())))
}

/// Returns the manifests. Names were validated before, so no further quoting is needed.
fn manifest(cluster: &str, location: &str) -> String {
    format!(
        r#"# Settings of the whole cluster.
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
# Which nodes may be created. Narrow or widen it by requirements; `nodeform catalog` lists the sizes.
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
          values: [amd64] # add arm64 if your images support it: it is cheaper
        - key: kubernetes.io/os
          operator: In
          values: [linux]
        - key: karpenter.sh/capacity-type
          operator: In
          values: [on-demand] # add spot for workloads that tolerate evictions
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

/// Converts a cluster name to a Kubernetes object name: lower case, with `-` for invalid characters.
fn object_name(cluster: &str) -> String {
    cluster
        .chars()
        .map(|character| if character.is_ascii_alphanumeric() { character.to_ascii_lowercase() } else { '-' })
        .collect()
}
