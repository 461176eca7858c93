"""Known ways to get more out of the SQL guard than a project's own rows, by name.

Each is a name, what has to come of it, and the text. {own} and {other} stand for the databases of the asking and of another
project, {outfile} for a file that must not appear. What has to come of it: "refused" (an error), "fails" (an error of
limits), "answered" (it is harmless and must stay possible), "limited" (answered, within limits that are the guard's). Each has
one status: 200 where it is answered, 400 where nothing else is stated.
"""

import collections

Attack = collections.namedtuple("Attack", "name expect sql statuses")
ATTACKS = []


def attack(name, sql, expect="refused", statuses=None):
    ATTACKS.append(Attack(name, expect, sql, statuses or ([200] if expect in ("answered", "limited") else [400])))


DEEP = 900
# seen on the running binary
attack("a transformer's lambda with settings", "SELECT * APPLY(x -> (SELECT groupArray(input) FROM hone.spans SETTINGS log_comment='*')) FROM (SELECT 1 AS a)")
attack("a transformer's lambda over all text tokens", "SELECT * APPLY(x -> (SELECT groupArray(token) FROM mergeTreeTextIndex(hone, spans, input_words))) FROM (SELECT 1 AS a)")
attack("a transformer's lambda over running queries", "SELECT * APPLY(x -> (SELECT groupArray(query) FROM system.processes)) FROM (SELECT 1 AS a)")
attack("three statements behind a comment of two slashes", "SELECT 1 // '\n); SELECT 'x' INTO OUTFILE '{outfile}' FORMAT TSV; SELECT * FROM (SELECT 2 // '\n")
attack("two slashes hide the rest", "SELECT 1 // '\n, (SELECT groupArray(input) FROM hone.spans)", "answered")
attack("names inside a text", "SELECT 'WITH processes AS (SELECT 1)', count() FROM system.processes")
attack("names inside a text, unqualified", "SELECT 'trace_times AS (' AS x, count() FROM trace_times")
# statements
for s in ["DROP TABLE spans", "INSERT INTO spans SELECT * FROM spans", "SET readonly = 0", "SET ROLE ALL", "USE hone", "SHOW TABLES", "SHOW DATABASES", "SHOW CREATE TABLE spans", "SHOW PROCESSLIST",
          "DESCRIBE spans", "DESCRIBE TABLE url('http://127.0.0.1:1/', CSV)", "EXPLAIN SELECT 1", "EXPLAIN AST SELECT 1", "EXPLAIN ESTIMATE SELECT * FROM spans", "EXISTS TABLE hone.spans", "CHECK TABLE hone.spans",
          "KILL QUERY WHERE 1", "SYSTEM SHUTDOWN", "SYSTEM FLUSH LOGS", "CREATE TABLE x (a Int8) ENGINE = Memory", "CREATE TEMPORARY TABLE x AS SELECT 1", "CREATE VIEW x AS SELECT 1", "ALTER TABLE hone.spans DELETE WHERE 1",
          "OPTIMIZE TABLE hone.spans", "TRUNCATE TABLE hone.spans", "RENAME TABLE hone.spans TO hone.x", "ATTACH TABLE x", "DETACH TABLE hone.spans", "BACKUP TABLE hone.spans TO File('x')", "GRANT owner TO default",
          "CREATE FUNCTION f AS x -> x", "EXECUTE AS default SELECT 1", "BEGIN TRANSACTION", "WATCH spans", "UNDROP TABLE x", "DELETE FROM hone.spans WHERE 1", "UPDATE hone.spans SET name = '' WHERE 1", "CREATE DATABASE x", "COPY spans TO 'x'"]:
    attack("statement: " + s.split("(")[0][:40], s)
