-- Removes the rows of messages, given the hashes of their mailboxes ($1) and their digests ($2).
WITH gone AS (DELETE FROM urls USING messages, unnest($1::text[], $2::text[]) AS
  message(mailbox_key, digest)
  WHERE messages.id = urls.message AND messages.digest = message.digest AND messages.mailbox_key =
  message.mailbox_key::uuid
  RETURNING urls.id, urls.link, urls.message, urls.source),
