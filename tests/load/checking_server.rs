//! A checking server: it answers the requests of a load as Elasticsearch and `OpenSearch` document
//! it, and complains about every request that they would refuse. It does not replace a test with a
//! real server. A seeded generator causes faults.

mod documents;
mod http;

pub(crate) use documents::Documents;

use std::io::{BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use super::authority::Authority;
use crate::scene::Rng;
use http::{Answer, Request, read_request, write_answer};

/// API key that requests must carry.
pub(crate) const API_KEY: &str = "c2VjcmV0OmtleQ==";

/// Probabilities of faults, in percent.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Faults {
    /// A request is refused with 429 or 503, with or without `Retry-After`.
    pub(crate) refused_requests: u64,
    /// A document is refused with 429 or 503.
    pub(crate) refused_documents: u64,
    /// The connection is cut before the request is processed, after it, or within the response.
    pub(crate) cut_connections: u64,
}

/// A server on a local port that runs until it is dropped.
pub(crate) struct CheckingServer {
    address: SocketAddr,
    /// TLS configuration of its connections.
    tls: Option<Arc<ServerConfig>>,
    shared: Arc<Shared>,
}

struct Shared {
    state: Mutex<State>,
    is_ended: AtomicBool,
}

/// The stored documents and the planned faults.
pub(crate) struct State {
    pub(crate) documents: Documents,
    /// `Authorization` header that requests must have.
    pub(crate) authorization: Option<String>,
    pub(crate) faults: Faults,
    /// `true` if each connection is closed at once.
    pub(crate) is_away: bool,
    /// Number of processed requests.
    pub(crate) requests: u64,
    rng: Rng,
}

/// Outcome of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Answered,
    Refused(u16),
    CutBefore,
    CutAfter,
    CutWithin,
}

impl CheckingServer {
    /// Starts a server without indexes.
    pub(crate) fn start(seed: u64) -> CheckingServer {
        CheckingServer::start_with(seed, None)
    }

    /// Starts a server with TLS and a certificate for `localhost`.
    pub(crate) fn start_encrypted(seed: u64, authority: &Authority) -> CheckingServer {
        let file = |name| authority.file(name);
        let certificates = CertificateDer::pem_file_iter(file("server.crt")).unwrap();
        let key = PrivateKeyDer::from_pem_file(file("server.key")).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(certificates.map(Result::unwrap).collect(), key);
        CheckingServer::start_with(seed, Some(Arc::new(config.unwrap())))
    }

    fn start_with(seed: u64, tls: Option<Arc<ServerConfig>>) -> CheckingServer {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared {
            state: Mutex::new(State {
                documents: Documents::default(),
                authorization: Some(format!("ApiKey {API_KEY}")),
                faults: Faults::default(),
                is_away: false,
                requests: 0,
                rng: Rng::seeded(seed),
            }),
            is_ended: AtomicBool::new(false),
        });
        let (server, config) = (Arc::clone(&shared), tls.clone());
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if server.is_ended.load(Ordering::Relaxed) {
                    return;
                }
                let (server, config) = (Arc::clone(&server), config.clone());
                thread::spawn(move || match config {
                    None => server.serve(stream),
                    Some(config) => {
                        let connection = ServerConnection::new(config).unwrap();
                        server.serve(StreamOwned::new(connection, stream));
                    }
                });
            }
        });
        CheckingServer {
            address,
            tls,
            shared,
        }
    }

    /// Returns the target for an index of the server.
    pub(crate) fn target(&self, index: &str) -> String {
        match self.tls {
            None => format!("elasticsearch+http://{}/{index}", self.address),
            Some(_) => {
                let port = self.address.port();
                format!("elasticsearch+https://localhost:{port}/{index}")
            }
        }
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.shared.state.lock().unwrap()
    }

    /// Checks that no request was wrong.
    #[track_caller]
    pub(crate) fn check(&self) {
        let state = self.state();
        assert!(0 < state.requests, "nobody asked");
        let complaints = &state.documents.complaints;
        assert!(complaints.is_empty(), "{complaints:#?}");
    }
}

impl Drop for CheckingServer {
    fn drop(&mut self) {
        self.shared.is_ended.store(true, Ordering::Relaxed);
        // Wakes the thread that accepts connections.
        let _ = TcpStream::connect(self.address);
    }
}

impl Shared {
    /// Answers the requests of a connection, one at a time over all connections.
    fn serve(&self, stream: impl Read + Write) {
        let mut reader = BufReader::new(stream);
        while let Ok(Some(request)) = read_request(&mut reader) {
            let mut state = self.state.lock().unwrap();
            if state.is_away {
                return;
            }
            let (fate, answer) = state.process(&request);
            drop(state);
            let is_whole = fate != Fate::CutWithin;
            let is_cut = matches!(fate, Fate::CutBefore | Fate::CutAfter);
            if is_cut || write_answer(reader.get_mut(), &answer, is_whole).is_err() || !is_whole {
                return;
            }
        }
    }
}

impl State {
    fn process(&mut self, request: &Request) -> (Fate, Answer) {
        self.requests += 1;
        if request.header("authorization") != self.authorization.as_ref() {
            let answer = Answer::error(401, "security_exception", "missing credentials");
            return (Fate::Answered, answer);
        }
        let fate = self.fate();
        let answer = match fate {
            Fate::CutBefore => Answer::empty(500),
            Fate::Refused(status) => {
                let mut answer = Answer::error(status, "es_rejected_execution_exception", "busy");
                if self.rng.below(3_u64) == 0 {
                    answer.retry_after = Some(0);
                }
                answer
            }
            Fate::Answered | Fate::CutAfter | Fate::CutWithin => {
                let percent = self.faults.refused_documents;
                let rng = &mut self.rng;
                let refuse = || (rng.below(100_u64) < percent).then(|| *rng.pick(&[429, 503]));
                self.documents.answer(request, refuse)
            }
        };
        (fate, answer)
    }

    fn fate(&mut self) -> Fate {
        if self.rng.below(100_u64) < self.faults.refused_requests {
            return Fate::Refused(*self.rng.pick(&[429, 503]));
        }
        if self.rng.below(100_u64) < self.faults.cut_connections {
            return *self
                .rng
                .pick(&[Fate::CutBefore, Fate::CutAfter, Fate::CutWithin]);
        }
        Fate::Answered
    }
}
