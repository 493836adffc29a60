-- Remembers the staged records, and updates the positions of those whose rows are known. A position
-- changes if other messages of the file were removed. The first one in the input counts.
WITH first AS (INSERT INTO kept SELECT DISTINCT record_key FROM staging
  ON CONFLICT DO NOTHING RETURNING record_key)
UPDATE urls SET start = found.start, "end" = found."end", line = found.line, exact = found.exact
  FROM (SELECT DISTINCT ON (record_key) record_key, start, "end", line, exact
    FROM staging JOIN first USING(record_key) ORDER BY record_key, number) AS found
  WHERE urls.record_key = found.record_key AND (urls.start, urls."end", urls.line, urls.exact)
    IS DISTINCT FROM (found.start, found."end", found.line, found.exact)
