//! Tests of choosing the cloud by the environment.

use super::*;

fn cloud(settings: &[(&str, &str)]) -> Result<Cloud, String> {
    let find =
        |name: &str| settings.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
    Cloud::from_environment(&find).map_err(|fault| fault.to_string())
}

#[test]
fn the_cloud_is_the_public_one_unless_the_environment_says_otherwise() {
    assert_eq!(cloud(&[]).unwrap().resource_manager.as_str(), "https://management.azure.com/");
    assert_eq!(
        cloud(&[("ARM_CLOUD", "azureusgovernmentcloud")]).unwrap().scope(),
        "https://management.usgovcloudapi.net/.default"
    );
    assert_eq!(cloud(&[("AZURE_CLOUD", "AzureChina")]).unwrap().name, "AzureChinaCloud");
    let host = [("AZURE_AUTHORITY_HOST", "https://login.microsoftonline.us/")];
    assert_eq!(cloud(&host).unwrap().name, "AzureUSGovernmentCloud");
}

#[test]
fn settings_that_contradict_each_other_are_refused_by_name() {
    let both = cloud(&[("ARM_CLOUD", "AzurePublicCloud"), ("AZURE_ENVIRONMENT_FILEPATH", "/x")]).unwrap_err();
    assert_eq!(both, "both ARM_CLOUD (`AzurePublicCloud`) and AZURE_ENVIRONMENT_FILEPATH are set; unset one");
    let other =
        cloud(&[("ARM_CLOUD", "AzureChinaCloud"), ("AZURE_AUTHORITY_HOST", "login.microsoftonline.com")]);
    assert!(
        other
            .unwrap_err()
            .contains("AZURE_AUTHORITY_HOST is `login.microsoftonline.com`, but AzureChinaCloud")
    );
    assert!(cloud(&[("AZURE_AUTHORITY_HOST", "https://evil.example")]).is_err());
    assert!(cloud(&[("ARM_CLOUD", "AWS")]).unwrap_err().contains("`AWS` is no cloud"));
}
