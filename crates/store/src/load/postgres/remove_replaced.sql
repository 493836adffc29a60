-- Removes rows that are not in the input. Covers the input's files and the files $1 (base64 $2),
-- but not the files $3 (base64 $4).
WITH replaced(path, path_b64) AS ((SELECT sources.path, coalesce(sources.path_b64, '')
    FROM kept JOIN urls USING(record_key) JOIN sources ON sources.id = urls.source
    UNION SELECT * FROM unnest($1::text[], $2::text[]))
  EXCEPT SELECT * FROM unnest($3::text[], $4::text[])),
gone AS (DELETE FROM urls USING sources WHERE sources.id = urls.source
  AND (sources.path, coalesce(sources.path_b64, '')) IN (SELECT path, path_b64 FROM replaced)
  AND NOT EXISTS (SELECT FROM kept WHERE kept.record_key = urls.record_key)
  RETURNING urls.id, urls.link, urls.message, urls.source),
