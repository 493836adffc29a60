//! The proxy through which the link checker reaches the network: it connects to public addresses only.
//!
//! The checker resolves no name itself. For each connection, also after a redirect, the proxy judges the host, resolves it,
//! judges all its addresses, and connects to one of those that it judged. So neither a redirect, a name with a private address, nor an
//! answer of the name service that changes leads to a private host.
//!
//! The proxy speaks HTTP/1.1: `CONNECT`, and requests with an absolute URL, one for each connection.

mod connection;
mod host_rules;
mod http_head;

use std::collections::HashMap;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use url::Url;

use crate::audit::error::{AuditError, OutputError};
use crate::audit::lychee_answers::Answer;
use crate::audit::state::{CheckFailure, CheckOutcome};
use host_rules::{HostRules, Resolve};

/// HTTP code with which the proxy answers for a host that it did not reach. No server is known to use it.
const NOT_REACHED: u16 = 599;

/// A running proxy. It ends when it is dropped; open connections end with their peers.
pub(super) struct GuardProxy {
    address: SocketAddr,
    shared: Arc<Shared>,
}

/// The state that all connections share.
struct Shared {
    rules: HostRules,
    /// The reasons for which hosts were not reached, by host and port. A later success removes it.
    failures: Mutex<HashMap<String, CheckFailure>>,
    is_stopped: AtomicBool,
}

impl GuardProxy {
    /// Starts a proxy on the loopback interface. It also connects to `private_hosts`: names, or addresses.
    pub(super) fn start(private_hosts: &[String]) -> Result<GuardProxy, AuditError> {
        GuardProxy::with_resolver(private_hosts, host_rules::system_resolver()).map_err(|error| {
            let reason = error.to_string();
            OutputError::NoProxy { reason }.into()
        })
    }

    fn with_resolver(private_hosts: &[String], resolve: Resolve) -> io::Result<GuardProxy> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            rules: HostRules::new(private_hosts, resolve),
            failures: Mutex::default(),
            is_stopped: AtomicBool::new(false),
        });
        let accepting = Arc::clone(&shared);
        thread::Builder::new()
            .name("audit-proxy".to_owned())
            .spawn(move || accept(&listener, &accepting))?;
        Ok(GuardProxy { address, shared })
    }

    /// Returns the URL of the proxy, as the environment of the checker has it.
    pub(super) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Replaces what the checker says of a host that was not reached by the reason that the proxy knows.
    pub(super) fn explained(&self, mut answer: Answer) -> Answer {
        let last_url = answer.final_url.as_deref().unwrap_or(&answer.asked_url);
        let may_be_ours = match answer.outcome {
            CheckOutcome::Status(code) => code == NOT_REACHED,
            CheckOutcome::Failed(CheckFailure::Excluded | CheckFailure::Timeout) => false,
            CheckOutcome::Failed(_) => true,
        };
        if !may_be_ours {
            return answer;
        }
        let failure =
            host_and_port(last_url).and_then(|host| self.shared.failures().get(&host).copied());
        match (failure, answer.outcome) {
            (Some(failure), _) => answer.outcome = CheckOutcome::Failed(failure),
            // The host was reached, and closed the connection before an answer.
            (
                None,
                CheckOutcome::Status(_)
                | CheckOutcome::Failed(CheckFailure::Dns | CheckFailure::Connect),
            ) => {
                answer.outcome = CheckOutcome::Failed(CheckFailure::Other);
            }
            (None, CheckOutcome::Failed(_)) => {}
        }
        answer
    }
}

impl Drop for GuardProxy {
    fn drop(&mut self) {
        self.shared.is_stopped.store(true, Ordering::Relaxed);
        // Wakes the thread that accepts connections.
        let _ = TcpStream::connect(self.address);
    }
}

impl Shared {
    fn failures(&self) -> MutexGuard<'_, HashMap<String, CheckFailure>> {
        self.failures.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Connects to a host, and remembers why it failed.
    fn connect(&self, url: &Url) -> Result<TcpStream, CheckFailure> {
        let connected = self.rules.connect(url);
        if let Some(host) = host_and_port(url.as_str()) {
            match &connected {
                Ok(_) => self.failures().remove(&host),
                Err(failure) => self.failures().insert(host, *failure),
            };
        }
        connected
    }
}

/// Host and port of a URL, as failures are known by.
fn host_and_port(url: &str) -> Option<String> {
    let url = Url::parse(url).ok()?;
    Some(format!(
        "{}:{}",
        url.host_str()?,
        url.port_or_known_default()?
    ))
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    for stream in listener.incoming() {
        if shared.is_stopped.load(Ordering::Relaxed) {
            return;
        }
        let Ok(stream) = stream else { continue };
        let shared = Arc::clone(shared);
        let serve = move || {
            // A connection that breaks is one that the checker or the server closed.
            let _ = connection::serve(stream, &shared);
        };
        // Without a thread the connection is closed, which the checker reports.
        let _ = thread::Builder::new().spawn(serve);
    }
}

#[cfg(test)]
mod tests;
