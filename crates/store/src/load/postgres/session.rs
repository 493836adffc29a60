//! A connection to a server, and a limit on its silence.
//!
//! A statement may take as long as it needs. If it takes longer than the limit, the server is asked
//! by another connection: it is waited for as long as it answers there, whatever it says. A machine
//! that is gone is noticed by the kernel.

use std::io;
use std::pin::{Pin, pin};
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_postgres::config::Host;
use tokio_postgres::{Client, Config, Error};
use tokio_postgres_rustls::MakeRustlsConnect;

use urlspool_text::limits::{LOAD_CONNECT_SECONDS, LOAD_KEEPALIVE_SECONDS};

type Exchange = Pin<Box<dyn Future<Output = Result<(), Error>> + Send>>;

/// A connection to a server.
pub(super) struct Session {
    runtime: Runtime,
    client: Client,
    /// The exchange of messages, until the connection ends.
    exchange: JoinHandle<Result<(), Error>>,
}

/// The reason why a connection or a statement failed.
#[derive(Debug)]
pub(super) enum SessionError {
    /// The server states it, or the connection broke.
    Client(Error),
    /// The server was silent for this time.
    Silent(Duration),
    /// The system gives no resources to wait for a server.
    System(io::Error),
}

/// A server, and the way to connect to it.
pub(super) struct Server {
    config: Config,
    tls: MakeRustlsConnect,
    /// Time for which it may be silent.
    limit: Duration,
}

impl Server {
    /// Completes the configuration of a target by the limits that its URL does not state.
    pub(super) fn new(mut config: Config, tls: MakeRustlsConnect) -> Server {
        let stated = config.get_connect_timeout().copied();
        let limit = stated
            .filter(|limit| !limit.is_zero())
            .unwrap_or(Duration::from_secs(LOAD_CONNECT_SECONDS));
        config.connect_timeout(limit);
        if config.get_tcp_user_timeout().is_none() {
            config.tcp_user_timeout(limit);
        }
        if config.get_keepalives_idle() == Config::new().get_keepalives_idle() {
            config.keepalives_idle(Duration::from_secs(LOAD_KEEPALIVE_SECONDS));
        }
        Server { config, tls, limit }
    }

    pub(super) fn connect(&self) -> Result<Session, SessionError> {
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(SessionError::System)?;
        let connected = runtime.block_on(self.connected());
        let connected = connected.ok_or(SessionError::Silent(self.limit))?;
        let (client, exchange) = connected.map_err(SessionError::Client)?;
        let exchange = runtime.spawn(exchange);
        Ok(Session {
            runtime,
            client,
            exchange,
        })
    }

    /// Returns a connection, or the answer of a server that refuses it; `None` if it does not
    /// answer. Each of the hosts that the target names may be silent.
    async fn connected(&self) -> Option<Result<(Client, Exchange), Error>> {
        let hosts = u32::try_from(self.config.get_hosts().len()).unwrap_or(u32::MAX);
        let limit = self.limit.saturating_mul(hosts.max(1));
        let connected = self.config.connect(self.tls.clone());
        let connected = timeout(limit, connected).await.ok()?;
        Some(connected.map(|(client, exchange)| (client, Box::pin(exchange) as Exchange)))
    }

    /// Waits for the result of work with a connection, as long as the server answers.
    pub(super) fn run<T>(
        &self,
        session: &mut Session,
        work: impl AsyncFnOnce(&Client) -> Result<T, Error>,
    ) -> Result<T, SessionError> {
        let Session {
            runtime,
            client,
            exchange,
        } = session;
        runtime.block_on(async {
            let mut work = pin!(work(client));
            let error = loop {
                match timeout(self.limit, work.as_mut()).await {
                    Ok(Ok(value)) => return Ok(value),
                    Ok(Err(error)) => break error,
                    Err(_) if self.connected().await.is_some() => {}
                    Err(_) => return Err(SessionError::Silent(self.limit)),
                }
            };
            // The error that ended the connection is the reason of that of the work.
            if client.is_closed()
                && let Ok(Ok(Err(reason))) = timeout(self.limit, exchange).await
            {
                return Err(SessionError::Client(reason));
            }
            Err(SessionError::Client(error))
        })
    }

    /// Takes leave of the server, which would log a connection that breaks.
    pub(super) fn close(&self, session: Session) {
        drop(session.client);
        // If the server does not listen any more, it notices the end later.
        let end = async { timeout(self.limit, session.exchange).await };
        let _ = session.runtime.block_on(end);
    }
}

impl Session {
    /// Returns `true` if the connection has ended.
    pub(super) fn is_closed(&self) -> bool {
        self.client.is_closed()
    }
}

/// Returns the password that a file has for a server.
pub(super) fn password_in(file: &str, config: &Config) -> Option<String> {
    let host = match config.get_hosts().first() {
        Some(Host::Tcp(host)) => host.clone(),
        _ => "localhost".to_owned(),
    };
    let port = config.get_ports().first().copied().unwrap_or(5432);
    let user = config.get_user().unwrap_or_default();
    let database = config.get_dbname().unwrap_or(user);
    let wanted = [&*host, &*port.to_string(), database, user];
    let lines = file.lines().filter(|line| !line.starts_with('#'));
    lines.map(fields).find_map(|mut fields| {
        let password = (fields.len() == wanted.len() + 1).then(|| fields.pop())??;
        let is_right = |(field, wanted): (&String, &&str)| field == "*" || field == wanted;
        fields.iter().zip(&wanted).all(is_right).then_some(password)
    })
}

/// The fields of a line. A backslash keeps the character after it from dividing.
fn fields(line: &str) -> Vec<String> {
    let mut fields = Vec::new();
    let mut field = String::new();
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match c {
            ':' if fields.len() < 4 => fields.push(std::mem::take(&mut field)),
            '\\' => field.extend(chars.next()),
            c => field.push(c),
        }
    }
    fields.push(field);
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_for_a_server_counts() {
        let config: Config = "postgresql://me@db.example:5433/urls".parse().unwrap();
        let file = "# none\nother:*:*:*:a\ndb.example:5433:urls:me:p\\:q\n*:*:*:*:b\n";
        assert_eq!(password_in(file, &config).as_deref(), Some("p:q"));
        assert_eq!(password_in("db.example:1:urls:me:p", &config), None);
        assert_eq!(password_in("*:*:*:*:b", &config).as_deref(), Some("b"));
    }
}
