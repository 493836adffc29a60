//! A connection to a server, with a limit on its silence.
//!
//! A statement may take as long as it needs. When it exceeds the limit, the server is contacted
//! over a second connection. The wait continues as long as the server answers there, even if it
//! refuses the connection. The kernel notices a machine that is gone.

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
    pub(super) client: Client,
    /// Task that exchanges messages with the server until the connection ends.
    exchange: JoinHandle<Result<(), Error>>,
}

/// Reason why a connection or a statement failed.
#[derive(Debug)]
pub(super) enum SessionError {
    /// The server reported an error, or the connection broke.
    Client(Error),
    /// The server was silent for this time.
    Silent(Duration),
    /// The system lacks the resources to wait for a server.
    System(io::Error),
}

/// A server and how to connect to it.
pub(super) struct Server {
    config: Config,
    tls: MakeRustlsConnect,
    /// Maximum time of silence.
    limit: Duration,
}

impl Server {
    /// Adds the limits that the target's URL leaves unset.
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

    /// Returns a connection, or the error of a server that refuses it; `None` if the server does
    /// not answer. Waits for each host that the target names.
    async fn connected(&self) -> Option<Result<(Client, Exchange), Error>> {
        let hosts = u32::try_from(self.config.get_hosts().len()).unwrap_or(u32::MAX);
        let limit = self.limit.saturating_mul(hosts.max(1));
        let connected = self.config.connect(self.tls.clone());
        let connected = timeout(limit, connected).await.ok()?;
        Some(connected.map(|(client, exchange)| (client, Box::pin(exchange) as Exchange)))
    }

    /// Waits for the result of `work` as long as the server answers.
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
            // The error that ended the connection is the actual reason.
            if client.is_closed()
                && let Ok(Ok(Err(reason))) = timeout(self.limit, exchange).await
            {
                return Err(SessionError::Client(reason));
            }
            Err(SessionError::Client(error))
        })
    }

    /// Closes the connection cleanly; otherwise the server would log a broken connection.
    pub(super) fn close(&self, session: Session) {
        drop(session.client);
        // If the server no longer listens, it will notice later.
        let end = async { timeout(self.limit, session.exchange).await };
        let _ = session.runtime.block_on(end);
    }
}

/// Returns the password for a server from a password file.
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

/// Splits a line at colons. A backslash escapes the next character.
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
    fn the_first_matching_line_of_a_password_file_is_used() {
        let config: Config = "postgresql://me@db.example:5433/urls".parse().unwrap();
        let file = "# none\nother:*:*:*:a\ndb.example:5433:urls:me:p\\:q\n*:*:*:*:b\n";
        assert_eq!(password_in(file, &config).as_deref(), Some("p:q"));
        assert_eq!(password_in("db.example:1:urls:me:p", &config), None);
        assert_eq!(password_in("*:*:*:*:b", &config).as_deref(), Some("b"));
    }
}
