//! The client: one for each process, shared by all calls.
//!
//! Must never be created twice for one subscription: the budgets would not add up.

use std::sync::Arc;

use async_trait::async_trait;
use azure_core::http::headers::USER_AGENT;
use azure_core::http::policies::auth::BearerTokenAuthorizationPolicy;
use azure_core::http::policies::{Policy, PolicyResult};
use azure_core::http::{
    ClientOptions, Context, HttpClient, Pipeline, Request as CoreRequest, RetryOptions, Transport,
};
use serde_json::Value;

use super::answer::Answer;
use super::budget::Budget;
use super::clock::Clock;
use super::failure::{Failure, NotArm};
use super::outgoing::Outgoing;
use super::permit::{NotPermitted, Permit};
use super::sign_in::{SignIn, SignInFault};
use super::token::Token;
use super::transport::{Client, TransportFault};
use super::trouble::{Trouble, Troubles};
use super::{Cloud, Environment, cloud::CloudFault};
use crate::arm::answer::{self, ManagedCluster};
use crate::arm::{Api, Request, ResourceId};
use crate::model::Secret;

/// Settings of a client.
#[derive(Debug)]
pub struct Settings {
    /// The cloud.
    pub cloud: Cloud,
    /// The way of signing in.
    pub sign_in: SignIn,
    /// A name of this process, from which jitter is derived: two processes never wait equally long.
    pub holder: String,
}

