-- Selects the files without a remembered row.
SELECT path, coalesce(path_b64, '') FROM sources
EXCEPT SELECT sources.path, coalesce(sources.path_b64, '')
  FROM kept JOIN urls USING(record_key) JOIN sources ON sources.id = urls.source
