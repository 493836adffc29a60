-- Removes the rows in doomed, and messages and sources that no other row refers to. The word in
-- braces is replaced by the columns of the index.
INSERT OR IGNORE INTO changed_links SELECT link FROM urls JOIN doomed USING(id) WHERE link IS
  NOT NULL;
INSERT OR IGNORE INTO changed_messages SELECT message FROM urls JOIN doomed USING(id);
INSERT OR IGNORE INTO changed_sources SELECT source FROM urls JOIN doomed USING(id);
INSERT INTO search(search, rowid, {searched}) SELECT 'delete', texts.id, {searched} FROM texts
  JOIN doomed USING(id);
DELETE FROM urls WHERE id IN (SELECT id FROM doomed);
DELETE FROM messages WHERE id IN (SELECT id FROM changed_messages)
  AND NOT EXISTS (SELECT 1 FROM urls WHERE urls.message = messages.id);
DELETE FROM sources WHERE id IN (SELECT id FROM changed_sources)
  AND NOT EXISTS (SELECT 1 FROM urls WHERE urls.source = sources.id);
DELETE FROM doomed; DELETE FROM changed_messages; DELETE FROM changed_sources;
