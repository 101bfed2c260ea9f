-- SPDX-License-Identifier: MIT
-- A graph of 600 nodes: how far each is from the first.
CREATE TABLE edges (a INTEGER, b INTEGER, PRIMARY KEY (a, b)) WITHOUT ROWID;
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 599)
INSERT OR IGNORE INTO edges SELECT i, (i + 1) % 600 FROM n UNION SELECT i, i * 37 % 600 FROM n;
CREATE TABLE reached (node INTEGER PRIMARY KEY, steps INTEGER);
WITH RECURSIVE walk(node, steps) AS (
	SELECT 0, 0 UNION SELECT b, steps + 1 FROM walk JOIN edges ON a = node WHERE steps < 40)
INSERT INTO reached SELECT node, min(steps) FROM walk GROUP BY node;
SELECT count(*), max(steps), sum(steps) FROM reached;
