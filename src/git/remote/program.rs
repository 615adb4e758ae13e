//! The `git` program, started so that nothing but our own words decides what it does.

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};

use super::address::Address;
use super::fault::RemoteFault;
use super::held::Held;
use crate::model::secret::{SENSITIVE, Secret};

/// Who speaks to the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Credentials {
    /// The user.
    pub user: String,
    /// The token, in place of a password.
    pub token: Secret,
}

/// Variables of the machine that the program keeps: how it is found, how the net is reached, whom TLS trusts.
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

/// How much of what the program says is repeated.
const SAID_LETTERS_MAX: usize = 400;

/// The program, for one clone and one server.
#[derive(Debug)]
pub(super) struct Program<'a> {
    pub(super) folder: &'a Path,
    pub(super) address: &'a Address,
    pub(super) credentials: Option<&'a Credentials>,
}

impl Program<'_> {
    /// Runs the program and returns its standard output; `what` is the command, for messages.
    ///
    /// # Errors
    /// It cannot be started, or does not succeed: by what it says.
    pub(super) fn run(&self, what: &'static str, arguments: &[&str]) -> Result<String, RemoteFault> {
        self.output(what, arguments).map(|(printed, _)| printed)
    }

    /// Runs the program and returns its standard error, in which it repeats what the server says; without what is secret.
    ///
    /// # Errors
    /// It cannot be started, or does not succeed: by what it says.
    pub(super) fn run_heard(&self, what: &'static str, arguments: &[&str]) -> Result<String, RemoteFault> {
        self.output(what, arguments).map(|(_, said)| self.without_secrets(said))
    }

    fn output(&self, what: &'static str, arguments: &[&str]) -> Result<(String, String), RemoteFault> {
        let mut command = Command::new("git");
        command.arg("--git-dir").arg(self.folder).arg(what).args(arguments);
        command.env_clear().envs(kept()).envs(self.environment());
        let held = Held::take(self.folder)?;
        let input = held.input().map_err(|error| RemoteFault::NoProgram { because: error.to_string() })?;
        command.stdin(input).stdout(Stdio::piped()).stderr(Stdio::piped());
        let output =
            command.output().map_err(|error| RemoteFault::NoProgram { because: error.to_string() })?;
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        if output.status.success() {
            return Ok((printed, said));
        }
        // What `push --porcelain` prints says of each branch why it was not taken.
        let said = format!("{printed}\n{said}");
        Err(self.fault(what, &said))
    }

    /// The variables that say all that is not an argument: the settings, and the credentials.
    fn environment(&self) -> Vec<(OsString, OsString)> {
        let address = self.address.as_str();
        let mut settings: Vec<(String, String)> = [
            // What a server that leads elsewhere would get to see.
            ("http.followRedirects", "false"),
            ("protocol.allow", "never"),
            ("credential.helper", ""),
            ("core.askPass", ""),
            ("core.hooksPath", "/dev/null"),
            ("core.fsmonitor", "false"),
            ("gc.auto", "0"),
            ("maintenance.auto", "false"),
            ("fetch.recurseSubmodules", "false"),
            ("push.recurseSubmodules", "no"),
            ("push.gpgSign", "false"),
            // Less than a byte a second for a minute is no answer.
            ("http.lowSpeedLimit", "1"),
            ("http.lowSpeedTime", "60"),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into();
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

    /// Tells by the program's words what is wrong.
    fn fault(&self, what: &'static str, said: &str) -> RemoteFault {
        let address = self.address.to_string();
        let because = self.told(said);
        let has = |words: &[&str]| words.iter().any(|word| said.contains(word));
        if has(&[
            "unable to update url base from redirection",
            "error: 301",
            "error: 302",
            "error: 303",
            "error: 307",
            "error: 308",
        ]) {
            RemoteFault::Redirects { address }
        } else if has(&[
            "terminal prompts disabled",
            "Authentication failed",
            "error: 401",
            "error: 403",
            "could not read Username",
            "could not read Password",
        ]) {
            RemoteFault::Denied { address, what, because }
        } else if has(&["error: 404", "repository not found", "' not found"]) {
            RemoteFault::NotThere { address, because }
        } else {
            RemoteFault::Failed { address, what, because }
        }
    }

    /// What the program says, in one line without what is secret or could not be shown.
    fn told(&self, said: &str) -> String {
        let text = self.without_secrets(said.split_whitespace().collect::<Vec<_>>().join(" "));
        let shown = text.chars().map(|letter| if letter.is_control() { '\u{fffd}' } else { letter });
        shown.take(SAID_LETTERS_MAX).collect()
    }

    fn without_secrets(&self, mut text: String) -> String {
        if let Some(Credentials { token, user }) = self.credentials.filter(|known| !known.token.is_empty()) {
            let pair = data_encoding::BASE64.encode(format!("{user}:{}", token.reveal()).as_bytes());
            text = text.replace(token.reveal(), SENSITIVE).replace(&pair, SENSITIVE);
        }
        text
    }
}

fn kept() -> impl Iterator<Item = (&'static str, OsString)> {
    KEPT.into_iter().filter_map(|name| Some((name, std::env::var_os(name)?)))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{Address, Credentials, Program, RemoteFault, Secret};

    fn fault(said: &str) -> RemoteFault {
        let address = Address::parse("https://forge.example/a", false).expect("an address");
        let credentials = Credentials { user: "me".to_owned(), token: Secret::new("canary-3".to_owned()) };
        let program = Program { folder: Path::new("/"), address: &address, credentials: Some(&credentials) };
        program.fault("fetch", said)
    }

    #[test]
    fn what_the_program_says_becomes_one_fault_with_a_next_step() {
        let kinds = [
            ("fatal: unable to update url base from redirection:", "leads to another address"),
            (
                "fatal: could not read Username for 'https://forge.example': terminal prompts disabled",
                "refuses to fetch",
            ),
            (
                "fatal: unable to access 'https://forge.example/a/': The requested URL returned error: 403",
                "refuses to fetch",
            ),
            ("fatal: repository 'https://forge.example/a/' not found", "is not there"),
            ("fatal: unable to access 'x': The requested URL returned error: 503", "`git fetch` with"),
            (
                "fatal: https://forge.example/a/info/refs not valid: is this a git repository?",
                "`git fetch` with",
            ),
        ];
        for (said, told) in kinds {
            let fault = fault(said);
            assert!(fault.to_string().contains(told) && fault.hint().is_some(), "{said}: {fault}");
        }
    }

    #[test]
    fn neither_token_nor_header_nor_control_characters_are_repeated() {
        // The pair of `me:canary-3`.
        let told = fault("remote: canary-3 is bad\nbWU6Y2FuYXJ5LTM= \u{1b}[31m").to_string();
        assert!(!told.contains("canary-3") && !told.contains("bWU6") && !told.contains('\u{1b}'), "{told}");
        assert!(told.contains("(sensitive value) is bad"), "{told}");
    }

    #[test]
    fn credentials_are_of_one_address_and_redirects_are_not_followed() {
        let address = Address::parse("https://forge.example/a", false).expect("an address");
        let credentials = Credentials { user: "me".to_owned(), token: Secret::new("canary-3".to_owned()) };
        let program = Program { folder: Path::new("/"), address: &address, credentials: Some(&credentials) };
        let variables = program.environment();
        let values: Vec<String> =
            variables.iter().map(|(_, value)| value.to_string_lossy().into_owned()).collect();
        let place = values.iter().position(|value| value == "http.https://forge.example/a.extraHeader");
        assert_eq!(
            place.and_then(|place| values.get(place + 1)).map(String::as_str),
            Some("Authorization: Basic bWU6Y2FuYXJ5LTM=")
        );
        let follows = values.iter().position(|value| value == "http.followRedirects");
        assert_eq!(follows.and_then(|place| values.get(place + 1)).map(String::as_str), Some("false"));
    }
}
