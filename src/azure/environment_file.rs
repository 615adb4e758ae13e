#![expect(clippy::disallowed_methods, reason = "reads the file that names a cloud, and its certificate")]
//! The file that defines a cloud (`AZURE_ENVIRONMENT_FILEPATH`), with the field names of Azure's own SDKs.
//!
//! `caFile` and `clockSpeed` are nodeform's, for its simulator: rejected by name if the cloud is not on this machine.
//! Must never accept an address that is not https.

use std::path::Path;

use serde::Deserialize;
use url::Url;

use super::Cloud;
use super::cloud::is_loopback;
use super::limits::{CLOCK_SPEED_MAX, ENVIRONMENT_FILE_BYTES_MAX};

/// Fault of the file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EnvironmentFault {
    /// The path is relative to where nodeform was started.
    #[error("the path must be absolute")]
    NotAbsolute,
    /// It cannot be read.
    #[error("cannot read {what}: {why}")]
    Unreadable {
        /// The file.
        what: String,
        /// The system's error message.
        why: String,
    },
    /// It is not valid JSON of this form.
    #[error("not an environment in JSON: {0}")]
    NotJson(String),
    /// A field is missing.
    #[error("field `{0}` is missing")]
    Missing(&'static str),
    /// A field is not an allowed address.
    #[error("field `{field}`: `{value}` is no https address")]
    NotHttps {
        /// Its name.
        field: &'static str,
        /// Its value.
        value: String,
    },
    /// A field is set that only a simulator may have.
    #[error("field `{0}` is for a simulator on this machine only, and `{1}` is not on it")]
    NotOnLoopback(&'static str, String),
    /// The clock speed is invalid.
    #[error("field `clockSpeed` must be a whole number from 1 to {CLOCK_SPEED_MAX}")]
    ClockSpeed,
}

/// The fields that are read; Azure's files have twenty more, which are not needed.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct File {
    name: Option<String>,
    resource_manager_endpoint: Option<String>,
    active_directory_endpoint: Option<String>,
    service_management_endpoint: Option<String>,
    token_audience: Option<String>,
    #[serde(rename = "containerRegistryDNSSuffix")]
    container_registry_dns_suffix: Option<String>,
    ca_file: Option<String>,
    clock_speed: Option<serde_json::Number>,
}

/// Reads the file and the certificate that it names.
pub(super) fn read(path: &str) -> Result<Cloud, Vec<EnvironmentFault>> {
    if !Path::new(path).is_absolute() {
        return Err(vec![EnvironmentFault::NotAbsolute]);
    }
    let text = text(path, "the file").map_err(|fault| vec![fault])?;
    parse(&text, &|ca_file| self::text(ca_file, &format!("caFile `{ca_file}`")))
}

fn text(path: &str, what: &str) -> Result<String, EnvironmentFault> {
    let unreadable = |why: String| EnvironmentFault::Unreadable { what: what.to_owned(), why };
    let size = Path::new(path).metadata().map_err(|error| unreadable(error.to_string()))?.len();
    if size > ENVIRONMENT_FILE_BYTES_MAX {
        return Err(unreadable(format!("{size} bytes, more than {ENVIRONMENT_FILE_BYTES_MAX}")));
    }
    std::fs::read_to_string(path).map_err(|error| unreadable(error.to_string()))
}

/// Reads the text of a certificate.
type ReadText<'a> = &'a dyn Fn(&str) -> Result<String, EnvironmentFault>;

