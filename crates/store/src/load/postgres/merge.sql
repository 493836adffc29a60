-- Moves the staged rows that are new into the tables, except for `urls`, which comes after them.
-- The statements after the removal of known rows use only the table `staging`, so each row is
-- decided on once. A word in braces is replaced by the columns of a table.

-- Rows are looked up in the indexes of the tables: the cost of reading a whole table grows with its
-- rows.
SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off;
-- Only of what is compared: the statistics of words and of lists cost more than a merge gains.
ANALYZE staging(record_key, source_key, key_hash, mailbox_key, digest);
-- Not a join of the table with itself, whose work is the square of the number of copies.
DELETE FROM staging USING (SELECT number,
    row_number() OVER (PARTITION BY record_key ORDER BY mailbox_key <> last_mailbox, number) AS copy
  FROM (SELECT number, record_key, mailbox_key, last_value(mailbox_key) OVER (
      PARTITION BY record_key ORDER BY number
      ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS last_mailbox
    FROM staging) AS copies) AS numbered
  WHERE numbered.number = staging.number AND 1 < numbered.copy;
-- A row belongs to the mailbox for which the record was loaded last.
INSERT INTO moved SELECT urls.id, urls.message, staging.number
  FROM staging JOIN urls USING(record_key) JOIN messages ON messages.id = urls.message
  WHERE messages.mailbox_key <> staging.mailbox_key;
INSERT INTO messages(mailbox_key, {messages})
  SELECT DISTINCT ON (digest, mailbox_key) mailbox_key, {messages}
  FROM staging JOIN moved USING(number) ORDER BY digest, mailbox_key, number ON CONFLICT DO NOTHING;
UPDATE urls SET message = messages.id FROM moved JOIN staging USING(number)
    JOIN messages ON messages.digest = staging.digest AND messages.mailbox_key = staging.mailbox_key
  WHERE urls.id = moved.url;
DELETE FROM messages USING moved WHERE messages.id = moved.message
  AND NOT EXISTS (SELECT FROM urls WHERE urls.message = messages.id);
TRUNCATE moved;
DELETE FROM staging USING urls WHERE urls.record_key = staging.record_key;
INSERT INTO sources(key, {sources}) SELECT DISTINCT ON (source_key) source_key, {sources}
  FROM staging ORDER BY source_key, number ON CONFLICT DO NOTHING;
INSERT INTO links(key, key_hash, scheme, host, domain, citations, messages, in_list_fields,
    clean_key)
  SELECT DISTINCT ON (key_hash) key, key_hash, scheme, host, domain, 0, 0, 0, clean_key
  FROM staging WHERE key_hash IS NOT NULL ORDER BY key_hash, number ON CONFLICT DO NOTHING;
-- Before their messages are added: a missing digest costs one lookup. OFFSET keeps the server from
-- reading all rows of the tables instead of looking these up.
UPDATE links SET citations = links.citations + new.citations,
    messages = links.messages + new.messages,
    in_list_fields = links.in_list_fields + new.in_list_fields,
    first = least(links.first, new.first), last = greatest(links.last, new.last)
  FROM (SELECT link, sum(citations) AS citations, sum(listed) AS in_list_fields,
      min(first) AS first, max(last) AS last,
      count(*) FILTER (WHERE NOT EXISTS (SELECT FROM messages WHERE messages.digest = cited.digest
        AND EXISTS (SELECT FROM urls
          WHERE urls.link = cited.link AND urls.message = messages.id OFFSET 0)
        OFFSET 0)) AS messages
    FROM (SELECT links.id AS link, digest, count(*) AS citations,
        count(*) FILTER (WHERE region ILIKE 'header:list-%' OR region ILIKE 'header:archived-at')
          AS listed, min(cited) AS first, max(cited) AS last
      FROM staging JOIN links USING(key_hash) GROUP BY links.id, digest) AS cited
    GROUP BY link) AS new
  WHERE links.id = new.link;
INSERT INTO messages(mailbox_key, {messages})
  SELECT DISTINCT ON (digest, mailbox_key) mailbox_key, {messages}
  FROM staging ORDER BY digest, mailbox_key, number ON CONFLICT DO NOTHING
