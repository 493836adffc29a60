-- Recomputes the counts of links that lost rows, and removes links without rows.
DELETE FROM links USING changed_links AS changed WHERE links.id = changed.id
  AND NOT EXISTS (SELECT FROM urls WHERE urls.link = links.id);
UPDATE links SET (citations, messages, in_list_fields, first, last) =
  (SELECT count(*), count(DISTINCT messages.digest),
    count(*) FILTER (WHERE region ILIKE 'header:list-%' OR region ILIKE 'header:archived-at'),
    min(urls.cited), max(urls.cited)
    FROM urls JOIN messages ON messages.id = urls.message WHERE urls.link = links.id)
  WHERE id IN (SELECT id FROM changed_links);
TRUNCATE changed_links;
