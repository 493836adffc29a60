//! The HTTP client that names itself to the owners of archives.

use std::time::Duration;

use ureq::Agent;

use crate::audit::AuditError;
use crate::audit::client::user_agent;
use crate::limits::AUDIT_CDX_SECONDS;
use crate::load::{TrustedAuthorities, http_agent};

/// Creates a client of `server`. `contact` tells its owners whom to write to. It follows no redirects.
pub(in crate::audit) fn agent(server: &str, contact: &str) -> Result<Agent, AuditError> {
    let user_agent = user_agent(Some(contact))?;
    let timeout = Duration::from_secs(AUDIT_CDX_SECONDS);
    Ok(http_agent(
        server,
        &TrustedAuthorities::Machine,
        None,
        &user_agent,
        timeout,
    ))
}

/// Refuses the address of a server that has a user or a password before an `@`: the database, the
/// report and messages name the address.
pub(in crate::audit) fn refuse_login(server: &str) -> Result<(), AuditError> {
    let rest = server.split_once("://").map_or(server, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if authority.contains('@') {
        return Err(AuditError::unusable(
            "the address of a server has a user or a password before its `@`, and an audit keeps \
             and shows the address; leave them out",
        ));
    }
    Ok(())
}

/// Returns the error of a server that redirects: the user should name the other place.
pub(super) fn redirects(server: &str, option: &str) -> AuditError {
    AuditError::unusable(format!(
        "{server} redirects to another place; name that place with `{option}`"
    ))
}
