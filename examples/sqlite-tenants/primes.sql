-- SPDX-License-Identifier: MIT
-- A sieve as a table.
CREATE TABLE sieve (n INTEGER PRIMARY KEY);
WITH RECURSIVE c(n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM c WHERE n < 10000) INSERT INTO sieve SELECT n FROM c;
WITH RECURSIVE
	p(n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM p WHERE n < 100),
	m(n, k) AS (SELECT n, n * n FROM p UNION ALL SELECT n, k + n FROM m WHERE k + n <= 10000)
DELETE FROM sieve WHERE n IN (SELECT k FROM m);
SELECT count(*), max(n), sum(n) FROM sieve;
