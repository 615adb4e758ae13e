//! The token of all requests, renewed when Azure no longer accepts it.
//!
//! A credential caches its token until it expires, even one that Azure has refused since: a new token needs a new
//! credential. After a refusal, no token is requested for a while: identity services lock out clients that keep asking.
//! Must never expose a token.

use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use async_trait::async_trait;
use azure_core::credentials::{AccessToken, TokenCredential, TokenRequestOptions};
use azure_core::error::ErrorKind;
use azure_core::http::HttpClient;

use super::Cloud;
use super::clock::Clock;
use super::sign_in::{SignIn, SignInFault};
use super::transport::TransportFault;

/// Delay after the first refused token request; doubled after each further one.
const AGAIN_FIRST: Duration = Duration::from_secs(5);

/// Maximum delay before the next token request.
const AGAIN_MAX: Duration = Duration::from_secs(120);

/// A credential that can be recreated.
#[derive(Debug)]
pub(super) struct Token {
    sign_in: SignIn,
    cloud: Cloud,
    transport: Arc<dyn HttpClient>,
    current: RwLock<Arc<dyn TokenCredential>>,
    clock: Clock,
    refused: Mutex<Option<Refused>>,
}

/// A refused token request, and until when no other is sent.
#[derive(Debug)]
struct Refused {
    times: u32,
    /// By `clock`.
    until: Duration,
    fault: Option<TransportFault>,
    words: String,
}

impl Refused {
    /// Returns the error of the refusal.
    fn error(&self) -> azure_core::Error {
        match &self.fault {
            Some(fault) => azure_core::Error::new(ErrorKind::Credential, fault.clone()),
            None => azure_core::Error::with_message(ErrorKind::Credential, self.words.clone()),
        }
    }
}

/// Returns the delay after this number of refusals.
fn back_off(times: u32) -> Duration {
    AGAIN_FIRST.saturating_mul(2_u32.saturating_pow(times.saturating_sub(1).min(16))).min(AGAIN_MAX)
}

impl Token {
    pub(super) fn new(
        sign_in: SignIn,
        cloud: &Cloud,
        transport: Arc<dyn HttpClient>,
    ) -> Result<Arc<Self>, SignInFault> {
        let current = RwLock::new(sign_in.credential(cloud, transport.clone())?);
        let clock = Clock::new(cloud.clock_speed);
        Ok(Arc::new(Self {
            sign_in,
            cloud: cloud.clone(),
            transport,
            current,
            clock,
            refused: Mutex::default(),
        }))
    }

    /// Drops the token; the next request gets a new one.
    pub(super) fn renew(&self) {
        // The same values worked before. In the unlikely case of a fault, the old credential is just as good.
        if let Ok(credential) = self.sign_in.credential(&self.cloud, self.transport.clone()) {
            *self.current.write().unwrap_or_else(PoisonError::into_inner) = credential;
        }
    }

    /// Returns the last refusal while its delay lasts.
    fn refusal(&self) -> Option<azure_core::Error> {
        let refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        refused.as_ref().filter(|refused| refused.until > self.clock.now()).map(Refused::error)
    }

    /// Records the result of a token request.
    fn note(&self, asked: &azure_core::Result<AccessToken>) {
        let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        *refused = asked.as_ref().err().map(|error| {
            let times = refused.as_ref().map_or(0, |refused| refused.times).saturating_add(1);
            Refused {
                times,
                until: self.clock.now() + back_off(times),
                fault: TransportFault::in_error(error).cloned(),
                words: error.to_string(),
            }
        });
    }

    /// Returns a token for a service other than Azure Resource Manager. A refusal does not affect Azure's token.
    pub(super) async fn elsewhere(&self, scope: &str) -> azure_core::Result<AccessToken> {
        self.current().get_token(&[scope], None).await
    }

    fn current(&self) -> Arc<dyn TokenCredential> {
        self.current.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[async_trait]
impl TokenCredential for Token {
    async fn get_token(
        &self,
        scopes: &[&str],
        options: Option<TokenRequestOptions<'_>>,
    ) -> azure_core::Result<AccessToken> {
        if let Some(error) = self.refusal() {
            return Err(error);
        }
        let asked = self.current().get_token(scopes, options).await;
        self.note(&asked);
        asked
    }
}

#[cfg(test)]
mod tests {
    use super::back_off;

    #[test]
    fn requests_for_tokens_that_come_to_nothing_are_ever_rarer_up_to_two_minutes() {
        let waits: Vec<u64> = (1..=7).map(|times| back_off(times).as_secs()).collect();
        assert_eq!(waits, [5, 10, 20, 40, 80, 120, 120]);
    }
}
