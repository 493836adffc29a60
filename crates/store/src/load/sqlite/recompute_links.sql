-- Recomputes the counts of links that lost rows, and removes links without rows.
DELETE FROM links WHERE id IN (SELECT id FROM changed_links)
  AND NOT EXISTS (SELECT 1 FROM urls WHERE urls.link = links.id);
UPDATE links SET (citations, messages, in_list_fields, first, last) =
  (SELECT count(*), count(DISTINCT messages.digest),
    sum(urls.region LIKE 'header:list-%' OR urls.region LIKE 'header:archived-at'),
    min(urls.cited), max(urls.cited)
    FROM urls JOIN messages ON messages.id = urls.message WHERE urls.link = links.id)
  WHERE id IN (SELECT id FROM changed_links);
DELETE FROM changed_links;
