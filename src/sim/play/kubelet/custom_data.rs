//! Parses customData into the start configuration of a kubelet.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Value, json};

use super::fields;
use crate::sim::json::{is_true, members, text_or_empty};
use crate::sim::sensitive::Sensitive;

/// Path at which the node controller of AKS' images reads its configuration.
const CONFIG_PATH: &str = "/opt/azure/containers/aks-node-controller-config.json";

/// Start configuration of a kubelet.
#[derive(Debug, Clone)]
pub(crate) struct NodeConfig {
    pub(crate) labels: BTreeMap<String, String>,
    pub(crate) taints: Vec<Value>,
    pub(crate) max_pods: i64,
    /// Quantities as strings, by resource.
    pub(crate) kube_reserved: BTreeMap<String, String>,
    pub(crate) system_reserved: BTreeMap<String, String>,
    /// Hard eviction thresholds by signal.
    pub(crate) eviction_hard: BTreeMap<String, String>,
    pub(crate) token: Sensitive,
    pub(crate) kubernetes_version: String,
    pub(crate) has_gpu_driver: bool,
    /// Facts that must match the cluster, with the given values.
    pub(crate) claims: Vec<(Claim, String)>,
}

/// A fact about the cluster in a configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Claim {
    ApiServer,
    CaCertificate,
    Tenant,
    Subscription,
    ResourceGroup,
    Location,
    Network,
    Subnet,
}

impl Claim {
    /// Returns the field that contains it.
    pub(crate) const fn field(self) -> &'static str {
        match self {
            Self::ApiServer => "apiServerConfig.apiServerName",
            Self::CaCertificate => "kubernetesCaCert",
            Self::Tenant => "authConfig.tenantId",
            Self::Subscription => "authConfig.subscriptionId",
            Self::ResourceGroup => "clusterConfig.resourceGroup",
            Self::Location => "clusterConfig.location",
            Self::Network => "clusterConfig.clusterNetworkConfig.vnetName",
            Self::Subnet => "clusterConfig.clusterNetworkConfig.subnet",
        }
    }
}

/// The supported part of cloud-init; other keys belong to other modules.
#[derive(Deserialize)]
struct CloudConfig {
    #[serde(default)]
    write_files: Vec<WriteFile>,
}

#[derive(Deserialize)]
struct WriteFile {
    path: String,
    #[serde(default)]
    content: String,
    #[serde(default)]
    encoding: Option<String>,
}

impl NodeConfig {
    /// Reads the customData of a VM.
    ///
    /// # Errors
    /// The reason why a kubelet cannot be started with it.
    pub(crate) fn read(custom_data: &Sensitive) -> Result<Self, String> {
        let text = decode(custom_data.reveal(), "customData")?;
        if text.is_empty() {
            return Err("the VM has no customData".to_owned());
        }
        if !text.starts_with("#cloud-config") {
            return Err(
                "customData does not begin with `#cloud-config`: cloud-init reads nothing of it".to_owned()
            );
        }
        // The parser's message would repeat lines of the document, which contains the token.
        let cloud: CloudConfig = serde_saphyr::from_str(&text)
            .map_err(|_| "cloud-init cannot read customData: no YAML with `write_files`".to_owned())?;
        let file = cloud
            .write_files
            .iter()
            .find(|file| file.path == CONFIG_PATH)
            .ok_or_else(|| format!("customData writes no file `{CONFIG_PATH}`"))?;
        let content = match file.encoding.as_deref() {
            None | Some("" | "text/plain") => file.content.clone(),
            Some("b64" | "base64") => decode(&file.content, CONFIG_PATH)?,
            Some(other) => {
                return Err(format!(
                    "the simulated cloud-init knows no encoding `{other}` of `{CONFIG_PATH}`"
                ));
            }
        };
        let config: Value =
            serde_json::from_str(&content).map_err(|_| format!("`{CONFIG_PATH}` is no JSON"))?;
        let faults = fields::faults(&config);
        if !faults.is_empty() {
            return Err(faults.join("; "));
        }
        Self::of(&config)
    }

