//! A node joins the simulator by nothing but what this part builds and sends: an independent reader of all of it.
#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test fails by `unwrap`, starts a program and reads its files"
)]

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use nodeform::api::aks_node_class::AksNodeClassSpec;
use nodeform::arm::answer::{
    ImageVersion, LoadBalancer, Machine as SeenMachine, ManagedCluster, SecurityGroup, Subnet as SeenSubnet,
    VirtualNetwork, read,
};
use nodeform::arm::{
    Api, BillingExtension, BuyAs, Image, Machine, NetworkInterface, OsDisk, OsLogin, Placement, Request,
    ResourceId, SecurityProfile, Tags, extension, machine_body, network_interface, permission,
    request::CommunityImage,
};
use nodeform::azure::{Azure, Settings};
use nodeform::bootstrap::{
    Arch, BootstrapToken, Cluster, Gpu, Network, NetworkPlugin, Node, Subnet, Template,
};
use nodeform::model::{Effect, SecretJson, Taint};
use serde_json::Value;

const SIMULATOR: &str = env!("CARGO_BIN_EXE_nodeform-azure-sim");
const WORLD: &str =
    "apiVersion: nodeform.dev/v1alpha1\nkind: SimulatedAzure\nspec: {location: southcentralus}\n";
const PATIENCE: Duration = Duration::from_secs(1800);

/// The program, its announcement, and what a client of its Kubernetes needs.
struct Simulator {
    child: Child,
    announced: Value,
    kubeconfig: Value,
    record: String,
}

impl Simulator {
    fn start() -> Self {
        let record = format!("{}/{}-simulated.jsonl", env!("CARGO_TARGET_TMPDIR"), std::process::id());
        let world = format!("{}/{}-world", env!("CARGO_TARGET_TMPDIR"), std::process::id());
        std::fs::create_dir_all(&world).unwrap();
        std::fs::write(format!("{world}/azure.yaml"), WORLD).unwrap();
        let mut child = Command::new(SIMULATOR)
            .args(["--speed", "120", "--record", &record, "--world", &world])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let announced: Value = serde_json::from_str(&line).unwrap();
        let kubeconfig = std::fs::read_to_string(announced["kubeconfig"].as_str().unwrap()).unwrap();
        Self { child, announced, kubeconfig: serde_json::from_str(&kubeconfig).unwrap(), record }
    }

    fn env(&self, name: &str) -> Option<String> {
        self.announced["env"][name].as_str().map(str::to_owned)
    }

    fn azure(&self) -> Azure {
        let find = |name: &str| self.env(name);
        Azure::new(Settings::from_environment(&find, "test".to_owned()).unwrap()).unwrap()
    }

    fn cluster(&self) -> &Value {
        &self.kubeconfig["clusters"][0]["cluster"]
    }

    /// A client of its Kubernetes and its own addresses.
    async fn kube(&self, method: reqwest::Method, path: &str, body: Option<&SecretJson>) -> (u16, Value) {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let environment =
            std::fs::read_to_string(self.announced["environmentFile"].as_str().unwrap()).unwrap();
        let environment: Value = serde_json::from_str(&environment).unwrap();
        let pem = std::fs::read(environment["caFile"].as_str().unwrap()).unwrap();
        let client = reqwest::Client::builder()
            .tls_certs_only([reqwest::Certificate::from_pem(&pem).unwrap()])
            .build()
            .unwrap();
        let url = format!("{}{path}", self.cluster()["server"].as_str().unwrap());
        let token = self.kubeconfig["users"][0]["user"]["token"].as_str().unwrap();
        let mut request =
            client.request(method, url).bearer_auth(token).header("content-type", "application/json");
        if let Some(body) = body {
            request = request.body(body.reveal().reveal().to_owned());
        }
        let answer = request.send().await.unwrap();
        let status = answer.status().as_u16();
        (status, serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap_or_default())
    }

    async fn node(&self) -> Option<Value> {
        let (_, nodes) = self.kube(reqwest::Method::GET, "/api/v1/nodes", None).await;
        nodes["items"].as_array()?.iter().find(|node| node["metadata"]["name"] == "aks-apps-1").cloned()
    }
}

