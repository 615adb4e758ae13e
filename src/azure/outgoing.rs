//! A request with its address: built by `arm`, or a link from Azure.
//!
//! Must never accept a link to another origin: the token would be sent there.

use url::Url;

use super::failure::{Call, Failure};
use super::{Cloud, limits};
use crate::arm::request::QueryParameter;
use crate::arm::{Body, BucketKey, Method, Request, bucket};

/// A request that can be sent.
#[derive(Clone, Debug)]
pub(super) struct Outgoing {
    /// The call, for failures and events.
    pub(super) call: Call,
    pub(super) method: Method,
    pub(super) url: Url,
    pub(super) body: Option<Body>,
    pub(super) only_if_absent: bool,
    /// The rate-limit buckets that it draws from.
    pub(super) buckets: Vec<BucketKey>,
}

impl Outgoing {
    /// Converts a request that `arm` built.
    pub(super) fn of_request(request: &Request, cloud: &Cloud) -> Result<Self, Failure> {
        let call = Call::new(request.method, &request.path);
        let mut url = cloud.resource_manager.clone();
        {
            let no_base = |()| Failure::BadTarget { call: call.clone() };
            let mut segments = url.path_segments_mut().map_err(no_base)?;
            segments.pop_if_empty().extend(request.path.split('/').filter(|part| !part.is_empty()));
        }
        let mut query = url::form_urlencoded::Serializer::new(String::new());
        for QueryParameter { name, value } in &request.query {
            query.append_pair(name, value);
        }
        // Not every service decodes `+`, the form encoding of a space.
        url.set_query(Some(&query.finish().replace('+', "%20")));
        Ok(Self {
            call,
            method: request.method,
            url,
            body: request.body.clone(),
            only_if_absent: request.only_if_absent,
            buckets: bucket::of(request),
        })
    }

    /// Converts a link from an answer to `from`: the next page, or the state of an operation.
    pub(super) fn of_link(link: &str, from: &Call, cloud: &Cloud) -> Result<Self, Failure> {
        let url =
            checked(link, cloud).map_err(|origin| Failure::ForeignLink { call: from.clone(), origin })?;
        let path = percent_decoded(url.path());
        let request =
            Request { method: Method::Get, path, query: Vec::new(), body: None, only_if_absent: false };
        Ok(Self {
            call: Call::new(Method::Get, &request.path),
            method: Method::Get,
            url,
            body: None,
            only_if_absent: false,
            buckets: bucket::of(&request),
        })
    }
}

/// Returns the link if it leads back to Resource Manager, else its origin without path and query.
fn checked(link: &str, cloud: &Cloud) -> Result<Url, String> {
    if link.len() > limits::LINK_BYTES_MAX {
        return Err(format!("a link of {} bytes", link.len()));
    }
    let base = &cloud.resource_manager;
    let url = base.join(link).map_err(|_| "a text that is no address".to_owned())?;
    let is_ours = url.origin() == base.origin() && url.username().is_empty() && url.password().is_none();
    if is_ours { Ok(url) } else { Err(url.origin().ascii_serialization()) }
}

/// Decodes a path for display; one that is not UTF-8 stays as it is.
fn percent_decoded(path: &str) -> String {
    let query = format!("p={}", path.replace('+', "%2B").replace('&', "%26").replace('=', "%3D"));
    let mut pairs = url::form_urlencoded::parse(query.as_bytes());
    pairs.next().map_or_else(|| path.to_owned(), |(_, decoded)| decoded.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_encoded_and_the_query_is_apart() {
        let path = "/subscriptions/s/resourceGroups/MC a_(b)/providers/Microsoft.Compute/skus".to_owned();
        let query = vec![QueryParameter { name: "$filter", value: "location eq 'x'".to_owned() }];
        let request = Request { method: Method::Get, path, query, body: None, only_if_absent: false };
        let outgoing = Outgoing::of_request(&request, &Cloud::public()).unwrap();
        assert_eq!(
            outgoing.url.as_str(),
            "https://management.azure.com/subscriptions/s/resourceGroups/MC%20a_(b)/providers/Microsoft.Compute/skus?%24filter=location%20eq%20%27x%27"
        );
    }

    #[test]
    fn links_lead_back_to_resource_manager_or_nowhere() {
        let origin = |link: &str| checked(link, &Cloud::public()).map(|url| url.to_string());
        let good = "https://management.azure.com:443/subscriptions/s/x?api-version=1&t=a%20b";
        assert_eq!(
            origin(good).unwrap(),
            "https://management.azure.com/subscriptions/s/x?api-version=1&t=a%20b"
        );
        assert_eq!(origin("/subscriptions/s").unwrap(), "https://management.azure.com/subscriptions/s");
        for link in [
            "https://management.azure.com.evil.test/x",
            "http://management.azure.com/x",
            "//evil.test/x",
            "https://management.azure.com@evil.test/x",
            "https://user:canary@management.azure.com/x",
            "https://management.azure.com:8443/x",
            "file:///etc/passwd",
            "https://[",
        ] {
            let told = origin(link).unwrap_err();
            assert!(!told.contains("canary"), "{told}");
        }
        assert!(origin(&format!("/{}", "x".repeat(20_000))).is_err());
    }
}
