//! Reading on a thread of its own, so that keys are answered while the cluster is not.
//!
//! A refresh that takes too long ends and is said. Must never leave somebody with an old view that looks new.

use std::sync::mpsc::Sender;
use std::thread;
use std::time::Duration;

use tokio::runtime::Runtime;

use super::read::{Reader, Unseen};
use crate::render::fleet::Fleet;

/// How long a refresh may take: a cluster of the largest size is listed in less.
const REFRESH_MAX: Duration = Duration::from_secs(30);

/// What there is to say.
#[derive(Debug)]
pub(in super::super) enum News {
    /// The cluster, read anew.
    Seen(Box<Fleet>),
    /// Why it could not be read.
    Failed(String),
    /// The program was asked to end.
    Quit,
}

/// Reads the cluster, and gives up after [`REFRESH_MAX`].
///
/// # Errors
/// It cannot be read, or not in time.
pub(super) async fn in_time(reader: &mut Reader) -> Result<Fleet, Unseen> {
    let late = || Unseen {
        what: format!("the API server did not answer within {} s", REFRESH_MAX.as_secs()),
        hint: Some("check that it can be reached: `kubectl get nodes`".to_owned()),
    };
    tokio::time::timeout(REFRESH_MAX, reader.fleet()).await.unwrap_or_else(|_| Err(late()))
}

/// Reads again and again until nobody listens.
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
                // Nobody listens where the screen is gone already.
                let _ = asked.send(News::Quit);
            }
        }
    };
    thread::spawn(move || runtime.block_on(all));
}

/// Waits until the program is told to end, by a signal that would leave the terminal as it is.
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
