-- Temporary tables for the rows to remove and the rows they refer to.
CREATE TEMP TABLE IF NOT EXISTS doomed(id INTEGER PRIMARY KEY);
CREATE TEMP TABLE IF NOT EXISTS changed_links(id INTEGER PRIMARY KEY);
CREATE TEMP TABLE IF NOT EXISTS changed_messages(id INTEGER PRIMARY KEY);
CREATE TEMP TABLE IF NOT EXISTS changed_sources(id INTEGER PRIMARY KEY);
