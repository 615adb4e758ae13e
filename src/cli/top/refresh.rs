//! Reads the cluster on a separate thread, so that the screen reacts to keys while the API server is slow.
//!
//! A refresh that takes too long is cancelled and reported. Must never present old data as current.

use std::sync::mpsc::Sender;
use std::thread;
use std::time::Duration;

use tokio::runtime::Runtime;

use super::read::{Reader, Unseen};
use crate::render::fleet::Fleet;

/// Timeout of a refresh: even the largest clusters are listed faster.
const REFRESH_MAX: Duration = Duration::from_secs(30);

/// A message to the screen.
#[derive(Debug)]
pub(in super::super) enum News {
    /// The refreshed cluster.
    Seen(Box<Fleet>),
    /// Why it could not be read.
    Failed(String),
    /// A signal asked the program to end.
    Quit,
}

/// Reads the cluster with timeout [`REFRESH_MAX`].
///
/// # Errors
/// It cannot be read, or the timeout expired.
pub(super) async fn in_time(reader: &mut Reader) -> Result<Fleet, Unseen> {
    let late = || Unseen {
        what: format!("the API server did not answer within {} s", REFRESH_MAX.as_secs()),
        hint: Some("check that it can be reached: `kubectl get nodes`".to_owned()),
    };
    tokio::time::timeout(REFRESH_MAX, reader.fleet()).await.unwrap_or_else(|_| Err(late()))
}

/// Reads repeatedly until the receiver is dropped.
pub(super) fn start((runtime, mut reader): (Runtime, Reader), interval: Duration, sender: Sender<News>) {
    let asked = sender.clone();
    let read = async move {
        loop {
            let news = match in_time(&mut reader).await {
                Ok(fleet) => News::Seen(Box::new(fleet)),
                Err(Unseen { what, .. }) => News::Failed(what),
            };
            if sender.send(news).is_err() {
                return;
            }
            tokio::time::sleep(interval).await;
        }
    };
    let all = async move {
        tokio::select! {
            () = read => {}
            () = told_to_end() => {
                // The receiver is gone if the screen was already closed.
                let _ = asked.send(News::Quit);
            }
        }
    };
    thread::spawn(move || runtime.block_on(all));
}

/// Waits for a signal that would otherwise end the program without restoring the terminal.
async fn told_to_end() {
    use tokio::signal::unix::{SignalKind, signal};
    let (terminate, hangup) = (signal(SignalKind::terminate()), signal(SignalKind::hangup()));
    let (Ok(mut terminate), Ok(mut hangup)) = (terminate, hangup) else {
        return std::future::pending().await;
    };
    tokio::select! {
        _ = terminate.recv() => {}
        _ = hangup.recv() => {}
        _ = tokio::signal::ctrl_c() => {}
    }
}