attack("two statements", "SELECT 1; SELECT 2")
attack("a second statement that takes the role", "SELECT 1; SET ROLE ALL; USE hone; SELECT groupArray(input) FROM hone.spans")
attack("a second statement after a bracket", "SELECT 1) ; SELECT (2")
attack("closing the guard's own bracket", "SELECT 1) UNION ALL SELECT groupArray(input) FROM (SELECT * FROM hone.spans")
attack("statements side by side", "SELECT 1 PARALLEL WITH SELECT 2")
attack("a separator in a hint", "SELECT 1 -- { serverError 1 }\n; SELECT 2")
attack("a client's backslash command", "SELECT 1\\G")
attack("empty", "")
attack("only a comment", "-- nothing")
attack("only brackets", "((()))", "limited")
# clauses
attack("settings", "SELECT * FROM spans SETTINGS log_comment = '*'")
attack("settings in a subquery", "SELECT * FROM (SELECT * FROM spans SETTINGS max_memory_usage = 0)")
attack("settings in the second arm", "SELECT 1 UNION ALL SELECT 2 SETTINGS readonly = 0")
attack("settings of another name", "SELECT 1 SETTINGS enable_analyzer = 0")
attack("settings that keep the old analyzer", "SELECT (SELECT 1 SETTINGS allow_experimental_analyzer = 0)")
attack("settings with filters", "SELECT * FROM spans SETTINGS additional_table_filters = {'spans': '1'}")
attack("format", "SELECT name FROM spans FORMAT Null")
attack("format in the second arm", "SELECT 1 UNION ALL SELECT 2 FORMAT CSV")
attack("into outfile", "SELECT * FROM spans INTO OUTFILE '{outfile}'")
attack("into outfile truncate", "SELECT 1 INTO OUTFILE '{outfile}' TRUNCATE FORMAT CSV SETTINGS max_threads = 1")
attack("into outfile and stdout", "SELECT 1 INTO OUTFILE '{outfile}' AND STDOUT COMPRESSION 'gzip'")
attack("sample", "SELECT * FROM spans SAMPLE 0.1")
attack("a parameter", "SELECT {x:String}")
attack("a parameter as a name", "SELECT * FROM {t:Identifier}")
attack("our own parameter", "SELECT {sql:String}")
# tables
for t in ["system.tables", "system.processes", "system.errors", "system.one", "system.parts", "system.query_log", "system.numbers", "system.zeros", "system.databases", "system.settings", "system.users", "system.stack_trace",
          "system.row_policies", "system.dropped_tables", "system.events", "system.query_cache", "system.text_log", "`system`.`processes`", "\"system\".\"processes\"", "SYSTEM.processes", "information_schema.tables", "INFORMATION_SCHEMA.TABLES",
          "information_schema.columns", "hone.trace_times", "hone.eval_history", "trace_times", "eval_history", "{other}.spans", "`{other}`.`spans`", "{other}.evals", "{other}.traces", "default.x", "_temporary_and_external_tables.x",
          "`hone.spans`", "`hone`.`trace_times`", "spans.spans", "a.b.c", "`.inner.x`", "`_table_function`.x"]:
    attack("table: " + t, "SELECT * FROM " + t)
attack("a table of another project in a join", "SELECT * FROM spans AS a JOIN {other}.spans AS b ON 1 = 1")
attack("a table of another project in a subquery", "SELECT (SELECT groupArray(input) FROM {other}.spans)")
attack("a column of another project", "SELECT {other}.spans.input FROM spans")
for s in ["SELECT 0 IN system.one", "SELECT notIn(0, `system`.`one`)", "SELECT 0 GLOBAL IN (system.one)", "WITH system.one AS x SELECT 0 IN x", "WITH hone.trace_times AS x SELECT 0 IN x", "SELECT name IN trace_times FROM spans",
          "SELECT 'x' IN {other}.spans", "SELECT ('a', 1) IN hone.eval_history", "SELECT has(groupArray(1), 1) FROM spans WHERE 1 IN (system.numbers)", "SELECT in(1, system.one)", "SELECT nullIn(1, system.one)"]:
    attack("right of IN: " + s[:50], s)
