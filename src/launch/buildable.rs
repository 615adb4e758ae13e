//! Sizes from which no VM can be built for a class, found before a fleet is chosen. Pods that another class, pool or
//! architecture can run are not held back.
//!
//! Runs the checks of a launch that do not depend on a single claim. Never excludes a size that could be launched.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::machine::{image_of, subnet};
use crate::bootstrap::{KubernetesVersion, Refusal, refusals};
use crate::catalog::{Catalog, Unbuildable};
use crate::model::{ClassName, NetworkSetup, SkuName};
use crate::policy::{Policy, WholeClass};
use crate::snapshot::AzureFacts;

/// Returns the sizes from which no VM can be built for their class, each with the reason.
#[must_use]
pub fn unbuildable(
    catalog: &Catalog,
    (policy, network): (&Policy, NetworkSetup),
    facts: &AzureFacts,
) -> Vec<Unbuildable> {
    let mut unbuildable = Vec::new();
    let Ok(version) = facts.cluster.kubernetes_version.parse::<KubernetesVersion>() else {
        return unbuildable;
    };
    for (name, class) in &policy.classes {
        let Some(whole) = policy.whole_classes.get(name) else { continue };
        let ground = (whole, facts);
        let of_class = of_class(ground);
        for kind in &catalog.offered(class, network).types {
            let found = match &of_class {
                Some(refusal) => Some(refusal.clone()),
                None => image_of(ground, kind, &version).err(),
            };
            unbuildable.extend(found.map(|refusal| of(name, &kind.name, &refusal)));
        }
    }
    unbuildable
}

/// Returns the reason why no VM of a class can be built, if there is one.
fn of_class((whole, facts): (&WholeClass, &AzureFacts)) -> Option<Refusal> {
    let of_fields = refusals(&whole.spec).into_iter().next();
    // A fault of the cluster's own subnet affects every class and is reported for the plan.
    let of_subnet =
        || subnet((whole, facts)).err()?.into_iter().find(|found| found.field.starts_with("spec."));
    of_fields.or_else(of_subnet)
}

fn of(class: &ClassName, size: &SkuName, Refusal { field, why }: &Refusal) -> Unbuildable {
    // One reason for all affected sizes.
    let why = why.replace(&format!("`{size}`"), "it");
    Unbuildable { class: class.clone(), size: size.clone(), because: format!("`{field}`: {why}").into() }
}

/// Returns the reasons by class, each with the number of sizes that it excludes.
#[must_use]
pub fn reasons(unbuildable: &[Unbuildable]) -> BTreeMap<(&ClassName, &Arc<str>), usize> {
    let mut reasons = BTreeMap::new();
    for Unbuildable { class, because, .. } in unbuildable {
        *reasons.entry((class, because)).or_default() += 1;
    }
    reasons
}

#[cfg(test)]
mod tests {
    use crate::launch::tests::world::{FACTS, OBJECTS, world_of};
    use crate::model::label;
    use crate::offline;

    /// A second, cheaper pool for arm64, and a pod that runs on either.
    const ARM: &str = "---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: arm}
spec:
  template:
    spec:
      requirements:
        - {key: kubernetes.io/arch, operator: In, values: [arm64]}
        - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}
        - {key: karpenter.azure.com/sku-family, operator: In, values: [D]}
      nodeClassRef: {group: karpenter.azure.com, kind: AKSNodeClass, name: default}
---
apiVersion: v1
kind: Pod
metadata: {name: arm}
spec: {nodeSelector: {kubernetes.io/arch: arm64}, containers: [{name: c, image: i, resources: {requests: {cpu: 100m}}}]}
";

    fn with_arm_image() -> String {
        let image = "AKSUbuntu-38d80f77-467a-481f-a8d4-09b6d4220bd2/2404gen2containerd";
        let arm = image.replace("gen2", "gen2arm64");
        let id = "/CommunityGalleries/x/images/y/versions/1.0.0";
        assert!(FACTS.contains(image));
        FACTS.replacen(&format!("\"{image}\": "), &format!("\"{arm}\": \"{id}\", \"{image}\": "), 1)
    }

    #[test]
    fn an_image_that_cannot_be_read_keeps_only_the_pods_that_need_it() {
        let objects = format!("{OBJECTS}{ARM}");
        let with = offline::plan(&world_of(&objects, &with_arm_image())).expect("the judge accepts it");
        let without = world_of(&objects, FACTS);
        let reason = without.remarks.iter().find(|remark| remark.object == "AKSNodeClass `default`");
        let reason = reason.unwrap_or_else(|| panic!("{:#?}", without.remarks));
        assert!(
            reason.what.contains("could not be read") && reason.what.contains("arm64"),
            "{}",
            reason.what
        );
        let without = offline::plan(&without).expect("the judge accepts it");
        let unplaced = |plan: &crate::plan::Plan| -> Vec<String> {
            let pods = plan.evidence.report.unplaced.iter().flat_map(|unplaced| &unplaced.pods);
            pods.map(ToString::to_string).collect()
        };
        assert!(unplaced(with.plan.plan()).is_empty());
        assert_eq!(unplaced(without.plan.plan()), ["default/arm"]);
        let because = &without.plan.plan().evidence.report.unplaced[0].because;
        assert!(because.contains("2404gen2arm64containerd` could not be read"), "{because}");
        let spec = &without.plan.plan().spec;
        assert!(spec.execution.is_some() && spec.creates().count() > 0, "the others get nodes");
        let archs = spec.claims.values().map(|claim| claim.requirements.get(label::ARCH));
        assert!(archs.flatten().all(|arch| arch.accepts("amd64")), "{:#?}", spec.claims);
    }
}
