-- The connection's temporary tables, among them the table that rows are copied into. The word in
-- braces is replaced by the columns of all fields.
CREATE TEMP TABLE staging(
  number bigint, record_key uuid, source_key uuid, key_hash uuid, mailbox_key uuid, record_id
  text, key text COLLATE "C", clean_key text COLLATE "C", {columns}, search tsvector
) ON COMMIT DELETE ROWS;
CREATE TEMP TABLE moved(url bigint, message bigint, number bigint) ON COMMIT DELETE ROWS;
CREATE TEMP TABLE kept(record_key uuid PRIMARY KEY) ON COMMIT DELETE ROWS;
CREATE TEMP TABLE changed_links(id bigint PRIMARY KEY) ON COMMIT DELETE ROWS;
CREATE TEMP TABLE changed_sources(id bigint PRIMARY KEY) ON COMMIT DELETE ROWS;
CREATE TEMP TABLE changed_messages(id bigint PRIMARY KEY) ON COMMIT DELETE ROWS;
