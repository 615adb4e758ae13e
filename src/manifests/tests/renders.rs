//! Objects that controllers render are reported with their source.

use super::{faults, objects};

fn named(text: &str) -> Vec<String> {
    let found = objects(text);
    assert!(found.not_understood.is_empty(), "{:?}", found.not_understood);
    found.renders.iter().map(|it| format!("{} {} ({})", it.kind, it.name, it.points_at)).collect()
}

#[test]
fn what_flux_renders_is_named_and_its_sources_are_passed_over() {
    let text = "
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: prometheus, namespace: monitoring}
spec:
  targetNamespace: observability
  chart: {spec: {chart: kube-prometheus-stack, version: 58.x, sourceRef: {kind: HelmRepository, name: p}}}
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: oci, namespace: monitoring}
spec: {chartRef: {kind: OCIRepository, name: podinfo}, targetNamespace: monitoring}
---
apiVersion: helm.cattle.io/v1
kind: HelmChart
metadata: {name: traefik}
spec: {chart: traefik, version: 27}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: apps, namespace: flux-system}
spec: {path: ./apps/prod, sourceRef: {kind: GitRepository, name: fleet}}
---
{apiVersion: source.toolkit.fluxcd.io/v1, kind: HelmRepository, metadata: {name: p}}
---
{apiVersion: source.toolkit.fluxcd.io/v1, kind: OCIRepository, metadata: {name: p}}
---
{apiVersion: source.toolkit.fluxcd.io/v1, kind: GitRepository, metadata: {name: p}}
";
    assert_eq!(
        named(text),
        [
            "HelmChart traefik (chart traefik 27)",
            "HelmRelease monitoring/oci (OCIRepository podinfo)",
            "HelmRelease monitoring/prometheus (chart kube-prometheus-stack 58.x, into namespace observability)",
            "Kustomization flux-system/apps (path ./apps/prod of GitRepository fleet)",
        ]
    );
}

#[test]
fn what_argo_cd_renders_is_named_without_secrets_of_its_addresses() {
    let text = "
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: shop, namespace: argocd}
spec:
  sources:
    - {repoURL: 'https://user:token@git.example.com/shop.git', path: overlays/prod, targetRevision: main}
    - {repoURL: https://charts.example.com, chart: redis, targetRevision: 19.0.1}
    - {repoURL: https://git.example.com/values.git, ref: values}
  destination: {namespace: shop}
---
apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {name: teams}
spec: {template: {spec: {source: {path: 'teams/{{path}}'}, destination: {namespace: argocd}}}}
---
{apiVersion: argoproj.io/v1alpha1, kind: Application, metadata: {name: bare}}
---
{apiVersion: argoproj.io/v1alpha1, kind: AppProject, metadata: {name: p}}
---
{apiVersion: app.k8s.io/v1beta1, kind: Application, metadata: {name: only-describes}, spec: {}}
";
    assert_eq!(
        named(text),
        [
            "Application argocd/shop (path overlays/prod of https://git.example.com/shop.git at main, \
             chart redis 19.0.1, into namespace shop)",
            "Application bare ()",
            "ApplicationSet teams (path teams/{{path}}, into namespace argocd)",
        ]
    );
}

#[test]
fn odd_objects_of_flux_and_argo_cd_are_named_too() {
    for spec in ["3", "[]", "{chart: 3}", "{chart: {spec: 3}}", "{source: 3, sources: [3, {}]}", "{path: {}}"]
    {
        for (version, kind) in [
            ("helm.toolkit.fluxcd.io/v2", "HelmRelease"),
            ("argoproj.io/v1alpha1", "Application"),
            ("argoproj.io/v1alpha1", "ApplicationSet"),
        ] {
            let text =
                format!("{{apiVersion: {version}, kind: {kind}, metadata: {{name: a}}, spec: {spec}}}");
            assert_eq!(objects(&text).renders.len(), 1, "{text}");
        }
    }
}

#[test]
fn a_file_of_kustomize_is_refused_with_the_command_to_render_it() {
    for kind in ["Kustomization", "Component"] {
        let text =
            format!("apiVersion: kustomize.config.k8s.io/v1beta1\nkind: {kind}\nresources: [a.yaml]\n");
        let found = faults(&text);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].to_string().contains("--render"), "{}", found[0]);
    }
}