    fn of(config: &Value) -> Result<Self, String> {
        let version = text_or_empty(config, "/version");
        if version != "v1" {
            return Err(format!("the node controller reads version `v1` of AKSNodeConfig, not `{version}`"));
        }
        let bootstrap = config.pointer("/bootstrappingConfig").unwrap_or(&Value::Null);
        let method = text_or_empty(bootstrap, "/bootstrappingAuthMethod");
        if method != "BOOTSTRAPPING_AUTH_METHOD_BOOTSTRAP_TOKEN" {
            return Err(format!("the simulated kubelet joins by a bootstrap token only, not by `{method}`"));
        }
        let kubelet = Kubelet { config };
        let labels = kubelet.labels()?;
        Ok(Self {
            labels,
            taints: kubelet.taints()?,
            max_pods: kubelet.max_pods()?,
            kube_reserved: kubelet.amounts("--kube-reserved", "kubeReserved", '='),
            system_reserved: kubelet.amounts("--system-reserved", "systemReserved", '='),
            eviction_hard: kubelet.amounts("--eviction-hard", "evictionHard", '<'),
            token: Sensitive::new(text_or_empty(bootstrap, "/tlsBootstrappingToken")),
            kubernetes_version: text_or_empty(config, "/kubernetesVersion")
                .trim_start_matches('v')
                .to_owned(),
            has_gpu_driver: is_true(config, "/gpuConfig/enableNvidia")
                || is_true(config, "/gpuConfig/enableAmdGpu"),
            claims: claims(config),
        })
    }
}

fn decode(text: &str, what: &str) -> Result<String, String> {
    let plain: String = text.chars().filter(|letter| !letter.is_whitespace()).collect();
    let bytes = data_encoding::BASE64.decode(plain.as_bytes()).map_err(|_| format!("{what} is no base64"))?;
    String::from_utf8(bytes).map_err(|_| format!("{what} is no UTF-8"))
}

fn claims(config: &Value) -> Vec<(Claim, String)> {
    let must = [Claim::ApiServer, Claim::CaCertificate];
    [
        (Claim::ApiServer, "/apiServerConfig/apiServerName"),
        (Claim::CaCertificate, "/kubernetesCaCert"),
        (Claim::Tenant, "/authConfig/tenantId"),
        (Claim::Subscription, "/authConfig/subscriptionId"),
        (Claim::ResourceGroup, "/clusterConfig/resourceGroup"),
        (Claim::Location, "/clusterConfig/location"),
        (Claim::Network, "/clusterConfig/clusterNetworkConfig/vnetName"),
        (Claim::Subnet, "/clusterConfig/clusterNetworkConfig/subnet"),
    ]
    .into_iter()
    .filter_map(|(claim, pointer)| {
        let given = text_or_empty(config, pointer);
        (must.contains(&claim) || !given.is_empty()).then(|| (claim, given.to_owned()))
    })
    .collect()
}

/// A kubelet's flags and its optional configuration file.
struct Kubelet<'a> {
    config: &'a Value,
}

