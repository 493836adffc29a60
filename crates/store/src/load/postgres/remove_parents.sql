-- Removes messages and sources that have lost their last row.
DELETE FROM messages USING changed_messages AS changed WHERE messages.id = changed.id
  AND NOT EXISTS (SELECT FROM urls WHERE urls.message = messages.id);
DELETE FROM sources USING changed_sources AS changed WHERE sources.id = changed.id
  AND NOT EXISTS (SELECT FROM urls WHERE urls.source = sources.id);
TRUNCATE changed_messages, changed_sources;
