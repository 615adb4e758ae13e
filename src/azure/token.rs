//! The token of all requests, and a fresh one when Azure no longer takes it.
//!
//! A credential keeps its token until it ends, even one that Azure has refused since: a fresh one takes a fresh
//! credential. Must never be asked for a token that somebody could see.

use std::sync::{Arc, PoisonError, RwLock};

use async_trait::async_trait;
use azure_core::credentials::{AccessToken, TokenCredential, TokenRequestOptions};
use azure_core::http::HttpClient;

use super::Cloud;
use super::sign_in::{SignIn, SignInFault};

/// A credential that can be made anew.
#[derive(Debug)]
pub(super) struct Token {
    sign_in: SignIn,
    cloud: Cloud,
    transport: Arc<dyn HttpClient>,
    current: RwLock<Arc<dyn TokenCredential>>,
}

impl Token {
    pub(super) fn new(
        sign_in: SignIn,
        cloud: &Cloud,
        transport: Arc<dyn HttpClient>,
    ) -> Result<Arc<Self>, SignInFault> {
        let current = RwLock::new(sign_in.credential(cloud, transport.clone())?);
        Ok(Arc::new(Self { sign_in, cloud: cloud.clone(), transport, current }))
    }

    /// Forgets the token; the next request asks for another one.
    pub(super) fn renew(&self) {
        // It was made of the same values before: a fault is not to be expected, and the old one is as good then.
        if let Ok(credential) = self.sign_in.credential(&self.cloud, self.transport.clone()) {
            *self.current.write().unwrap_or_else(PoisonError::into_inner) = credential;
        }
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
        self.current().get_token(scopes, options).await
    }
}
