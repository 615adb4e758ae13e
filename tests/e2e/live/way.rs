//! The way of nodeform's Pods to the API server: it can fall silent, as a network does that loses packets. Nothing is closed
//! then; whatever was connected stays silent for ever, and what connects later gets through.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

/// How long a connection that is silent sleeps, again and again: closing it would tell its ends.
const SILENCE: Duration = Duration::from_secs(3_600);

/// It is open as long as the test's process lives.
pub(super) struct Way {
    pub(super) address: SocketAddr,
    /// How often it fell silent or spoke again: silent while it is odd.
    turns: Arc<AtomicUsize>,
}

impl Way {
    /// Opens one to a server.
    pub(super) fn to(server: SocketAddr) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("loopback has a free port");
        let address = listener.local_addr().expect("it listens");
        let turns = Arc::<AtomicUsize>::default();
        let known = Arc::clone(&turns);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let Ok(upstream) = TcpStream::connect(server) else { continue };
                let both = || Some((client.try_clone().ok()?, upstream.try_clone().ok()?));
                let Some((from, to)) = both() else { continue };
                let since = known.load(Ordering::SeqCst);
                pump((from, to), since, Arc::clone(&known));
                pump((upstream, client), since, Arc::clone(&known));
            }
        });
        Self { address, turns }
    }

    /// Passes nothing on from now on.
    pub(super) fn falls_silent(&self) {
        self.turns.fetch_add(1, Ordering::SeqCst);
    }

    /// Passes on what comes by connections that are made from now on.
    pub(super) fn speaks_again(&self) {
        self.turns.fetch_add(1, Ordering::SeqCst);
    }
}

/// Passes on what comes, as long as nothing has changed since the connection was made.
fn pump((mut from, mut to): (TcpStream, TcpStream), since: usize, turns: Arc<AtomicUsize>) {
    thread::spawn(move || {
        let mut bytes = [0; 16_384];
        while let Ok(read @ 1..) = from.read(&mut bytes) {
            while since % 2 == 1 || turns.load(Ordering::SeqCst) != since {
                thread::sleep(SILENCE);
            }
            if to.write_all(&bytes[..read]).is_err() {
                break;
            }
        }
        let _ = to.shutdown(Shutdown::Both);
    });
}