attack("a name for a foreign table", "WITH x AS (SELECT * FROM {other}.spans) SELECT * FROM x")
attack("a CTE inside a CTE", "WITH a AS (WITH b AS (SELECT * FROM system.processes) SELECT * FROM b) SELECT * FROM a")
attack("a CTE named like a table reads the table it hides", "WITH spans AS (SELECT * FROM hone.spans) SELECT count() FROM spans", "answered")
attack("a CTE named like a system table", "WITH `system.processes` AS (SELECT 1) SELECT * FROM system.processes")
attack("an alias named like a database", "SELECT system.processes FROM (SELECT 1 AS processes) AS system")
attack("an alias that shadows a table", "SELECT spans.name FROM evals AS spans", "answered")
attack("a recursive CTE over a foreign table", "WITH RECURSIVE r AS (SELECT input FROM {other}.spans UNION ALL SELECT input FROM r) SELECT * FROM r")
attack("an endless recursive CTE", "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r) SELECT max(n) FROM r", "fails")
attack("a table alias that looks like the tree", "SELECT * FROM hone.trace_times AS `x, table_name: {own}.spans`")
attack("a column alias that looks like the tree", "SELECT file('x') AS `x, function_name: plus, function_type: ordinary`")
attack("an alias with a line of the tree", "SELECT 1 AS `x\nPROJECTION COLUMNS`, (SELECT count() FROM {other}.spans)")
attack("a pattern with a line of the tree", "SELECT COLUMNS('a\nPROJECTION COLUMNS') FROM {other}.spans")
attack("a type that looks like the tree", "SELECT CAST(file('x'), 'Tuple(`a, function_name: plus` String)')")
# table functions
for f in ["file('/etc/passwd', 'CSV', 'a String')", "url('http://127.0.0.1:1/', 'CSV', 'a String')", "s3('http://127.0.0.1:1/x', 'CSV')", "remote('127.0.0.1', 'hone.spans')", "remoteSecure('127.0.0.1', hone.spans)", "cluster('x', hone.spans)",
          "clusterAllReplicas('x', system.one)", "merge('hone', 'spans')", "merge('.*', '.*')", "merge(REGEXP('hone.*'), 'spans')", "mergeTreeIndex('hone', 'spans')", "mergeTreeTextIndex('hone', 'spans', 'input_words')", "mergeTreeProjection(hone, spans, x)",
          "mergeTreeAnalyzeIndexes(hone, spans)", "numbers(10)", "numbers(10000000000)", "numbers_mt(1)", "zeros(1)", "generateRandom('a String', 1, 10, 2)", "generateSeries(0, 10)", "generate_series(0, 10)", "loop(hone.spans)", "view(SELECT * FROM hone.spans)",
          "viewIfPermitted(SELECT * FROM hone.spans ELSE null('a Int8'))", "viewExplain('EXPLAIN', '', (SELECT 1))", "values('a Int8', 1)", "null('a Int8')", "input('a Int8')", "format(CSV, '1,2')", "executable('x', 'CSV', 'a String')", "dictionary('x')",
          "mysql('127.0.0.1:1', 'a', 'b', 'c', 'd')", "postgresql('127.0.0.1:1', 'a', 'b', 'c', 'd')", "sqlite('/x', 'y')", "mongodb('127.0.0.1:1', 'a', 'b', 'c', 'd', 'a String')", "redis('127.0.0.1:1', 'k', 'k String')", "jdbc('x', 'y', 'z')", "odbc('x', 'y', 'z')",
          "hdfs('hdfs://127.0.0.1:1/x', 'CSV')", "deltaLake('http://127.0.0.1:1/')", "iceberg('http://127.0.0.1:1/')", "icebergLocal('/x')", "fuzzQuery('SELECT 1')", "fuzzJSON(x)", "timeSeriesData(hone.x)", "filesystem('/etc')", "gcs('http://127.0.0.1:1/')", "python('x')", "Python(x)", "arrowStream('x')", "primes(3)", "hone.spans(project = 'x')", "spans(x = 1)"]:
    attack("table function: " + f[:40], "SELECT * FROM " + f)