impl Kubelet<'_> {
    fn flag(&self, name: &str) -> Option<&str> {
        members(self.config, "/kubeletConfig/kubeletFlags")
            .find(|(flag, _)| *flag == name)
            .and_then(|(_, value)| value.as_str())
    }

    /// Returns a value of the configuration file, if the kubelet reads one.
    fn file(&self, name: &str) -> Option<&Value> {
        is_true(self.config, "/kubeletConfig/enableKubeletConfigFile")
            .then(|| self.config.pointer(&format!("/kubeletConfig/kubeletConfigFileConfig/{name}")))
            .flatten()
    }

    fn labels(&self) -> Result<BTreeMap<String, String>, String> {
        let listed = members(self.config, "/kubeletConfig/kubeletNodeLabels")
            .filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned())));
        let by_flag = self
            .flag("--node-labels")
            .unwrap_or_default()
            .split(',')
            .filter_map(|pair| pair.split_once('='))
            .map(|(key, value)| (key.to_owned(), value.to_owned()));
        let labels: BTreeMap<String, String> = listed.chain(by_flag).collect();
        let refused: Vec<&str> = labels.keys().map(String::as_str).filter(|key| !may_be_set(key)).collect();
        if !refused.is_empty() {
            return Err(format!(
                "the kubelet refuses labels of `kubernetes.io` and `k8s.io` that are not its own: {}",
                refused.join(", ")
            ));
        }
        let bad: Vec<&str> =
            labels.iter().filter(|(key, value)| !is_label(key, value)).map(|(key, _)| key.as_str()).collect();
        if !bad.is_empty() {
            return Err(format!("the kubelet cannot register with malformed labels: {}", bad.join(", ")));
        }
        Ok(labels)
    }

    fn taints(&self) -> Result<Vec<Value>, String> {
        self.flag("--register-with-taints")
            .unwrap_or_default()
            .split(',')
            .filter(|taint| !taint.is_empty())
            .map(|taint| {
                let fault = || {
                    format!("the kubelet cannot read the taint `{taint}`: it is written `key=value:Effect`")
                };
                let (key, effect) = taint.rsplit_once(':').ok_or_else(fault)?;
                let (key, value) = key.split_once('=').unwrap_or((key, ""));
                if key.is_empty() || !["NoSchedule", "PreferNoSchedule", "NoExecute"].contains(&effect) {
                    return Err(fault());
                }
                let mut object = json!({"key": key, "effect": effect});
                if !value.is_empty() {
                    object["value"] = json!(value);
                }
                Ok(object)
            })
            .collect()
    }

    fn max_pods(&self) -> Result<i64, String> {
        // The kubelet's default.
        const DEFAULT: i64 = 110;
        let by_file = self.file("maxPods").and_then(Value::as_i64);
        match self.flag("--max-pods") {
            Some(text) => text.parse().map_err(|_| format!("the kubelet cannot read `--max-pods={text}`")),
            None => Ok(by_file.unwrap_or(DEFAULT)),
        }
    }

    /// Returns the amounts of a flag, such as `cpu=100m,memory=1Gi`, or of the file.
    fn amounts(&self, flag: &str, name: &str, separator: char) -> BTreeMap<String, String> {
        if let Some(text) = self.flag(flag) {
            let pairs = text.split(',').filter_map(|pair| pair.split_once(separator));
            return pairs.map(|(key, value)| (key.trim().to_owned(), value.trim().to_owned())).collect();
        }
        let file = self.file(name).and_then(Value::as_object).into_iter().flatten();
        file.filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned()))).collect()
    }
}

/// Labels in Kubernetes' domains that a kubelet may set on its node.
const KUBELET_LABELS: [&str; 12] = [
    "kubernetes.io/hostname",
    "kubernetes.io/arch",
    "kubernetes.io/os",
    "beta.kubernetes.io/arch",
    "beta.kubernetes.io/os",
    "beta.kubernetes.io/instance-type",
    "node.kubernetes.io/instance-type",
    "topology.kubernetes.io/zone",
    "topology.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region",
    "kubernetes.io/role",
];

fn may_be_set(key: &str) -> bool {
    let domain = key.split_once('/').map_or("", |(domain, _)| domain);
    let within = |root: &str| domain == root || domain.ends_with(&format!(".{root}"));
    let is_kubelets = within("kubelet.kubernetes.io") || within("node.kubernetes.io");
    !(within("kubernetes.io") || within("k8s.io"))
        || is_kubelets
        || KUBELET_LABELS.contains(&key) && key != "kubernetes.io/role"
}

