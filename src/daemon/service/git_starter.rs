//! The thread that starts `git`. It begins before the process gives up its rights, because that
//! includes the right to run programs, and gives up the others itself: what it starts can write
//! nowhere and open no connection.

use std::io;
use std::process::{Child, Command};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};

use super::sandbox;
use crate::daemon::DaemonError;
use crate::read::StartProgram;

/// A program to start, and the way for the answer.
struct Request {
    command: Command,
    answer: Sender<io::Result<Child>>,
}

/// Starts the thread, which ends with the value that is returned.
///
/// # Errors
///
/// The thread cannot be started.
pub(super) fn start() -> Result<StartProgram, DaemonError> {
    let (sender, requests) = channel::<Request>();
    let serve = move || {
        sandbox::confine_programs();
        for Request {
            mut command,
            answer,
        } in requests
        {
            // Without a receiver the reader has ended, and dropping the process is left to its
            // owner.
            let _ = answer.send(command.spawn());
        }
    };
    std::thread::Builder::new()
        .name("git".to_owned())
        .spawn(serve)
        .map_err(DaemonError::thread)?;
    let sender = Mutex::new(sender);
    Ok(Arc::new(move |command| {
        let (answer, answers) = channel();
        let request = Request { command, answer };
        let ended = || io::Error::other("the thread that starts git has ended");
        let sent = sender
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .send(request);
        sent.map_err(|_| ended())?;
        answers.recv().map_err(|_| ended())?
    }))
}