attack("a table function in a join", "SELECT * FROM spans AS s, numbers(3) AS n")
attack("a table function in a subquery", "SELECT count() FROM spans WHERE start_ns IN (SELECT number FROM numbers(3))")
attack("a table function as a scalar", "SELECT (SELECT max(number) FROM numbers(3))")
# functions
for f in ["file('/etc/passwd')", "sleep(3)", "sleepEachRow(1)", "getSetting('log_comment')", "getSettingOrDefault('x', 1)", "currentUser()", "user()", "currentDatabase()", "DATABASE()", "currentRoles()", "enabledRoles()", "hostName()", "hostname()", "FQDN()", "version()", "uptime()", "buildId()",
          "serverUUID()", "tcpPort()", "getMacro('x')", "getServerPort('tcp_port')", "getServerSetting('path')", "getMergeTreeSetting('x')", "filesystemAvailable()", "filesystemFree()", "filesystemCapacity()", "dictGet('d', 'a', 1)", "dictGetOrDefault('d', 'a', 1, 2)", "dictHas('d', 1)", "dictGetAll('d', 'a', 1)", "joinGet('a', 'b', 1)",
          "joinGetOrNull('a', 'b', 1)", "catboostEvaluate('/x', 1)", "queryID()", "initialQueryID()", "connectionId()", "currentQueryID()", "initialQueryStartTime()", "currentSchemas(true)", "hasColumnInTable('hone', 'spans', 'input')", "isMergeTreePartCoveredBy('a', 'b')", "addressToLine(1)", "addressToSymbol(1)", "demangle('x')", "trap('x')", "throwIf(1)",
          "formatQuery('SELECT 1')", "formatQuerySingleLine('SELECT 1')", "getClientHTTPHeader('Authorization')", "shardNum()", "shardCount()", "getOSKernelVersion()", "displayName()", "globalVariable('version')", "getSizeOfEnumType(CAST(1, 'Enum8(\\'a\\' = 1)'))", "blockNumber()", "rowNumberInAllBlocks()", "runningAccumulate(1)", "evalMLMethod(1)",
          "getScalar('x')", "__getScalar('x')", "__bitSwapLastTwo(1)", "lowCardinalityIndices('x')", "structureToCapnProtoSchema('a Int8')", "getTypeSerializationStreams(1)", "transactionID()", "zookeeperSessionUptime()", "partitionId(1)", "reverseDNSQuery('127.0.0.1')", "encrypt('aes-128-ecb', 'x', '1234567890123456')", "authenticatedUser()", "generateUUIDv4()", "randomString(10)", "rand()", "aiGenerateContent('x')", "executableFunction(1)", "metadata()", "_CAST(file('x'), 'String')", "currentProfiles()", "getSubcolumn(tuple(1), '1')", "moduloLegacy(1, 2)", "indexHint(1)"]:
    attack("function: " + f[:40], "SELECT " + f)
for s in ["SELECT arrayMap(x -> file(x), ['/etc/passwd'])", "SELECT arrayMap(x -> (SELECT groupArray(input) FROM {other}.spans), [1])", "SELECT arrayReduce('groupArray', [1]), file('x')", "WITH x -> file(x) AS f SELECT f('/etc/passwd')", "SELECT * REPLACE (file('x') AS name) FROM spans", "SELECT COLUMNS('name') APPLY(file) FROM spans", "SELECT * APPLY(x -> file(x)) FROM spans", "SELECT COLUMNS('input') APPLY(joinGet) FROM spans",
          "SELECT sum(sleep(1)) OVER (ORDER BY 1)", "SELECT count() FROM spans ORDER BY sleep(1)", "SELECT 1 LIMIT (SELECT count() FROM system.processes)", "SELECT name FROM spans QUALIFY currentUser() = 'x'", "SELECT name FROM spans PREWHERE file('x') = ''", "SELECT name FROM spans ARRAY JOIN [file('x')] AS f", "SELECT 1 FROM spans GROUP BY hostName()", "SELECT n FROM (SELECT 1 AS n) ORDER BY n WITH FILL FROM 1 TO toInt32(filesystemFree())",
          "SELECT n FROM (SELECT 1 AS n, 2 AS m) ORDER BY n WITH FILL INTERPOLATE (m AS file('x'))", "SELECT 1 HAVING sleep(1)", "SELECT name FROM spans LIMIT 1 BY currentUser()", "SELECT row_number() OVER (PARTITION BY hostName())", "SELECT count() FROM spans AS a JOIN spans AS b ON file('x') = a.name", "SELECT if(1, 2, file('/etc/passwd'))", "SELECT CASE WHEN 0 THEN file('x') ELSE '' END", "SELECT file('/etc/passwd') AS x WHERE 0", "SELECT ifNull(NULL, currentUser())", "SELECT @@version", "SELECT @@max_allowed_packet"]:
    attack("hidden: " + s[7:50], s)
for s in ["SELECT arrayReduce('estimateCompressionRatio', ['a'])", "SELECT arrayReduce('flameGraph', [[toUInt64(1)]])", "SELECT arrayReduce(concat('su', 'm'), [1])", "SELECT arrayReduce('groupArrayState', [1])",
          "SELECT CAST(unhex('01'), 'AggregateFunction(uniq, String)')", "SELECT CAST('x' AS Array(AggregateFunction(groupArray, String)))", "SELECT '\\x01'::AggregateFunction(quantileTDigest, Float64)"]:
    attack("a text that is more: " + s[7:50], s)
