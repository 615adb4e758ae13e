//! The token of all requests, and a fresh one when Azure no longer takes it.
//!
//! A credential keeps its token until it ends, even one that Azure has refused since: a fresh one takes a fresh
//! credential. Where no token was given, nobody is asked for one for a while: identity services lock out who asks on and on.
//! Must never be asked for a token that somebody could see.

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

/// The wait after the first time that no token was given; doubled after each further one.
const AGAIN_FIRST: Duration = Duration::from_secs(5);

/// The longest wait until a token is asked for again.
const AGAIN_MAX: Duration = Duration::from_secs(120);

/// A credential that can be made anew.
#[derive(Debug)]
pub(super) struct Token {
    sign_in: SignIn,
    cloud: Cloud,
    transport: Arc<dyn HttpClient>,
    current: RwLock<Arc<dyn TokenCredential>>,
    clock: Clock,
    refused: Mutex<Option<Refused>>,
}

/// That no token was given, and until when nobody is asked again.
#[derive(Debug)]
struct Refused {
    times: u32,
    /// By the clock.
    until: Duration,
    fault: Option<TransportFault>,
    words: String,
}

impl Refused {
    /// What was answered.
    fn error(&self) -> azure_core::Error {
        match &self.fault {
            Some(fault) => azure_core::Error::new(ErrorKind::Credential, fault.clone()),
            None => azure_core::Error::with_message(ErrorKind::Credential, self.words.clone()),
        }
    }
}

/// How long nobody is asked after no token was given so often.
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

    /// Forgets the token; the next request asks for another one.
    pub(super) fn renew(&self) {
        // It was made of the same values before: a fault is not to be expected, and the old one is as good then.
        if let Ok(credential) = self.sign_in.credential(&self.cloud, self.transport.clone()) {
            *self.current.write().unwrap_or_else(PoisonError::into_inner) = credential;
        }
    }

    /// What was answered last, where nobody is asked yet.
    fn refusal(&self) -> Option<azure_core::Error> {
        let refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        refused.as_ref().filter(|refused| refused.until > self.clock.now()).map(Refused::error)
    }

    /// Notes how a request for a token ended.
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

    /// Returns a token for another service than Azure Resource Manager. That it gives none says nothing of Azure.
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
