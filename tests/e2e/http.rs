//! Plain HTTP on loopback: as much of it as asking the API server through its proxy takes.
//!
//! One connection, kept open; one request at a time.

use std::cell::RefCell;
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::Value;

/// The longest that the API server may take for one answer, on a machine that is busy with other things.
const ANSWER_WAIT_MAX: Duration = Duration::from_secs(60);

/// The API server.
pub(crate) struct Api {
    address: SocketAddr,
    connection: RefCell<Option<BufReader<TcpStream>>>,
}

/// What it said.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: Value,
}

impl Answer {
    /// Returns whether it did what was asked.
    pub(crate) fn is_done(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// Returns why not, in its words.
    pub(crate) fn why(&self) -> String {
        format!("{}: {}", self.status, self.body["message"].as_str().unwrap_or("no message"))
    }
}

impl Api {
    pub(crate) fn new(address: SocketAddr) -> Self {
        Self { address, connection: RefCell::new(None) }
    }

    /// Asks for something that is there. Panics when it is not.
    pub(crate) fn get(&self, path: &str) -> Value {
        self.done("GET", path, None)
    }

    /// Creates an object in a collection, and returns what became of it.
    pub(crate) fn create(&self, path: &str, object: &Value) -> Answer {
        self.ask("POST", path, Some(object)).unwrap_or_else(|error| panic!("POST {path}: {error}"))
    }

    /// Replaces an object.
    pub(crate) fn replace(&self, path: &str, object: &Value) -> Value {
        self.done("PUT", path, Some(object))
    }

    /// Changes the fields of an object that stand in a part of it.
    pub(crate) fn merge(&self, path: &str, part: &Value) -> Value {
        self.done("PATCH", path, Some(part))
    }

    /// Deletes a whole collection at once, without grace.
    pub(crate) fn delete_all(&self, path: &str) {
        self.done("DELETE", &format!("{path}?gracePeriodSeconds=0"), None);
    }

    fn done(&self, method: &str, path: &str, body: Option<&Value>) -> Value {
        let answer = self.ask(method, path, body).unwrap_or_else(|error| panic!("{method} {path}: {error}"));
        assert!(answer.is_done(), "{method} {path}: {}", answer.why());
        answer.body
    }

    /// Asks once. A connection that was idle may have been closed by then: it is asked on another one. What was
    /// created by the request whose answer got lost is then there already, which is as good as created.
    ///
    /// # Errors
    /// That nobody answers, or in no HTTP.
    pub(crate) fn ask(&self, method: &str, path: &str, body: Option<&Value>) -> io::Result<Answer> {
        let request = request(method, path, body);
        let mut place = self.connection.borrow_mut();
        let asked_before = place.is_some();
        if let Some(mut idle) = place.take() {
            match answered(&mut idle, &request) {
                Err(error) if is_closed(&error) => {}
                answer => {
                    *place = answer.is_ok().then_some(idle);
                    return answer;
                }
            }
        }
        let stream = TcpStream::connect(self.address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(ANSWER_WAIT_MAX))?;
        let mut connection = BufReader::new(stream);
        let mut answer = answered(&mut connection, &request)?;
        if asked_before && method == "POST" && answer.status == 409 {
            answer.status = 201;
        }
        *place = Some(connection);
        Ok(answer)
    }
}

fn request(method: &str, path: &str, body: Option<&Value>) -> String {
    let kind = if method == "PATCH" { "application/merge-patch+json" } else { "application/json" };
    let text = body.map(Value::to_string).unwrap_or_default();
    format!(
        "{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n\r\n{text}",
        text.len()
    )
}

fn answered(connection: &mut BufReader<TcpStream>, request: &str) -> io::Result<Answer> {
    connection.get_mut().write_all(request.as_bytes())?;
    read_answer(connection)
}

/// Whether the other side closed the connection, before or while it was asked.
fn is_closed(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, UnexpectedEof};
    matches!(error.kind(), UnexpectedEof | ConnectionReset | ConnectionAborted | BrokenPipe)
}

fn read_answer(connection: &mut BufReader<TcpStream>) -> io::Result<Answer> {
    let fault = |what: &str| io::Error::new(io::ErrorKind::InvalidData, what.to_owned());
    let first = line(connection)?;
    let status = first.split(' ').nth(1).and_then(|code| code.parse().ok());
    let status = status.ok_or_else(|| fault("no status"))?;
    let mut length = None;
    loop {
        let header = line(connection)?;
        let Some((name, value)) = header.split_once(':') else { break };
        if name.eq_ignore_ascii_case("content-length") {
            length = Some(value.trim().parse::<usize>().map_err(|_| fault("no length"))?);
        }
    }
    let mut body = Vec::new();
    match length {
        Some(length) => part(connection, length, &mut body)?,
        None => loop {
            let length = usize::from_str_radix(&line(connection)?, 16).map_err(|_| fault("no chunk"))?;
            part(connection, length, &mut body)?;
            line(connection)?;
            if length == 0 {
                break;
            }
        },
    }
    // Some answers are no JSON, such as that of `/readyz`.
    Ok(Answer { status, body: serde_json::from_slice(&body).unwrap_or_default() })
}

fn line(connection: &mut BufReader<TcpStream>) -> io::Result<String> {
    let mut line = String::new();
    match connection.read_line(&mut line)? {
        0 => Err(io::ErrorKind::UnexpectedEof.into()),
        _ => Ok(line.trim_end().to_owned()),
    }
}

fn part(connection: &mut BufReader<TcpStream>, length: usize, body: &mut Vec<u8>) -> io::Result<()> {
    let start = body.len();
    body.resize(start + length, 0);
    connection.read_exact(&mut body[start..])
}