# virtual columns, parts of the store
for c in ["_table", "_part", "_partition_id", "_part_offset", "_sample_factor", "_database", "_part_uuid", "_partition_value", "_block_number", "_row_exists", "_part_data_version"]:
    attack("virtual column: " + c, f"SELECT {c} FROM spans")
# letters
attack("a byte of zero", "SELECT 1\u0000; SELECT 2")
attack("a zero-width space in a name", "SELECT * FROM sys\u200btem.processes")
attack("a no-break space", "SELECT\u00a0currentUser()")
attack("full-width letters", "SELECT * FROM \uff53ystem.processes")
attack("typographic quotes around a statement", "SELECT \u2018x\u2019; SELECT file(\u2018/etc/passwd\u2019)")
attack("a byte order mark", "\ufeffSELECT currentUser()")
attack("letters from right to left", "SELECT \u202e1 FROM system.processes")
attack("a backslash outside texts", "SELECT \\1")
attack("a heredoc with a statement", "SELECT $$x$$; SELECT $a$; SELECT file('x') $a$; SELECT 1")
attack("an open quote", "SELECT 'x")
attack("an open comment", "SELECT 1 /* x")
attack("an escaped quote in a name", "SELECT 1 AS `a\\`b`, file('x')")
attack("a name with a newline", "SELECT 1 AS \"a\nb\"")
attack("versioned comments of MySQL", "SELECT 1 /*! ; DROP TABLE hone.spans */; SELECT 2")
# too much
attack("nested too deep", "SELECT " + "(" * DEEP + "1" + ")" * DEEP, "fails")
attack("nested subqueries", "SELECT * FROM (" * 250 + "SELECT 1" + ")" * 250, "fails")
attack("nested functions", "SELECT " + "abs(" * 400 + "1" + ")" * 400, "fails")
attack("nested arrays", "SELECT " + "[" * 400 + "1" + "]" * 400, "limited")
attack("a very long list", "SELECT count() FROM spans WHERE start_ns IN (" + ",".join(str(i) for i in range(9000)) + ")", "limited")
attack("longer than 64 KB", "SELECT '" + "x" * 70000 + "'", statuses=[413])
attack("many stars", "SELECT " + ",".join(["*"] * 2000) + " FROM spans", "fails")
attack("rows without end", "SELECT count() FROM (SELECT arrayJoin(range(1000000)) AS a) AS x, (SELECT arrayJoin(range(1000000)) AS b) AS y WHERE sipHash64(a, b) = 1", "fails", [429])
attack("a billion rows of an array", "SELECT arrayJoin(range(1000000000))", "fails")
# either: on a busy machine the time runs out before the memory
attack("memory without end", "SELECT length(groupArray(repeat(toString(a), 1000))) AS n FROM (SELECT arrayJoin(range(10000000)) AS a)", "fails", [413, 429])
attack("a text without end", "SELECT repeat(repeat('x', 1000000), 1000000)", "fails")
attack("a regular expression that explodes", "SELECT match(repeat('a', 100), '(a|a)*(a|a)*(a|a)*b')", "limited")
attack("aliases that double", "WITH 'x' AS a0, " + ", ".join(f"concat(a{i}, a{i}, a{i}, a{i}) AS a{i+1}" for i in range(24)) + " SELECT length(a24)", "fails")
# errors that tell
attack("an error that shows a value of another project", "SELECT toInt64((SELECT any(input) FROM {other}.spans))")
attack("an error that shows another project's table", "SELECT nothing FROM {other}.spans")
attack("a misspelled name close to another's table", "SELECT * FROM trace_time")
attack("a cast that fails on one's own rows", "SELECT toUInt8(input) FROM spans", "fails")
# what must not be refused by mistake
attack("the own table right of IN", "SELECT input IN hone.spans FROM spans", "fails")
attack("words in a text", "SELECT 'SETTINGS FORMAT INTO OUTFILE system.processes ; -- {x} // file(' AS t", "answered")
attack("words in backticks", "SELECT 1 AS `system.processes`, 2 AS `file(`", "answered")
attack("the own database in front", "SELECT count() FROM {own}.spans", "fails")
