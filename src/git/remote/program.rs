//! Runs the `git` program in a controlled environment: only our own settings determine what it does.

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};

use super::address::Address;
use super::bounded::{self, Ended, Limits, Outcome};
use super::fault::RemoteFault;
use super::held::Held;
use crate::model::secret::{SENSITIVE, Secret};
use crate::model::shown::plain;

/// Credentials for the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Credentials {
    /// The user.
    pub user: String,
    /// The token, used as a password.
    pub token: Secret,
}

/// Environment variables that the program inherits: for its path, the network, and trusted certificates.
const KEPT: [&str; 16] = [
    "PATH",
    "HTTPS_PROXY",
    "https_proxy",
    "HTTP_PROXY",
    "http_proxy",
    "ALL_PROXY",
    "all_proxy",
    "NO_PROXY",
    "no_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "GIT_SSL_CAINFO",
    "GIT_SSL_CAPATH",
    "TMPDIR",
    "SYSTEMROOT",
    "GIT_EXEC_PATH",
];

/// The program's messages when it exceeds its limits for memory or file size: a server can send data without end.
const OUT_OF_ROOM: &[&str] = &[
    "Out of memory",
    "out of memory",
    "mmap failed",
    "Cannot allocate memory",
    "File too large",
    "File size limit exceeded",
    "signal 25",
];

/// Maximum number of characters of the program's output that are repeated.
const SAID_LETTERS_MAX: usize = 400;

/// The program, for one clone and one server.
#[derive(Debug)]
pub(super) struct Program<'a> {
    pub(super) folder: &'a Path,
    pub(super) address: &'a Address,
    pub(super) credentials: Option<&'a Credentials>,
    pub(super) limits: Limits,
}

