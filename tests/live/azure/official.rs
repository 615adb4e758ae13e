//! The official specification's own examples, read as answers.

use std::fs;
use std::path::{Path, PathBuf};

use nodeform::arm::answer::{
    ImageVersion, LoadBalancer, Machine, ManagedCluster, NetworkInterface, Page, Permission, SecurityGroup,
    Subnet, Usage, VirtualNetwork, read,
};
use serde_json::Value;

const EXAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/arm-specs/specification");

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|ext| ext == "json")
            && path.parent().is_some_and(|p| p.to_string_lossy().contains("examples"))
        {
            found.push(path);
        }
    }
}

/// The answers with status 200 of examples whose file name begins so, in folders with this word.
fn answers(word: &str, names: &[&str]) -> Vec<(String, Value)> {
    let mut found = Vec::new();
    files(Path::new(EXAMPLES), &mut found);
    found.sort();
    let is_asked = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        path.to_string_lossy().contains(word) && names.iter().any(|start| name.starts_with(start))
    };
    found
        .into_iter()
        .filter(is_asked)
        .filter_map(|path| {
            // Placeholders in braces stand for ids.
            let text = fs::read_to_string(&path).unwrap();
            let example: Value = serde_json::from_str(text.trim_start_matches('\u{feff}')).unwrap();
            let mut body = example.pointer("/responses/200/body")?.clone();
            without_braces(&mut body);
            Some((path.display().to_string(), body))
        })
        .collect()
}

fn without_braces(value: &mut Value) {
    match value {
        Value::String(text) => text.retain(|c| c != '{' && c != '}'),
        Value::Array(list) => list.iter_mut().for_each(without_braces),
        Value::Object(object) => object.values_mut().for_each(without_braces),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn items(answers: Vec<(String, Value)>) -> Vec<(String, Value)> {
    answers
        .into_iter()
        .flat_map(|(path, body)| match read::<Page>(body.clone()) {
            Ok(page) => page.items.into_iter().map(|item| (path.clone(), item)).collect(),
            Err(_) => vec![(path, body)],
        })
        .collect()
}

macro_rules! all_read_as {
    ($kind:ty, $word:literal, $names:expr, $least:literal) => {{
        let items = items(answers($word, $names));
        assert!(items.len() >= $least, "{} examples of {}", items.len(), stringify!($kind));
        for (path, item) in items {
            // Azure's generated examples have ids of random letters; those have no path to read.
            if item.get("id").and_then(Value::as_str).is_some_and(|id| !id.starts_with("/subscriptions/")) {
                continue;
            }
            let result = read::<$kind>(item);
            assert!(result.is_ok(), "{path}: {}", result.unwrap_err());
        }
    }};
}

#[test]
fn every_example_is_read() {
    if !Path::new(EXAMPLES).exists() {
        assert!(std::env::var("NODEFORM_REQUIRE_SHARED").is_err(), "{EXAMPLES} is required");
        eprintln!("skipped: 1 test, {EXAMPLES} is absent");
        return;
    }
    all_read_as!(
        Machine,
        "2024-07-01",
        &[
            "VirtualMachine_Get.json",
            "VirtualMachine_Get_With",
            "VirtualMachine_List_",
            "VirtualMachine_ListAll"
        ],
        5
    );
    all_read_as!(NetworkInterface, "2024-03-01", &["NetworkInterfaceGet.json", "NetworkInterfaceList"], 3);
    all_read_as!(Subnet, "2024-03-01", &["SubnetGet", "SubnetList"], 3);
    all_read_as!(VirtualNetwork, "2024-03-01", &["VirtualNetworkGet.json", "VirtualNetworkList.json"], 2);
    all_read_as!(SecurityGroup, "2024-03-01", &["NetworkSecurityGroupGet", "NetworkSecurityGroupList"], 3);
    all_read_as!(
        LoadBalancer,
        "2024-03-01",
        &["LoadBalancerGet.json", "LoadBalancerList.json", "LoadBalancerListAll"],
        3
    );
    all_read_as!(Usage, "2024-07-01", &["Usage_List_MaximumSet"], 1);
    all_read_as!(ImageVersion, "2023-07-03", &["CommunityGalleryImageVersion_"], 2);
    all_read_as!(
        Permission,
        "2022-04-01",
        &["GetPermissions", "GetResourceGroupPermissions", "GetResourcePermissions"],
        1
    );
    all_read_as!(ManagedCluster, "2024-08-01", &["ManagedClustersGet.json", "ManagedClustersList.json"], 2);
}
