use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::time::Duration;

use super::{Address, Credentials, Limits, Program, RemoteFault, Secret};

fn credentials() -> Credentials {
    Credentials { user: "me".to_owned(), token: Secret::new("canary-3".to_owned()) }
}

fn fault_of(said: &str, what: &'static str, credentials: Option<&Credentials>) -> RemoteFault {
    let address = Address::parse("https://forge.example/a", false).expect("an address");
    let limits = Limits::default();
    Program { folder: Path::new("/"), address: &address, credentials, limits }.fault(what, said)
}

fn fault(said: &str) -> RemoteFault {
    fault_of(said, "fetch", Some(&credentials()))
}

#[test]
fn what_the_program_says_becomes_one_fault_with_a_next_step() {
    let returned = |status: u16| {
        format!(
            "fatal: unable to access 'https://forge.example/a/': The requested URL returned error: {status}"
        )
    };
    let prompt = "fatal: could not read Username for 'https://forge.example': terminal prompts disabled";
    let kinds = [
        ("fatal: unable to update url base from redirection:".to_owned(), "leads to another address"),
        (returned(302), "leads to another address"),
        (prompt.to_owned(), "the token was not accepted (401)"),
        (returned(401), "the token was not accepted (401)"),
        (returned(403), "the token may not read it (403)"),
        ("fatal: repository 'https://forge.example/a/' not found".to_owned(), "is not there"),
        (returned(404), "is not there, or the token may not see it (404)"),
        (returned(409), "answered with status 409"),
        (returned(422), "answered with status 422"),
        (returned(429), "was asked too often (429)"),
        (returned(503), "answered with status 503"),
        ("error: RPC failed; HTTP 502 curl 22".to_owned(), "answered with status 502"),
        (
            "fatal: https://forge.example/a/info/refs not valid: is this a git repository?".to_owned(),
            "not as a Git",
        ),
        (
            "fatal: unable to access 'x': server certificate verification failed. CAfile: none".to_owned(),
            "not trusted",
        ),
        (
            "fatal: unable to access 'x': SSL certificate problem: self-signed certificate".to_owned(),
            "not trusted",
        ),
        ("fatal: Out of memory, malloc failed".to_owned(), "more than 64 MiB"),
        ("fatal: unable to access 'x': Could not resolve host: x".to_owned(), "`git fetch` with"),
    ];
    for (said, told) in kinds {
        let fault = fault(&said);
        assert!(fault.to_string().contains(told) && fault.hint().is_some(), "{said}: {fault}");
    }
    let trusted = fault("fatal: SSL certificate problem");
    assert!(trusted.hint().is_some_and(|hint| hint.contains("SSL_CERT_FILE")), "{trusted}");
    assert_eq!(
        fault_of(prompt, "fetch", None).to_string(),
        "`https://forge.example/a` requires a token (401), and none is set"
    );
    assert!(fault_of(&returned(403), "push", None).to_string().contains("may not write to it"));
}

#[test]
fn neither_token_nor_header_nor_control_characters_are_repeated() {
    // The encoded pair `me:canary-3`.
    let told = fault("remote: canary-3 is bad\nbWU6Y2FuYXJ5LTM= \u{1b}[31m\u{202e}").to_string();
    assert!(!told.contains("canary-3") && !told.contains("bWU6"), "{told}");
    assert!(!told.contains(['\u{1b}', '\u{202e}']), "{told}");
    assert!(told.contains("(sensitive value) is bad"), "{told}");
}

#[test]
fn credentials_are_of_one_address_and_redirects_are_not_followed() {
    let address = Address::parse("https://forge.example/a", false).expect("an address");
    let known = credentials();
    let limits = Limits::default();
    let program = Program { folder: Path::new("/"), address: &address, credentials: Some(&known), limits };
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

/// Lists the refs of a server that answers each request with `start`, and then with `again` repeatedly, or with nothing
/// more.
fn asked(start: &'static str, again: &'static [u8], limits: Limits) -> RemoteFault {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = format!("http://{}/a", listener.local_addr().expect("an address"));
    let address = Address::parse(&address, true).expect("an address");
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { continue };
            let _ = stream.read(&mut [0; 4096]);
            let head = "HTTP/1.1 200 OK\r\nContent-Type: application/x-git-upload-pack-advertisement\r\n\r\n";
            let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(start.as_bytes()));
            if again.is_empty() {
                std::thread::sleep(Duration::from_secs(30));
            }
            while !again.is_empty() && stream.write_all(&again.repeat(1000)).is_ok() {}
        }
    });
    let folder = tempfile::tempdir().expect("a folder");
    gix::init_bare(folder.path()).expect("a repository");
    let program = Program { folder: folder.path(), address: &address, credentials: None, limits };
    program.run("ls-remote", &[address.as_str()]).expect_err("it has no end")
}

#[test]
fn a_server_whose_answer_has_no_end_or_does_not_come_is_left_in_time_and_memory() {
    const START: &str = "001e# service=git-upload-pack\n0000";
    const REF: &[u8] = b"003f1111111111111111111111111111111111111111 refs/heads/branches\n";
    let limits = Limits { time: Duration::from_secs(50), memory: 256 << 20, ..Limits::default() };
    let endless = asked(START, REF, limits);
    assert!(matches!(endless, RemoteFault::TooMuch { .. }), "{endless}");
    let silent = asked(START, b"", Limits { time: Duration::from_secs(1), ..limits });
    assert!(matches!(silent, RemoteFault::Slow { seconds: 1, .. }), "{silent}");
}