impl Program<'_> {
    /// Runs the program and returns its standard output; `what` is the command, for messages.
    ///
    /// # Errors
    /// It cannot be started, or fails: classified by its output.
    pub(super) fn run(&self, what: &'static str, arguments: &[&str]) -> Result<String, RemoteFault> {
        self.output(what, arguments).map(|(printed, _)| printed)
    }

    /// Runs the program and returns its standard error, which contains the server's messages; without secrets.
    ///
    /// # Errors
    /// It cannot be started, or fails: classified by its output.
    pub(super) fn run_heard(&self, what: &'static str, arguments: &[&str]) -> Result<String, RemoteFault> {
        self.output(what, arguments).map(|(_, said)| self.without_secrets(said))
    }

    fn output(&self, what: &'static str, arguments: &[&str]) -> Result<(String, String), RemoteFault> {
        let mut command = Command::new("git");
        command.arg("--git-dir").arg(self.folder).arg(what).args(arguments);
        command.env_clear().envs(kept()).envs(self.environment());
        // Only a fetch writes to the clone, so a push that a server never answers blocks no other run.
        let held = (what == "fetch").then(|| Held::take(self.folder)).transpose()?;
        let input = held.as_ref().map_or(Ok(Stdio::null()), Held::input);
        command.stdin(input.map_err(|error| RemoteFault::NoProgram { because: error.to_string() })?);
        let ended = bounded::run(command, self.limits)
            .map_err(|error| RemoteFault::NoProgram { because: error.to_string() })?;
        let address = self.address.to_string();
        let Ended { is_success, printed, said } = match ended {
            Outcome::Ended(ended) => ended,
            Outcome::Slow => {
                return Err(RemoteFault::Slow { address, seconds: self.limits.time.as_secs() });
            }
            Outcome::TooMuch => return Err(RemoteFault::TooMuch { address, most: self.limits.bytes }),
        };
        if is_success {
            return Ok((printed, said));
        }
        // The output of `push --porcelain` has the reason for each rejected branch.
        Err(self.fault(what, &format!("{printed}\n{said}")))
    }

    /// Returns the variables with the settings and credentials.
    fn environment(&self) -> Vec<(OsString, OsString)> {
        let address = self.address.as_str();
        let mut settings: Vec<(String, String)> = [
            // A redirect target would receive the credentials.
            ("http.followRedirects", "false"),
            ("protocol.allow", "never"),
            ("credential.helper", ""),
            ("core.askPass", ""),
            ("core.hooksPath", "/dev/null"),
            ("core.fsmonitor", "false"),
            // Each further thread, and each existing pack, would take as much memory again.
            ("pack.threads", "1"),
            ("core.packedGitWindowSize", "32m"),
            ("core.packedGitLimit", "256m"),
            ("gc.auto", "0"),
            ("maintenance.auto", "false"),
            ("fetch.recurseSubmodules", "false"),
            ("push.recurseSubmodules", "no"),
            ("push.gpgSign", "false"),
            // Less than one byte per second for a minute counts as no answer.
            ("http.lowSpeedLimit", "1"),
            ("http.lowSpeedTime", "60"),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into();
        // Git's library reads neither variable itself.
        for (setting, variable) in [("http.sslCAInfo", "SSL_CERT_FILE"), ("http.sslCAPath", "SSL_CERT_DIR")] {
            let named = std::env::var_os(variable).and_then(|path| path.into_string().ok());
            settings.extend(named.map(|path| (setting.to_owned(), path)));
        }
        settings.push((format!("protocol.{}.allow", self.address.scheme()), "always".to_owned()));
        if let Some(Credentials { user, token }) = self.credentials {
            let pair = data_encoding::BASE64.encode(format!("{user}:{}", token.reveal()).as_bytes());
            settings.push((format!("http.{address}.extraHeader"), format!("Authorization: Basic {pair}")));
        }
        let mut variables: Vec<(OsString, OsString)> = vec![
            ("GIT_TERMINAL_PROMPT".into(), "0".into()),
            ("GIT_CONFIG_NOSYSTEM".into(), "1".into()),
            ("GIT_CONFIG_GLOBAL".into(), "/dev/null".into()),
            ("GIT_ATTR_NOSYSTEM".into(), "1".into()),
            ("LC_ALL".into(), "C".into()),
            ("GIT_CONFIG_COUNT".into(), settings.len().to_string().into()),
        ];
        for (place, (name, value)) in settings.into_iter().enumerate() {
            variables.push((format!("GIT_CONFIG_KEY_{place}").into(), name.into()));
            variables.push((format!("GIT_CONFIG_VALUE_{place}").into(), value.into()));
        }
        variables
    }

    /// Classifies a failure by the program's output.
    fn fault(&self, what: &'static str, said: &str) -> RemoteFault {
        let address = self.address.to_string();
        let because = self.told(said);
        let has = |words: &[&str]| words.iter().any(|word| said.contains(word));
        let is_asked = has(&[
            "terminal prompts disabled",
            "Authentication failed",
            "could not read Username",
            "could not read Password",
        ]);
        if has(&["unable to update url base from redirection"]) {
            return RemoteFault::Redirects { address };
        }
        match status(said) {
            Some(301..=399) => RemoteFault::Redirects { address },
            _ if is_asked && self.credentials.is_none() => RemoteFault::NoToken { address },
            Some(401) => RemoteFault::NotAccepted { address },
            _ if is_asked => RemoteFault::NotAccepted { address },
            Some(403) => {
                RemoteFault::Denied { address, what: if what == "push" { "write to" } else { "read" } }
            }
            Some(404) => RemoteFault::NotThere { address },
            Some(429) => RemoteFault::AskedTooOften { address },
            Some(status) => RemoteFault::Status { address, status },
            None if has(&["repository not found", "' not found"]) => RemoteFault::NotThere { address },
            None if has(&["is this a git repository?", "invalid server response"]) => {
                RemoteFault::NoGit { address }
            }
            None if has(&["certificate"]) => RemoteFault::Certificate { address, because },
            None if has(OUT_OF_ROOM) => RemoteFault::TooMuch { address, most: self.limits.bytes },
            None => RemoteFault::Failed { address, what, because },
        }
    }

    /// Returns the program's output in one line, without secrets and control characters.
    fn told(&self, said: &str) -> String {
        let text = self.without_secrets(said.split_whitespace().collect::<Vec<_>>().join(" "));
        plain(&text).chars().take(SAID_LETTERS_MAX).collect()
    }

    fn without_secrets(&self, mut text: String) -> String {
        if let Some(Credentials { token, user }) = self.credentials.filter(|known| !known.token.is_empty()) {
            let pair = data_encoding::BASE64.encode(format!("{user}:{}", token.reveal()).as_bytes());
            text = text.replace(token.reveal(), SENSITIVE).replace(&pair, SENSITIVE);
        }
        text
    }
}

/// Returns the HTTP status in the program's output.
fn status(said: &str) -> Option<u16> {
    let words = ["returned error: ", "HTTP "];
    words.iter().find_map(|words| said.split_once(words)?.1.get(..3)?.parse().ok())
}

fn kept() -> impl Iterator<Item = (&'static str, OsString)> {
    KEPT.into_iter().filter_map(|name| Some((name, std::env::var_os(name)?)))
}

#[cfg(test)]
mod tests;
