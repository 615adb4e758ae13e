//! Tests of choosing the way of signing in by the environment.

use super::*;

fn chosen(settings: &[(&str, &str)]) -> String {
    let find =
        |name: &str| settings.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
    match SignIn::from_environment(&find) {
        Ok(sign_in) => format!("{sign_in:?}"),
        Err(fault) => format!("error: {fault}"),
    }
}

#[test]
fn the_first_way_that_the_environment_asks_for_is_taken() {
    let tenant = ("AZURE_TENANT_ID", "t");
    let client = ("AZURE_CLIENT_ID", "c");
    let secret = ("AZURE_CLIENT_SECRET", "canary-secret");
    let file = ("AZURE_FEDERATED_TOKEN_FILE", "/var/token");
    assert_eq!(
        chosen(&[tenant, client, secret, file]),
        r#"WorkloadIdentity { tenant: "t", client: "c", token_file: "/var/token" }"#
    );
    assert_eq!(
        chosen(&[tenant, client, secret]),
        r#"ClientSecret { tenant: "t", client: "c", secret: (sensitive value) }"#
    );
    assert_eq!(chosen(&[tenant, client]), r#"ManagedIdentity { client: Some("c") }"#);
    assert_eq!(chosen(&[tenant]), r#"AzureCli { tenant: Some("t") }"#);
    assert_eq!(chosen(&[("AZURE_CLIENT_ID", "  ")]), "AzureCli { tenant: None }");
    let by_name = ("AZURE_TOKEN_CREDENTIALS", "ManagedIdentityCredential");
    assert_eq!(chosen(&[by_name]), "ManagedIdentity { client: None }");
}

#[test]
fn what_is_missing_or_not_supported_is_named() {
    assert_eq!(
        chosen(&[("AZURE_FEDERATED_TOKEN_FILE", "/f"), ("ARM_TENANT_ID", "t")]),
        "error: workload identity needs AZURE_CLIENT_ID: not set"
    );
    assert_eq!(
        chosen(&[("AZURE_CLIENT_SECRET", "canary")]),
        "error: signing in with a client secret needs AZURE_TENANT_ID, AZURE_CLIENT_ID: not set"
    );
    assert_eq!(
        chosen(&[("AZURE_CLIENT_CERTIFICATE_PATH", "/c.pem"), ("AZURE_CLIENT_ID", "c")]),
        "error: variable AZURE_CLIENT_CERTIFICATE_PATH asks for a client certificate, which nodeform does not support; use a client secret or workload identity"
    );
    assert!(chosen(&[("AZURE_TOKEN_CREDENTIALS", "dev")]).contains("AZURE_TOKEN_CREDENTIALS asks for dev"));
}
