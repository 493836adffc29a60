-- Adds the rows of the records that are still staged. A word in braces is replaced by columns.
INSERT INTO urls(record_key, record_id, link, message, source, {urls}, search)
  SELECT s.record_key, s.record_id, links.id, messages.id, sources.id, {staged}, s.search
  FROM staging AS s JOIN sources ON sources.key = s.source_key
    JOIN messages ON messages.digest = s.digest AND messages.mailbox_key = s.mailbox_key
    LEFT JOIN links ON links.key_hash = s.key_hash
  ORDER BY s.number