/// Returns whether a label is well formed.
fn is_label(key: &str, value: &str) -> bool {
    let name = key.rsplit('/').next().unwrap_or_default();
    let is_word = |text: &str| {
        let is_edge = |letter: char| letter.is_ascii_alphanumeric();
        text.len() <= 63
            && text.starts_with(is_edge)
            && text.ends_with(is_edge)
            && text.chars().all(|letter| is_edge(letter) || matches!(letter, '-' | '_' | '.'))
    };
    is_word(name) && key.matches('/').count() <= 1 && (value.is_empty() || is_word(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn custom_data(config: &Value) -> Sensitive {
        let file = data_encoding::BASE64.encode(config.to_string().as_bytes());
        let cloud = format!(
            "#cloud-config\nwrite_files:\n- path: {CONFIG_PATH}\n  permissions: \"0755\"\n  owner: root\n  content: !!binary |\n    {file}\n"
        );
        Sensitive::new(data_encoding::BASE64.encode(cloud.as_bytes()))
    }

    fn config() -> Value {
        json!({
            "version": "v1", "kubernetesVersion": "1.34.2",
            "bootstrappingConfig": {
                "bootstrappingAuthMethod": "BOOTSTRAPPING_AUTH_METHOD_BOOTSTRAP_TOKEN",
                "tlsBootstrappingToken": "abcdef.0123456789abcdef",
            },
            "kubeletConfig": {
                "kubeletFlags": {
                    "--max-pods": "30", "--kube-reserved": "cpu=100m,memory=1843Mi",
                    "--eviction-hard": "memory.available<750Mi",
                    "--register-with-taints": "karpenter.sh/unregistered:NoExecute,team=a:NoSchedule",
                },
                "kubeletNodeLabels": {"karpenter.sh/nodepool": "apps"},
            },
        })
    }

    #[test]
    fn labels_taints_and_reservations_come_out_of_custom_data() {
        let read = NodeConfig::read(&custom_data(&config())).expect("the configuration is whole");
        assert_eq!(read.labels["karpenter.sh/nodepool"], "apps");
        assert_eq!(
            read.taints,
            [
                json!({"key": "karpenter.sh/unregistered", "effect": "NoExecute"}),
                json!({"key": "team", "value": "a", "effect": "NoSchedule"}),
            ]
        );
        assert_eq!((read.max_pods, read.kube_reserved["memory"].as_str()), (30, "1843Mi"));
        assert_eq!(read.eviction_hard["memory.available"], "750Mi");
    }

    #[test]
    fn a_configuration_that_no_kubelet_starts_with_says_why() {
        let refused = |change: &dyn Fn(&mut Value)| {
            let mut config = config();
            change(&mut config);
            NodeConfig::read(&custom_data(&config)).expect_err("something is wrong with it")
        };
        assert_eq!(
            refused(&|config| config["version"] = json!("v2")),
            "the node controller reads version `v1` of AKSNodeConfig, not `v2`"
        );
        let label = refused(&|config| {
            config["kubeletConfig"]["kubeletNodeLabels"] = json!({"kubernetes.io/mine": "x"});
        });
        assert!(label.ends_with("that are not its own: kubernetes.io/mine"), "{label}");
        let taint = refused(&|config| {
            config["kubeletConfig"]["kubeletFlags"] = json!({"--register-with-taints": "a"});
        });
        assert!(taint.contains("cannot read the taint `a`"), "{taint}");
        assert_eq!(
            NodeConfig::read(&Sensitive::new("")).expect_err("there is nothing"),
            "the VM has no customData"
        );
    }

    #[test]
    fn no_reason_repeats_the_token() {
        let mut broken = config();
        broken["bootstrappingConfig"]["tlsBootstrappingTokn"] = json!("abcdef.0123456789abcdef");
        let why = NodeConfig::read(&custom_data(&broken)).expect_err("the field is unknown");
        assert!(!why.contains("0123456789abcdef"), "{why}");
    }
}