impl Drop for Simulator {
    fn drop(&mut self) {
        // It exits when its standard input closes.
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

/// What the cluster and its resource group say, read as `observe` would.
struct Seen {
    cluster: ManagedCluster,
    group: ResourceId,
    subnet: SeenSubnet,
    vnet_guid: Option<String>,
    security_group: SecurityGroup,
    balancers: Vec<LoadBalancer>,
    image: String,
}

async fn observe(simulator: &Simulator, azure: &Azure) -> Seen {
    let subscription = simulator.env("AZURE_SUBSCRIPTION_ID").unwrap();
    let group = ResourceId::of_group(&subscription, &simulator.env("ARM_RESOURCE_GROUP").unwrap()).unwrap();
    let id = group
        .in_group("Microsoft.ContainerService/managedClusters", &simulator.env("CLUSTER_NAME").unwrap())
        .unwrap();
    let cluster = azure.managed_cluster(&id).await.unwrap();
    let nodes = ResourceId::of_group(&subscription, cluster.node_resource_group.as_deref().unwrap()).unwrap();
    let networks = azure.list(&Request::list_virtual_networks(&nodes)).await.unwrap();
    let network: VirtualNetwork = read(networks[0].clone()).unwrap();
    let subnet =
        read(azure.get(&Request::read(&network.subnets[0].id, Api::Network)).await.unwrap()).unwrap();
    let groups = azure.list(&Request::list_security_groups(&nodes)).await.unwrap();
    let balancers = azure.list(&Request::list_load_balancers(&nodes)).await.unwrap();
    let permissions = azure.list(&Request::list_permissions(&nodes)).await.unwrap();
    let permissions: Vec<_> = permissions.into_iter().map(|item| read(item).unwrap()).collect();
    assert!(permission::missing(&permissions, permission::NEEDED).is_empty());
    assert!(!azure.list(&Request::list_skus(&subscription, &cluster.location)).await.unwrap().is_empty());
    assert!(!azure.list(&Request::list_usages(&subscription, &cluster.location)).await.unwrap().is_empty());
    let definition = CommunityImage {
        gallery: "AKSUbuntu-38d80f77-467a-481f-a8d4-09b6d4220bd2",
        definition: "2404gen2containerd",
    };
    let versions = azure
        .list(&Request::list_image_versions(&subscription, &cluster.location, &definition))
        .await
        .unwrap();
    let versions: Vec<ImageVersion> = versions.into_iter().map(|item| read(item).unwrap()).collect();
    let newest = versions.iter().max_by_key(|version| version.published).unwrap();
    let image = format!(
        "/CommunityGalleries/{}/images/{}/versions/{}",
        definition.gallery, definition.definition, newest.name
    );
    Seen {
        cluster,
        group: nodes,
        subnet,
        vnet_guid: network.resource_guid,
        security_group: read(groups[0].clone()).unwrap(),
        balancers: balancers.into_iter().map(|item| read(item).unwrap()).collect(),
        image,
    }
}

fn facts(simulator: &Simulator, seen: &Seen) -> Cluster {
    let vnet = seen.subnet.id.parent().unwrap();
    let version = seen.cluster.kubernetes_version.clone().unwrap();
    Cluster {
        tenant: simulator.env("AZURE_TENANT_ID").unwrap(),
        subscription: seen.group.subscription().to_owned(),
        node_resource_group: seen.group.name().to_owned(),
        location: seen.cluster.location.clone(),
        api_server: seen.cluster.fqdn.clone().unwrap(),
        ca_certificate: simulator.cluster()["certificate-authority-data"].as_str().unwrap().to_owned(),
        kubelet_identity: seen.cluster.kubelet_identity.clone().unwrap().client_id.unwrap(),
        dns_service_ip: seen.cluster.network.dns_service_ip.clone().unwrap(),
        kubernetes_version: version.parse().unwrap(),
        network: Network {
            plugin: NetworkPlugin::AzureOverlay,
            is_cilium: seen.cluster.network.network_dataplane.as_deref() == Some("cilium"),
            vnet_guid: seen.vnet_guid.clone(),
            subnet: Subnet {
                vnet: vnet.name().to_owned(),
                vnet_resource_group: vnet.resource_group().unwrap().to_owned(),
                name: seen.subnet.id.name().to_owned(),
            },
            security_group: seen.security_group.name.clone(),
            route_table: seen.security_group.name.replace("-nsg", "-routetable"),
        },
        registry_suffix: None,
    }
}

fn map(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

fn node() -> Node {
    Node {
        size: "Standard_D2s_v3".to_owned(),
        arch: Arch::Amd64,
        labels: map(&[("karpenter.sh/nodepool", "apps"), ("team", "a")]),
        taints: vec![Taint::new("karpenter.sh/unregistered", "", Effect::NoExecute)],
        max_pods: 42,
        kube_reserved: map(&[("cpu", "100m"), ("memory", "1843Mi")]),
        system_reserved: BTreeMap::new(),
        eviction_hard: map(&[("memory.available", "750Mi")]),
        gpu: Gpu::None,
        image_family: "Ubuntu2404".to_owned(),
        has_local_dns: false,
        admin_user: "azureuser".to_owned(),
    }
}

/// A node's resources, and the requests that make them, in their order.
struct Wanted {
    nic_id: ResourceId,
    vm_id: ResourceId,
    machine: Machine,
    requests: [Request; 3],
}

fn wanted(simulator: &Simulator, seen: &Seen, token: &BootstrapToken) -> Wanted {
    let template = Template::build(&facts(simulator, seen), &node(), &AksNodeClassSpec::default()).unwrap();
    let tags = Tags::layered(&[&map(&[("karpenter.sh_nodepool", "apps"), ("compute.aks.billing", "linux")])])
        .unwrap();
    let name = "aks-apps-1".to_owned();
    let location = seen.cluster.location.clone();
    let nic_id = seen.group.in_group("Microsoft.Network/networkInterfaces", &name).unwrap();
    let vm_id = seen.group.in_group("Microsoft.Compute/virtualMachines", &name).unwrap();
    let nic = NetworkInterface {
        name: name.clone(),
        location: location.clone(),
        tags: tags.clone(),
        subnet: seen.subnet.id.clone(),
        security_group: None,
        backend_pools: seen.balancers.iter().flat_map(LoadBalancer::pools_of_nodes).collect(),
        accelerated_networking: true,
        pod_addresses: 0,
    };
    assert!(!nic.backend_pools.is_empty());
    let machine = Machine {
        name,
        location: location.clone(),
        zone: Some("1".to_owned()),
        tags: tags.clone(),
        identities: seen
            .cluster
            .kubelet_identity
            .iter()
            .filter_map(|id| id.resource_id.clone()?.parse().ok())
            .collect(),
        size: node().size,
        buy_as: BuyAs::OnDemand,
        image: Image::Community(seen.image.clone()),
        os_disk: OsDisk { size_gb: 128, placement: Placement::Managed, encryption_set: None },
        network_interface: nic_id.clone(),
        login: OsLogin { user: "azureuser".to_owned(), ssh_public_key: "ssh-rsa AAAA a".to_owned() },
        custom_data: template.custom_data(token),
        security: SecurityProfile::default(),
        ultra_ssd: None,
    };
    let billing = BillingExtension { location, tags };
    let requests = [
        Request::put_network_interface(&nic_id, network_interface::build(&nic)),
        Request::create_machine(&vm_id, machine_body::build(&machine)),
        Request::put_extension(
            &vm_id.child("extensions", extension::BILLING_EXTENSION).unwrap(),
            extension::build(&billing),
        ),
    ];
    Wanted { nic_id, vm_id, machine, requests }
}

#[tokio::test]
async fn a_node_joins_by_what_is_built_here_and_goes_without_a_trace() {
    let simulator = Simulator::start();
    let azure = simulator.azure();
    let seen = observe(&simulator, &azure).await;
    let token =
        BootstrapToken::from_random(&(0..64).map(|n: u8| n.wrapping_mul(91)).collect::<Vec<u8>>()).unwrap();
    let object = token.object(&BTreeMap::new(), jiff::Timestamp::now());
    assert_eq!(
        simulator
            .kube(reqwest::Method::POST, "/api/v1/namespaces/kube-system/secrets", Some(&object))
            .await
            .0,
        201
    );

    let Wanted { nic_id, vm_id, machine, requests } = wanted(&simulator, &seen, &token);
    for request in &requests {
        let operation = azure.begin(request).await.unwrap();
        azure.finish(&operation, PATIENCE).await.unwrap().unwrap();
    }
    let again =
        azure.begin(&Request::create_machine(&vm_id, machine_body::build(&machine))).await.unwrap_err();
    assert!(again.to_string().contains("it exists already (HTTP 412"), "{again}");

    let joined = wait_for_the_node(&simulator).await;
    assert_eq!(joined["spec"]["providerID"], vm_id.provider_id());
    assert_eq!(joined["metadata"]["labels"]["team"], "a");
    assert_eq!(joined["metadata"]["labels"]["kubernetes.azure.com/podnetwork-type"], "overlay");
    assert_eq!(joined["status"]["capacity"]["pods"], "42");
    assert!(joined["spec"]["taints"].to_string().contains("karpenter.sh/unregistered"), "{}", joined["spec"]);

    let listed = azure.list(&Request::list_machines(&seen.group)).await.unwrap();
    let found: SeenMachine =
        read(listed.into_iter().find(|vm| vm["name"] == *machine.name).unwrap()).unwrap();
    assert_eq!((found.image, found.network_interfaces), (Some(machine.image), vec![nic_id.clone()]));
    let operation = azure.begin(&Request::delete_machine(&vm_id)).await.unwrap();
    assert_eq!(azure.finish(&operation, PATIENCE).await.unwrap(), None);
    assert_eq!(azure.get_optional(&Request::read(&nic_id, Api::Network)).await.unwrap(), None);

    let record = Path::new(&simulator.record);
    assert!(std::fs::read_to_string(record).unwrap().lines().count() > 12);
    crate::specifications::judge(record);
}

/// The node, once it is Ready; at 120 times the speed of time that is some seconds.
async fn wait_for_the_node(simulator: &Simulator) -> Value {
    for _ in 0..300 {
        if let Some(node) = simulator.node().await
            && node["status"]["conditions"].to_string().contains(r#""status":"True","type":"Ready""#)
        {
            return node;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let (_, state) = simulator.kube(reqwest::Method::GET, "/sim/state", None).await;
    panic!("the node did not join: {state:#}");
}
