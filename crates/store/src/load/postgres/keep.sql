-- Remembers the staged records, and updates the positions of those whose rows are known. A position
-- changes if other messages of the file were removed. The first one in the input counts. OFFSET
-- makes the server look each record up by its key.
WITH found AS (SELECT DISTINCT ON (record_key) record_key, start, "end", line, exact FROM staging
    WHERE NOT EXISTS (SELECT FROM kept WHERE kept.record_key = staging.record_key OFFSET 0)
    ORDER BY record_key, number),
  remembered AS (INSERT INTO kept SELECT record_key FROM found)
UPDATE urls SET start = found.start, "end" = found."end", line = found.line, exact = found.exact
  FROM found
  WHERE urls.record_key = found.record_key AND (urls.start, urls."end", urls.line, urls.exact)
    IS DISTINCT FROM (found.start, found."end", found.line, found.exact)
