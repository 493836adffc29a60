//! The view `records`, which is the same SQL in each database.

/// Creates the view after the tables: a row for each record, with the names of the record's fields.
pub(super) const RECORDS_VIEW: &str = "
CREATE VIEW records AS
  SELECT urls.record_id AS id, urls.url, urls.fragment, urls.scheme, urls.host, urls.domain, urls.port,
    links.key, urls.href, urls.conforms, urls.warnings, urls.hazards, urls.form, urls.wrapper, urls.repairs,
    urls.confidence, urls.truncated, urls.region, urls.quote_depth, urls.anchor, urls.mismatch,
    urls.unwrapped_from, urls.unwrapped_by, urls.cited,
    sources.path AS source_path, messages.mailbox AS source_mailbox, sources.member AS source_member,
    sources.kind AS source_kind, urls.start AS source_start, urls.\"end\" AS source_end, urls.line AS source_line,
    messages.message_id, messages.digest AS message_digest, messages.date AS message_date,
    messages.sender AS message_from, messages.subject AS message_subject,
    messages.newsgroups AS message_newsgroups, messages.list_id AS message_list_id, urls.count
  FROM urls
    JOIN messages ON messages.id = urls.message
    JOIN sources ON sources.id = urls.source
    LEFT JOIN links ON links.id = urls.link;
";
