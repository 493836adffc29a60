//! Removal of rows: of messages that are gone, and of files that were scanned again.

use super::schema::REMOVE_PARENTS;
use super::session::{Session, SessionError};
use crate::load::gone_messages::GoneMessages;

/// Removes the rows of messages that are gone. Returns their number.
pub(super) fn remove_gone(session: &mut Session, gone: &GoneMessages) -> Result<u64, SessionError> {
    let messages = gone
        .by_mailbox()
        .flat_map(|(mailbox, digests)| digests.iter().map(move |digest| (&**mailbox, &**digest)));
    let (mailboxes, digests): (Vec<&str>, Vec<&str>) = messages.unzip();
    let removed = session.execute(
        "WITH gone AS (DELETE FROM urls USING messages, unnest($1::text[], $2::text[]) AS message(mailbox, digest)
           WHERE messages.id = urls.message AND messages.digest = message.digest
           AND md5(messages.mailbox) = md5(message.mailbox)
           RETURNING urls.id, urls.link, urls.message, urls.source),
         links AS (INSERT INTO changed_links SELECT DISTINCT link FROM gone WHERE link IS NOT NULL ON CONFLICT DO NOTHING),
         sources AS (INSERT INTO changed_sources SELECT DISTINCT source FROM gone ON CONFLICT DO NOTHING),
         owners AS (INSERT INTO changed_messages SELECT DISTINCT message FROM gone ON CONFLICT DO NOTHING)
         SELECT id FROM gone",
        &[&mailboxes, &digests],
    )?;
    session.batch_execute(REMOVE_PARENTS)?;
    Ok(removed)
}

/// Removes the rows of the input's files that are not rows of the input. Returns their number.
pub(super) fn remove_replaced(session: &mut Session) -> Result<u64, SessionError> {
    let removed = session.execute(
        "WITH gone AS (DELETE FROM urls USING sources WHERE sources.id = urls.source
           AND (sources.path, coalesce(sources.path_b64, '')) IN (SELECT s.path, coalesce(s.path_b64, '') FROM kept JOIN urls AS u USING(record_key) JOIN sources AS s ON s.id = u.source)
           AND NOT EXISTS (SELECT FROM kept WHERE kept.record_key = urls.record_key)
           RETURNING urls.id, urls.link, urls.message, urls.source),
         links AS (INSERT INTO changed_links SELECT DISTINCT link FROM gone WHERE link IS NOT NULL ON CONFLICT DO NOTHING),
         places AS (INSERT INTO changed_sources SELECT DISTINCT source FROM gone ON CONFLICT DO NOTHING),
         owners AS (INSERT INTO changed_messages SELECT DISTINCT message FROM gone ON CONFLICT DO NOTHING)
         SELECT id FROM gone",
        &[],
    )?;
    session.batch_execute(REMOVE_PARENTS)?;
    Ok(removed)
}
