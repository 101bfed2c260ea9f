-- SPDX-License-Identifier: MIT
-- Never has enough.
CREATE TABLE hoard (id INTEGER PRIMARY KEY, stuff BLOB);
INSERT INTO hoard (stuff) VALUES (zeroblob(1000));
SELECT 'begins with ' || count(*) FROM hoard;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) INSERT INTO hoard (stuff) SELECT zeroblob(50000) FROM n;
SELECT 'never comes here';
