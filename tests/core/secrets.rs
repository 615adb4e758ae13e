//! A secret that stands in an input comes out nowhere, wherever in it it stands.

use nodeform::manifests::Source;
use nodeform::offline::{self, Laid, Request};
use nodeform::plan;
use nodeform::render::{Detail, PlanView, plain_text, plan_text};
use nodeform::snapshot::file;

/// What stands for a secret.
const SECRET: &str = "s3cr3t-m4rk3r";

/// Objects with the secret in every place that planning does not read. `BROKEN` stands where a fault is made.
const INPUT: &str = r#"
apiVersion: v1
kind: Secret
metadata: {name: one, annotations: {note: SECRET}}
data: {password: SECRET}
stringData: {token: SECRET}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: one}
data: {config: "password=SECRET"}
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  annotations:
    kubectl.kubernetes.io/last-applied-configuration: '{"env":"SECRET"}'
    example.com/note: SECRET
  managedFields: [{manager: SECRET, fieldsV1: {"f:SECRET": {}}}]
spec:
  replicas: BROKEN
  selector: {matchLabels: {app: web}}
  template:
    metadata:
      labels: {app: web}
      annotations: {vault.hashicorp.com/template: SECRET}
    spec:
      serviceAccountName: SECRET
      imagePullSecrets: [{name: SECRET}]
      hostAliases: [{ip: 10.0.0.1, hostnames: [SECRET]}]
      dnsConfig: {searches: [SECRET]}
      initContainers:
        - {name: init, image: "registry/SECRET", command: [sh, -c, SECRET], env: [{name: A, value: SECRET}]}
      containers:
        - name: web
          image: registry/SECRET
          args: ["--token=SECRET"]
          command: [SECRET]
          workingDir: /SECRET
          env:
            - {name: PASSWORD, value: SECRET}
            - {name: SECRET, value: 5}
          envFrom: [{secretRef: {name: SECRET}}]
          livenessProbe: {exec: {command: [SECRET]}, httpGet: {httpHeaders: [{name: a, value: SECRET}]}}
          lifecycle: {preStop: {exec: {command: [SECRET]}}}
          volumeMounts: [{name: v, mountPath: /SECRET, subPath: SECRET}]
          resources: {requests: {cpu: 500m, memory: 1Gi}}
      volumes:
        - {name: a, configMap: {name: SECRET}}
        - {name: b, secret: {secretName: SECRET}}
        - {name: c, csi: {driver: x, volumeAttributes: {key: SECRET}}}
        - {name: d, hostPath: {path: /SECRET}}
        - {name: e, downwardAPI: {items: [{path: SECRET}]}}
        - {name: f, azureFile: {secretName: SECRET, shareName: SECRET}}
status:
  conditions: [{type: Available, status: "False", reason: SECRET, message: SECRET}]
---
apiVersion: v1
kind: Pod
metadata:
  name: bare
  annotations: {example.com/note: SECRET}
spec:
  containers:
    - {name: a, image: SECRET, env: [{name: A, value: SECRET}], resources: {requests: {cpu: 100m}}}
status:
  phase: Pending
  message: SECRET
  conditions: [{type: PodScheduled, status: "False", message: SECRET}]
  containerStatuses: [{name: a, state: {waiting: {message: SECRET}}, image: SECRET}]
---
apiVersion: v1
kind: Node
metadata:
  name: node-1
  annotations: {cluster.example.com/token: SECRET, csi.volume.kubernetes.io/nodeid: SECRET}
  labels: {kubernetes.io/hostname: node-1, node.kubernetes.io/instance-type: Standard_D4s_v5}
