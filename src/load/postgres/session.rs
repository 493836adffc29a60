//! A connection to a server, and a limit on its silence.
//!
//! A statement may take as long as it needs. If it takes longer than the limit, the server is asked
//! by another connection: it is waited for as long as it answers there, whatever it says. A machine
//! that is gone is noticed by the kernel.

use std::future::{Future, poll_fn};
use std::io::{self, Cursor};
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::Duration;

use futures_util::SinkExt;
use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;
use tokio_postgres::config::Host;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Config, Error, Row};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::limits::{LOAD_CONNECT_SECONDS, LOAD_COPY_BYTES, LOAD_KEEPALIVE_SECONDS};

/// A server, and the way to connect to it.
#[derive(Clone)]
pub(super) struct Server {
    config: Config,
    tls: MakeRustlsConnect,
    /// Time for which it may be silent.
    limit: Duration,
}

/// A connection to a server.
pub(super) struct Session {
    server: Server,
    runtime: Runtime,
    client: Client,
    /// The exchange of messages, until the connection ends.
    exchange: Option<Exchange>,
}

type Exchange = Pin<Box<dyn Future<Output = Result<(), Error>> + Send>>;

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

impl From<Error> for SessionError {
    fn from(error: Error) -> SessionError {
        SessionError::Client(error)
    }
}

pub(super) type Parameters<'p> = &'p [&'p (dyn ToSql + Sync)];

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

    pub(super) fn config(&self) -> &Config {
        &self.config
    }

    pub(super) fn set_password(&mut self, password: &str) {
        self.config.password(password);
    }

    pub(super) fn connect(&self) -> Result<Session, SessionError> {
        let runtime = Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(SessionError::System)?;
        let connected = runtime.block_on(async {
            let connected = self.config.connect(self.tls.clone());
            timeout(self.connect_limit(), connected).await
        });
        let (client, exchange) = connected.map_err(|_| SessionError::Silent(self.limit))??;
        Ok(Session {
            server: self.clone(),
            runtime,
            client,
            exchange: Some(Box::pin(exchange)),
        })
    }

    /// Each of the hosts that the target names may be silent.
    fn connect_limit(&self) -> Duration {
        let hosts = self.config.get_hosts().len().max(1);
        self.limit
            .saturating_mul(u32::try_from(hosts).unwrap_or(u32::MAX))
    }

    /// Returns `true` if the server answers a new connection, also if it refuses it.
    async fn answers(&self) -> bool {
        let connected = self.config.connect(self.tls.clone());
        timeout(self.connect_limit(), connected).await.is_ok()
    }
}

impl Session {
    /// Returns `true` if the connection has ended.
    pub(super) fn is_closed(&self) -> bool {
        self.client.is_closed()
    }

    /// Runs statements, of which the last may end with a semicolon.
    pub(super) fn batch_execute(&mut self, sql: &str) -> Result<(), SessionError> {
        self.run(async |client: &Client| client.batch_execute(sql).await)
    }

    /// Runs a statement. Returns the number of its rows.
    pub(super) fn execute(
        &mut self,
        sql: &str,
        parameters: Parameters<'_>,
    ) -> Result<u64, SessionError> {
        self.run(async |client: &Client| client.execute(sql, parameters).await)
    }

    /// Runs a query of one row.
    pub(super) fn query_one(
        &mut self,
        sql: &str,
        parameters: Parameters<'_>,
    ) -> Result<Row, SessionError> {
        self.run(async |client: &Client| client.query_one(sql, parameters).await)
    }

    /// Runs a query of any number of rows.
    pub(super) fn query(
        &mut self,
        sql: &str,
        parameters: Parameters<'_>,
    ) -> Result<Vec<Row>, SessionError> {
        self.run(async |client: &Client| client.query(sql, parameters).await)
    }

    /// Runs a query of one row, or none.
    pub(super) fn query_opt(
        &mut self,
        sql: &str,
        parameters: Parameters<'_>,
    ) -> Result<Option<Row>, SessionError> {
        self.run(async |client: &Client| client.query_opt(sql, parameters).await)
    }

    /// Runs `COPY ... FROM STDIN` with these lines.
    pub(super) fn copy_in(&mut self, sql: &str, lines: &str) -> Result<u64, SessionError> {
        self.run(async |client: &Client| {
            let mut copy = pin!(client.copy_in(sql).await?);
            for chunk in lines.as_bytes().chunks(LOAD_COPY_BYTES) {
                // The error of a write is that of the connection, which the end of the copy
                // reports.
                if copy.feed(Cursor::new(chunk.to_vec())).await.is_err() {
                    break;
                }
            }
            copy.finish().await
        })
    }

    /// Waits for the result of `work`, as long as the server answers.
    fn run<T>(
        &mut self,
        work: impl AsyncFnOnce(&Client) -> Result<T, Error>,
    ) -> Result<T, SessionError> {
        let Session {
            server,
            runtime,
            client,
            exchange,
        } = self;
        let limit = server.limit;
        runtime.block_on(async {
            let mut result = pin!(work(client));
            let mut step = pin!(poll_fn(|context| {
                // Its error is the reason of that of the work.
                if let Some(running) = exchange
                    && let Poll::Ready(ended) = running.as_mut().poll(context)
                {
                    *exchange = None;
                    if let Err(error) = ended {
                        return Poll::Ready(Err(error));
                    }
                }
                result.as_mut().poll(context)
            }));
            loop {
                match timeout(limit, step.as_mut()).await {
                    Ok(result) => return result.map_err(SessionError::Client),
                    Err(_) if server.answers().await => {}
                    Err(_) => return Err(SessionError::Silent(limit)),
                }
            }
        })
    }

    /// Takes leave of the server, which would log a connection that breaks.
    pub(super) fn close(self) {
        drop(self.client);
        if let Some(exchange) = self.exchange {
            // If the server does not listen any more, it notices the end later.
            let end = async { timeout(self.server.limit, exchange).await };
            let _ = self.runtime.block_on(end);
        }
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
