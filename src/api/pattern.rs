//! Named regular expressions and limits of the wire types.
//!
//! Must only contain what a schema says; nothing is evaluated here.

/// A label key or taint key: an optional DNS prefix and a slash, then a name.
pub const QUALIFIED_NAME: &str = r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*(\/))?([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$";

/// A label value; may be empty.
pub const LABEL_VALUE: &str = "^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$";

/// A Kubernetes quantity such as `500m`, `16Gi` or `1e3`.
pub const QUANTITY: &str = r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$";

/// A size of a file: digits and one unit.
pub const FILE_SIZE: &str = r"^\d+(E|P|T|G|M|K|Ei|Pi|Ti|Gi|Mi|Ki)$";

/// A duration in hours, minutes and seconds.
pub const DURATION: &str = "^([0-9]+(s|m|h))+$";

/// A duration in hours, minutes and seconds, or the word `Never`.
pub const DURATION_OR_NEVER: &str = "^(([0-9]+(s|m|h))+|Never)$";

/// A duration in hours and minutes: cron has no seconds.
pub const WINDOW_DURATION: &str = "^((([0-9]+(h|m))|([0-9]+h[0-9]+m))(0s)?)$";

/// A cron schedule of five fields, or one of cron's words.
pub const SCHEDULE: &str =
    r"^(@(annually|yearly|monthly|weekly|daily|midnight|hourly))|((.+)\s(.+)\s(.+)\s(.+)\s(.+))$";

/// A count of nodes, or a percentage of them.
pub const NODES_OR_PERCENT: &str = "^((100|[0-9]{1,2})%|[0-9]+)$";

/// A price in dollars.
pub const PRICE: &str = r"^\d+(\.\d+)?$";

/// A price adjustment, in dollars or as a percentage.
pub const PRICE_ADJUSTMENT: &str =
    r"^(([+-]{1}(\d*\.?\d+))|(\+{1}\d*\.?\d+%)|(^(-\d{1,2}(\.\d+)?%)$)|(-100%))$";

/// The type of a condition.
pub const CONDITION_TYPE: &str = r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$";

/// The reason of a condition.
pub const CONDITION_REASON: &str = "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$";

/// The reason of a NodeClaim's condition, which may be empty.
pub const CLAIM_CONDITION_REASON: &str = "^([A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?|)$";

/// The full ARM id of a subnet, in any case.
pub const SUBNET_ID: &str = r"(?i)^\/subscriptions\/[^\/]+\/resourceGroups\/[a-zA-Z0-9_\-().]{0,89}[a-zA-Z0-9_\-()]\/providers\/Microsoft\.Network\/virtualNetworks\/[^\/]+\/subnets\/[^\/]+$";

/// A DNS zone, or `.` for all names.
pub const DNS_ZONE: &str = r"^(\.|[A-Za-z0-9]([A-Za-z0-9_-]{0,61}[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9_-]{0,61}[A-Za-z0-9])?)*\.?)$";

/// First and last port with one space between them.
pub const PORT_RANGE: &str = r"^\d+ \d+$";

/// US dollars as a decimal string with at most six decimals: money is counted in millionths of a dollar.
pub const DOLLARS: &str = r"^[0-9]{1,9}(\.[0-9]{1,6})?$";

/// A location as Azure's programs name it: lower case, no spaces.
pub const LOCATION: &str = "^[a-z0-9]+$";

/// The name of an AKS cluster.
pub const CLUSTER_NAME: &str = "^[a-zA-Z0-9]([-_a-zA-Z0-9]{0,61}[a-zA-Z0-9])?$";

/// The name of a resource group.
pub const RESOURCE_GROUP: &str = r"^[-\w().]{0,89}[-\w()]$";

/// A public SSH key in the format of `authorized_keys`, without options: Ed25519, or ECDSA on P-256.
pub const SSH_PUBLIC_KEY: &str = r"^(ssh-ed25519|ecdsa-sha2-nistp256) [A-Za-z0-9+/]+={0,2}( [^\r\n]*)?$";

/// A VM size as ARM names it, for example `Standard_D4s_v5`.
pub const SIZE: &str = "^[A-Z][A-Za-z]+_[A-Za-z0-9_-]+$";

/// A family of sizes with its version, for example `Dsv5` or `NCadsA100v4`.
pub const FAMILY: &str = "^[A-Z][A-Za-z0-9_]*$";

/// A calendar day such as `2027-02-28`.
pub const DAY: &str = "^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$";

/// A duration in days, hours and minutes.
pub const DAYS_DURATION: &str = "^([0-9]+(d|h|m))+$";

/// A window: a cron schedule of five fields, a slash, its duration, and a time zone.
pub const WINDOW: &str = r"^\S+ \S+ \S+ \S+ [^\s/]+/([0-9]+(h|m))+( [A-Za-z0-9_+/-]+)?$";

/// A time zone of the IANA list, for example `Europe/Berlin`.
pub const TIME_ZONE: &str = "^[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+)*$";

/// The address of a Git repository, without a password.
pub const REPOSITORY: &str =
    r"^(https://[^@\s]+|http://(localhost|127(\.[0-9]{1,3}){3}|\[::1\])(:[0-9]{1,5})?/[^@\s]+)$";

/// An API group: no slash, so no version.
pub const GROUP: &str = "^[^/]*$";

/// The word for no limit.
pub const UNLIMITED: &str = "^unlimited$";

/// The word for a separate host for each.
pub const EACH: &str = "^each$";

/// The beginning of an ARM id.
pub const SUBSCRIPTION_ID: &str = "^/subscriptions/";

/// A digest: SHA-256 in hexadecimal digits.
pub const DIGEST: &str = "^sha256:[0-9a-f]{64}$";