spec: {providerID: "azure:///x", configSource: {configMap: {name: SECRET}}}
status:
  allocatable: {cpu: "4", memory: 16Gi, pods: "110"}
  conditions: [{type: Ready, status: "True", message: SECRET}]
  nodeInfo: {machineID: SECRET}
  images: [{names: [SECRET]}]
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata:
  name: default
  annotations: {kubectl.kubernetes.io/last-applied-configuration: SECRET}
  managedFields: [{manager: SECRET}]
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.azure.com, kind: AKSNodeClass, name: default}
      requirements: [{key: kubernetes.io/arch, operator: In, values: [amd64]}]
status:
  conditions:
    - {type: Ready, status: "False", reason: Wrong, message: SECRET, lastTransitionTime: "2026-11-01T00:00:00Z"}
---
apiVersion: karpenter.azure.com/v1beta1
kind: AKSNodeClass
metadata: {name: default, annotations: {example.com/note: SECRET}}
---
apiVersion: example.com/v1
kind: Widget
metadata: {name: widget, annotations: {note: SECRET}}
spec:
  template: {spec: {containers: [{image: SECRET, env: [{name: A, value: SECRET}]}]}}
---
apiVersion: argoproj.io/v1alpha1
kind: Rollout
metadata: {name: rollout}
spec: {template: {spec: {containers: [{image: SECRET, args: [SECRET]}]}}}
"#;

fn input(replicas: &str) -> String {
    INPUT.replace("SECRET", SECRET).replace("BROKEN", replicas)
}

fn request(manifests: &str) -> Request {
    Request { sources: vec![Source::new("in.yaml", manifests)], ..Request::default() }
}

fn hides(what: &str, text: &str) {
    assert!(!text.is_empty(), "{what} says nothing");
    let line = text.lines().find(|line| line.contains(SECRET));
    assert_eq!(line, None, "{what} shows the secret");
}

#[test]
fn a_secret_comes_out_of_no_plan_and_no_snapshot() {
    let snapshot = file::write(&offline::snapshot(request(&input("2"))).expect("the input is right"));
    hides("the snapshot", &snapshot);
    let laid = Laid { snapshot: Source::new("s", snapshot), ..Laid::default() };
    for request in [request(&input("2")), Request { laid: Some(laid), ..Request::default() }] {
        let world = offline::world(request).expect("the input is right");
        // What stays in memory, all of it: explanations are made of nothing else.
        hides("memory", &format!("{world:?}"));
        let planned = offline::plan(&world).expect("the judge accepts the plan");
        hides("the solution", &format!("{:?}", planned.solution));
        hides("the plan's file", &plan::write(planned.plan.plan()));
        let view = PlanView::new(planned.plan.plan(), None);
        hides("the plan", &plain_text(&plan_text(&view, Detail::All)));
    }
}

#[test]
fn no_fault_quotes_a_secret() {
    // A number where text is needed, text where a list is needed: in places that are not read, nobody looks.
    for (from, to) in
        [("value: SECRET", "value: {SECRET: 1}"), ("args: [\"--token=SECRET\"]", "args: SECRET")]
    {
        let broken = INPUT.replace(from, to).replace("SECRET", SECRET).replace("BROKEN", "many");
        let problems = offline::world(request(&broken)).expect_err("the replicas are wrong");
        let said: String = problems.iter().map(|problem| format!("{problem}\n")).collect();
        assert!(said.contains("spec.replicas"), "{said}");
        hides("a fault", &said);
    }
    let broken =
        input("2") + "---\napiVersion: v1\nkind: Secret\ndata: {a: s3cr3t-m4rk3r, a: s3cr3t-m4rk3r\n";
    let problems = offline::world(request(&broken)).expect_err("the YAML is wrong");
    hides("a fault of YAML", &problems.iter().map(|problem| format!("{problem}\n")).collect::<String>());
    let broken = format!("{{\"kind\": \"Secret\", \"data\": {{\"a\": \"{SECRET}\" \"b\": {SECRET}}}}}");
    let problems = offline::world(request(&broken)).expect_err("the JSON is wrong");
    hides("a fault of JSON", &problems.iter().map(|problem| format!("{problem}\n")).collect::<String>());
}
