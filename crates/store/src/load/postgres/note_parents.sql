-- End of the two removal statements: records the rows that the removed rows referred to, and
-- returns the removed rows.
  links AS (INSERT INTO changed_links SELECT DISTINCT link FROM gone WHERE link IS NOT NULL ON
  CONFLICT DO NOTHING),
  places AS (INSERT INTO changed_sources SELECT DISTINCT source FROM gone ON CONFLICT DO NOTHING),
  owners AS (INSERT INTO changed_messages SELECT DISTINCT message FROM gone ON CONFLICT DO NOTHING)
  SELECT id FROM gone
