-- SPDX-License-Identifier: MIT
-- A shop: who ordered most.
CREATE TABLE orders (id INTEGER PRIMARY KEY, customer TEXT, amount INTEGER);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
INSERT INTO orders SELECT i, 'customer ' || (i * 7919 % 997), i * 31 % 1000 FROM n;
CREATE INDEX by_customer ON orders (customer);
SELECT customer, count(*), sum(amount) FROM orders GROUP BY customer ORDER BY 3 DESC, 1 LIMIT 3;
SELECT count(*), sum(amount) FROM orders;