/// Parses the text of the file.
fn parse(text: &str, read: ReadText<'_>) -> Result<Cloud, Vec<EnvironmentFault>> {
    let file: File = serde_json::from_str(text.trim_start_matches('\u{feff}'))
        .map_err(|error| vec![EnvironmentFault::NotJson(error.to_string())])?;
    let mut faults = Vec::new();
    let resource_manager = address("resourceManagerEndpoint", file.resource_manager_endpoint, &mut faults);
    let authority = address("activeDirectoryEndpoint", file.active_directory_endpoint, &mut faults);
    let clock_speed = file.clock_speed.as_ref().map(|number| {
        let speed = number.as_u64().and_then(|speed| u32::try_from(speed).ok());
        speed.filter(|speed| (1..=CLOCK_SPEED_MAX).contains(speed)).unwrap_or_else(|| {
            faults.push(EnvironmentFault::ClockSpeed);
            1
        })
    });
    let outside = [&resource_manager, &authority].into_iter().flatten().find(|url| !is_loopback(url));
    if let Some(outside) = outside {
        let fields = [("caFile", file.ca_file.is_some()), ("clockSpeed", clock_speed.is_some())];
        let set = fields.iter().filter(|(_, is_set)| *is_set);
        faults.extend(set.map(|(field, _)| EnvironmentFault::NotOnLoopback(field, outside.to_string())));
    }
    let root_certificate = match (&outside, &file.ca_file) {
        (None, Some(path)) => read(path).map_err(|fault| faults.push(fault)).ok(),
        (Some(_), _) | (_, None) => None,
    };
    match (resource_manager, authority) {
        (Some(resource_manager), Some(authority)) if faults.is_empty() => {
            let audience = file.token_audience.or(file.service_management_endpoint);
            let audience = audience.unwrap_or_else(|| resource_manager.to_string());
            Ok(Cloud {
                name: file.name.unwrap_or_else(|| "custom".to_owned()),
                resource_manager,
                authority,
                audience: audience.trim_end_matches('/').to_owned(),
                registry_suffix: file.container_registry_dns_suffix,
                root_certificate,
                clock_speed: clock_speed.unwrap_or(1),
            })
        }
        (_, _) => Err(faults),
    }
}

/// Returns an allowed address: https, with a host, without a user.
fn address(field: &'static str, value: Option<String>, faults: &mut Vec<EnvironmentFault>) -> Option<Url> {
    let Some(value) = value else {
        faults.push(EnvironmentFault::Missing(field));
        return None;
    };
    let url = Url::parse(&value).ok().filter(|url| {
        url.scheme() == "https" && url.has_host() && url.username().is_empty() && url.password().is_none()
    });
    if url.is_none() {
        faults.push(EnvironmentFault::NotHttps { field, value });
    }
    url
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<Cloud, Vec<String>> {
        let read = |_: &str| Ok("PEM".to_owned());
        parse(text, &read).map_err(|faults| faults.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn a_file_of_azures_sdks_is_read_with_its_own_field_names() {
        let text = r#"{"name": "AzureStackCloud", "managementPortalURL": "https://portal.local.test/",
            "resourceManagerEndpoint": "https://management.local.test/", "activeDirectoryEndpoint": "https://login.local.test/",
            "serviceManagementEndpoint": "https://audience.local.test/", "containerRegistryDNSSuffix": "cr.local.test"}"#;
        let cloud = parsed(text).unwrap();
        assert_eq!(cloud.scope(), "https://audience.local.test/.default");
        assert_eq!(cloud.registry_suffix.as_deref(), Some("cr.local.test"));
        assert_eq!(cloud.clock_speed, 1);
    }

    #[test]
    fn a_simulator_on_this_machine_may_bring_its_certificate_and_clock() {
        let text = r#"{"resourceManagerEndpoint": "https://127.0.0.1:1/", "activeDirectoryEndpoint": "https://[::1]:2/",
            "caFile": "/ca.pem", "clockSpeed": 60}"#;
        let cloud = parsed(text).unwrap();
        assert_eq!((cloud.root_certificate.as_deref(), cloud.clock_speed), (Some("PEM"), 60));
        assert!(cloud.is_loopback());
    }

    #[test]
    fn elsewhere_both_are_refused_by_name_with_all_other_faults() {
        let text = r#"{"resourceManagerEndpoint": "https://127.0.0.1.evil.test/", "activeDirectoryEndpoint": "http://localhost/",
            "caFile": "/ca.pem", "clockSpeed": 0.5}"#;
        assert_eq!(
            parsed(text).unwrap_err(),
            [
                "field `activeDirectoryEndpoint`: `http://localhost/` is no https address",
                "field `clockSpeed` must be a whole number from 1 to 100000",
                "field `caFile` is for a simulator on this machine only, and `https://127.0.0.1.evil.test/` is not on it",
                "field `clockSpeed` is for a simulator on this machine only, and `https://127.0.0.1.evil.test/` is not on it",
            ]
        );
        assert_eq!(parsed("{}").unwrap_err().len(), 2);
        assert!(parsed("<html>").unwrap_err()[0].starts_with("not an environment in JSON"));
    }
}