/// Reason why a client cannot be created.
#[derive(Debug, thiserror::Error)]
pub enum SetupFault {
    /// No cloud can be determined.
    #[error(transparent)]
    Cloud(#[from] CloudFault),
    /// No way of signing in is usable.
    #[error(transparent)]
    SignIn(#[from] SignInFault),
    /// The HTTP clients cannot be created.
    #[error(transparent)]
    Transport(#[from] TransportFault),
}

impl Settings {
    /// Reads the environment.
    ///
    /// # Errors
    /// If settings are missing or contradict each other.
    pub fn from_environment(environment: Environment<'_>, holder: String) -> Result<Self, SetupFault> {
        let cloud = Cloud::from_environment(environment)?;
        let sign_in = SignIn::from_environment(environment)?;
        Ok(Self { cloud, sign_in, holder })
    }
}

/// Sends requests to Azure Resource Manager. Cloning shares connections, token and budgets.
#[derive(Clone, Debug)]
pub struct Azure {
    pub(super) cloud: Arc<Cloud>,
    pub(super) pipeline: Pipeline,
    pub(super) token: Arc<Token>,
    pub(super) budget: Arc<Budget>,
    pub(super) clock: Clock,
    pub(super) holder: Arc<str>,
    /// Checked before each attempt to write.
    pub(super) permit: Permit,
    pub(super) troubles: Troubles,
}

impl Azure {
    /// Creates the client; nothing is sent yet.
    ///
    /// # Errors
    /// If a setting is invalid.
    pub fn new(settings: Settings) -> Result<Self, SetupFault> {
        let transport = Client::new(&settings.cloud)?;
        Self::sent_by(settings, transport)
    }

    /// Creates a client that sends all requests, including those for tokens, by this transport.
    ///
    /// # Errors
    /// If a setting is invalid.
    pub fn sent_by(settings: Settings, transport: Arc<dyn HttpClient>) -> Result<Self, SetupFault> {
        let Settings { cloud, sign_in, holder } = settings;
        let token = Token::new(sign_in, &cloud, transport.clone())?;
        let clock = Clock::new(cloud.clock_speed);
        Ok(Self {
            pipeline: pipeline(&cloud, token.clone(), transport),
            token,
            budget: Arc::new(Budget::new(clock)),
            clock,
            holder: holder.into(),
            cloud: Arc::new(cloud),
            permit: Permit::default(),
            troubles: Troubles::default(),
        })
    }

    /// Returns the same client with its writes restricted by a permit.
    #[must_use]
    pub fn permitted_by(&self, permit: Permit) -> Self {
        Self { permit, ..self.clone() }
    }

    /// Returns the services that currently throttle or do not answer.
    #[must_use]
    pub fn troubles(&self) -> Vec<Trouble> {
        self.troubles.now()
    }

    /// Returns a token of the same identity for a service other than Azure Resource Manager, such as Azure DevOps, and
    /// when it expires.
    ///
    /// # Errors
    /// The identity service refuses; its message.
    pub async fn token_for(&self, scope: &str) -> Result<(Secret, jiff::Timestamp), String> {
        let asked = self.token.elsewhere(scope).await.map_err(|error| error.to_string())?;
        let until = jiff::Timestamp::from_second(asked.expires_on.unix_timestamp());
        Ok((Secret::new(asked.token.secret().to_owned()), until.map_err(|error| error.to_string())?))
    }

    /// Returns the cloud of this client.
    #[must_use]
    pub fn cloud(&self) -> &Cloud {
        &self.cloud
    }

    /// Reads one resource.
    ///
    /// # Errors
    /// [`Failure`]; [`Failure::is_not_found`] if it does not exist.
    pub async fn get(&self, request: &Request) -> Result<Value, Failure> {
        let outgoing = Outgoing::of_request(request, &self.cloud)?;
        let Answer { status, body, headers } = self.send(&outgoing).await?;
        if body.is_null() {
            let call = outgoing.call;
            return Err(Failure::NotArm {
                call,
                status,
                what: NotArm::Empty,
                request_id: headers.request_id,
            });
        }
        Ok(body)
    }

    /// Reads one resource; `None` if it does not exist. A missing resource group is a failure.
    ///
    /// # Errors
    /// [`Failure`].
    pub async fn get_optional(&self, request: &Request) -> Result<Option<Value>, Failure> {
        match self.get(request).await {
            Ok(body) => Ok(Some(body)),
            Err(failure) if failure.is_not_found() => Ok(None),
            Err(failure) => Err(failure),
        }
    }

    /// Reads the managed cluster.
    ///
    /// # Errors
    /// [`Failure`].
    pub async fn managed_cluster(&self, id: &ResourceId) -> Result<ManagedCluster, Failure> {
        let request = Request::read(id, Api::ContainerService);
        let body = self.get(&request).await?;
        let call = super::failure::Call::new(request.method, &request.path);
        answer::read(body).map_err(|fault| Failure::Answer { call, fault })
    }
}

fn pipeline(cloud: &Cloud, token: Arc<Token>, transport: Arc<dyn HttpClient>) -> Pipeline {
    let options = ClientOptions {
        transport: Some(Transport::new(transport)),
        // `send` decides on retries, because it knows the budgets.
        retry: RetryOptions::none(),
        ..Default::default()
    };
    let per_try: Vec<Arc<dyn Policy>> = vec![
        Arc::new(BearerTokenAuthorizationPolicy::new(token, [cloud.scope()])),
        Arc::new(UserAgent(format!("nodeform/{}", env!("CARGO_PKG_VERSION")))),
        Arc::new(Permitted),
    ];
    Pipeline::new(Some("nodeform"), Some(env!("CARGO_PKG_VERSION")), options, Vec::new(), per_try, None)
}

/// Sets nodeform's user agent in place of the library's.
#[derive(Debug)]
struct UserAgent(String);

#[async_trait]
impl Policy for UserAgent {
    async fn send(&self, ctx: &Context, request: &mut CoreRequest, next: &[Arc<dyn Policy>]) -> PolicyResult {
        request.insert_header(USER_AGENT, self.0.clone());
        onward(ctx, request, next).await
    }
}

/// Checks the permit of a write after the wait for a token: nothing waits between the check and the connection.
#[derive(Debug)]
struct Permitted;

#[async_trait]
impl Policy for Permitted {
    async fn send(&self, ctx: &Context, request: &mut CoreRequest, next: &[Arc<dyn Policy>]) -> PolicyResult {
        if let Some(Err(why)) = ctx.value::<Permit>().map(Permit::check) {
            return Err(NotPermitted { why }.into_core());
        }
        onward(ctx, request, next).await
    }
}

async fn onward(ctx: &Context<'_>, request: &mut CoreRequest, next: &[Arc<dyn Policy>]) -> PolicyResult {
    match next {
        [first, rest @ ..] => first.send(ctx, request, rest).await,
        [] => Err(azure_core::Error::with_message(
            azure_core::error::ErrorKind::Other,
            "the pipeline ends before its transport",
        )),
    }
}
