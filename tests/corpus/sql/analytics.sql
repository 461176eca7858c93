-- Questions as analysts ask them, one per paragraph. All of them must keep working: tests/e2e/sql.py.

SELECT count() FROM spans

select count(*) as n from spans;

SELECT COUNT(DISTINCT trace_id) AS traces FROM spans

SELECT * FROM spans ORDER BY start_ns DESC LIMIT 5

SELECT name, count() AS n FROM spans GROUP BY name ORDER BY n DESC LIMIT 20

SELECT kind, status, count() FROM spans GROUP BY kind, status ORDER BY 3 DESC

SELECT model, sum(input_tokens) AS input, sum(output_tokens) AS output FROM spans WHERE kind = 'llm' GROUP BY model ORDER BY input DESC

SELECT model, sum(cost_nano_usd) / 1e9 AS usd FROM spans GROUP BY model HAVING usd > 0 ORDER BY usd DESC

SELECT toDate(fromUnixTimestamp64Nano(start_ns)) AS day, sum(cost_nano_usd) / 1e9 AS usd FROM spans GROUP BY day ORDER BY day

SELECT toStartOfHour(fromUnixTimestamp64Nano(start_ns)) AS hour, count() AS spans, countIf(status = 'error') AS errors FROM spans GROUP BY hour ORDER BY hour

SELECT toStartOfInterval(fromUnixTimestamp64Nano(start_ns), INTERVAL 5 MINUTE) AS bucket, quantile(0.95)(duration_ns) / 1e6 AS p95_ms FROM spans GROUP BY bucket ORDER BY bucket

SELECT quantiles(0.5, 0.9, 0.95, 0.99)(duration_ns) FROM spans WHERE kind = 'llm'

SELECT name, quantileExact(0.5)(duration_ns) AS median, quantileTDigest(0.99)(duration_ns) AS p99 FROM spans GROUP BY name

SELECT service, version, count() FROM spans GROUP BY ALL ORDER BY ALL

SELECT status = 'error' AS failed, avg(duration_ns) FROM spans GROUP BY failed

SELECT round(100 * countIf(status = 'error') / count(), 2) AS error_percent FROM spans

SELECT name, countIf(status = 'error') / count() AS rate FROM spans GROUP BY name HAVING count() >= 1 ORDER BY rate DESC, name

SELECT exception_type, any(exception_message) AS example, count() AS n FROM spans WHERE exception_type != '' GROUP BY exception_type ORDER BY n DESC

SELECT user_id, count() AS calls, uniq(chat_session) AS sessions FROM spans WHERE user_id <> '' GROUP BY user_id ORDER BY calls DESC LIMIT 10

SELECT uniqExact(user_id), uniqCombined(chat_session), uniqHLL12(trace_id) FROM spans

SELECT tool_name, count(), avg(duration_ns) / 1000000 AS mean_ms FROM spans WHERE kind = 'tool' GROUP BY tool_name

SELECT finish_reason, count() FROM spans WHERE kind = 'llm' GROUP BY finish_reason

SELECT length(input) AS n, substring(input, 1, 80) AS begins FROM spans ORDER BY n DESC LIMIT 3

SELECT avg(length(output)) FROM spans WHERE output != ''

SELECT span_id FROM spans WHERE output LIKE '%refund%'

SELECT span_id FROM spans WHERE output ILIKE '%REFUND%' AND NOT input LIKE '%test%'

SELECT count() FROM spans WHERE match(output, '(?i)sorry|apolog')

SELECT count() FROM spans WHERE hasToken(lower(output), 'refund')

SELECT count() FROM spans WHERE multiSearchAny(output, ['refund', 'return', 'money back'])

SELECT countSubstrings(output, 'the') AS n, span_id FROM spans ORDER BY n DESC LIMIT 5

SELECT arrayJoin(splitByNonAlpha(lower(output))) AS word, count() AS n FROM spans WHERE length(word) > 3 GROUP BY word ORDER BY n DESC, word LIMIT 20

SELECT arrayJoin(splitByChar('\n', output)) AS line FROM spans WHERE output != '' LIMIT 10

SELECT replaceRegexpAll(output, '[0-9]+', '#') AS shape, count() FROM spans GROUP BY shape ORDER BY 2 DESC LIMIT 10

SELECT extract(output, '([0-9]+) dollars') AS amount FROM spans WHERE amount != ''

SELECT extractAll(output, '[a-z]+@[a-z.]+') AS addresses FROM spans WHERE notEmpty(addresses)

SELECT JSONExtractString(attributes, 'user.tier') AS tier, count() FROM spans GROUP BY tier

SELECT JSONExtractInt(attributes, 'llm.token_count.prompt') AS prompt, JSONHas(attributes, 'llm.model_name') AS has_model FROM spans LIMIT 5

SELECT JSONExtractKeys(attributes) AS keys FROM spans LIMIT 3

SELECT arrayJoin(JSONExtractKeys(attributes)) AS key, count() AS n FROM spans GROUP BY key ORDER BY n DESC, key

SELECT JSONExtract(attributes, 'temperature', 'Nullable(Float64)') AS temperature FROM spans WHERE temperature IS NOT NULL

SELECT JSONExtractKeysAndValues(attributes, 'String') AS pairs FROM spans LIMIT 2

SELECT JSONLength(events), JSONType(events) FROM spans LIMIT 3

SELECT JSONExtractArrayRaw(events) AS list, length(list) FROM spans LIMIT 3

SELECT isValidJSON(input), count() FROM spans GROUP BY 1

SELECT JSON_VALUE(attributes, '$.model') FROM spans LIMIT 1

SELECT attribute_index['user.tier'] AS tier, count() FROM spans GROUP BY tier

SELECT mapKeys(attribute_index) AS keys, mapValues(attribute_index) AS all FROM spans LIMIT 3

SELECT arrayJoin(mapKeys(attribute_index)) AS key, count() FROM spans GROUP BY key ORDER BY key

SELECT count() FROM spans WHERE mapContains(attribute_index, 'user.tier')

SELECT mapFilter((k, v) -> k LIKE 'user.%', attribute_index) AS of_user FROM spans LIMIT 3

SELECT mapApply((k, v) -> (upper(k), v), attribute_index) FROM spans LIMIT 1

SELECT resource_index['service.name'], count() FROM spans GROUP BY 1

SELECT trace_id, groupArray(name) AS names FROM spans GROUP BY trace_id LIMIT 5

SELECT trace_id, groupUniqArray(kind) AS kinds FROM spans GROUP BY trace_id LIMIT 5

SELECT trace_id, arraySort(x -> x.1, groupArray((start_ns, name))) AS steps FROM spans GROUP BY trace_id LIMIT 5

SELECT trace_id, arrayMap(x -> x.2, arraySort(groupArray((start_ns, name)))) AS steps FROM spans GROUP BY trace_id LIMIT 5

SELECT arrayStringConcat(groupArray(name), ' > ') AS path, count() FROM (SELECT trace_id, name, start_ns FROM spans ORDER BY trace_id, start_ns) GROUP BY trace_id LIMIT 5

SELECT path, count() AS n FROM (SELECT trace_id, arrayStringConcat(arrayMap(x -> x.2, arraySort(groupArray((start_ns, name)))), ' > ') AS path FROM spans GROUP BY trace_id) GROUP BY path ORDER BY n DESC

SELECT argMax(name, duration_ns) AS slowest, max(duration_ns) FROM spans

SELECT trace_id, argMin(name, start_ns) AS first, argMax(name, start_ns) AS last FROM spans GROUP BY trace_id LIMIT 5

SELECT any(name), anyLast(name), first_value(name), last_value(name) FROM spans

SELECT topK(5)(name) FROM spans

SELECT topKWeighted(3)(model, input_tokens) FROM spans

SELECT histogram(5)(duration_ns) FROM spans

SELECT stddevPop(duration_ns), varSamp(duration_ns), corr(input_tokens, duration_ns), covarPop(input_tokens, output_tokens) FROM spans

SELECT simpleLinearRegression(input_tokens, duration_ns) FROM spans WHERE kind = 'llm'

SELECT min(start_ns), max(start_ns), dateDiff('minute', fromUnixTimestamp64Nano(min(start_ns)), fromUnixTimestamp64Nano(max(start_ns))) AS minutes FROM spans

SELECT formatDateTime(toDateTime(intDiv(start_ns, 1000000000)), '%Y-%m-%d %H:00') AS hour, count() FROM spans GROUP BY hour

SELECT toHour(toDateTime(intDiv(start_ns, 1000000000))) AS hour, toDayOfWeek(toDateTime(intDiv(start_ns, 1000000000))) AS weekday, count() FROM spans GROUP BY hour, weekday ORDER BY weekday, hour

SELECT toYYYYMM(toDate(toDateTime(intDiv(start_ns, 1000000000)))) AS month, sum(cost_nano_usd) FROM spans GROUP BY month

SELECT count() FROM spans WHERE fromUnixTimestamp64Nano(start_ns) > now() - INTERVAL 7 DAY

SELECT count() FROM spans WHERE start_ns >= toUnixTimestamp64Nano(toDateTime64('2025-11-15 00:00:00', 9)) AND start_ns < toUnixTimestamp64Nano(toDateTime64('2026-11-16 00:00:00', 9))

SELECT count() FROM spans WHERE toDate(fromUnixTimestamp64Nano(start_ns)) BETWEEN '2025-01-01' AND today()

SELECT date_trunc('week', fromUnixTimestamp64Nano(start_ns)) AS week, count() FROM spans GROUP BY week

SELECT toStartOfWeek(toDate(fromUnixTimestamp64Nano(start_ns)), 1) AS week, uniq(user_id) FROM spans GROUP BY week

SELECT addDays(toDate(fromUnixTimestamp64Nano(start_ns)), 1) AS next_day, subtractHours(now(), 3) AS earlier FROM spans LIMIT 1

SELECT parseDateTimeBestEffort('2026-11-15T10:00:00Z') AS moment, toUnixTimestamp(moment) AS seconds

SELECT date '2026-11-15' AS d, timestamp '2026-11-15 10:00:00' AS t, d + interval 1 month AS later

SELECT EXTRACT(YEAR FROM fromUnixTimestamp64Nano(start_ns)) AS year, count() FROM spans GROUP BY year

SELECT formatReadableTimeDelta(sum(duration_ns) / 1e9), formatReadableSize(sum(length(input))), formatReadableQuantity(count()) FROM spans

WITH slow AS (SELECT * FROM spans WHERE duration_ns > 1000000) SELECT name, count() FROM slow GROUP BY name

WITH per_trace AS (SELECT trace_id, sum(cost_nano_usd) AS cost FROM spans GROUP BY trace_id), total AS (SELECT sum(cost) AS all FROM per_trace) SELECT trace_id, cost, cost / all AS share FROM per_trace, total ORDER BY cost DESC LIMIT 10

WITH (SELECT avg(duration_ns) FROM spans) AS mean SELECT name, duration_ns / mean AS times FROM spans ORDER BY times DESC LIMIT 5

WITH 1000000 AS ms SELECT name, max(duration_ns) / ms AS worst_ms FROM spans GROUP BY name

WITH x -> x / 1e6 AS ms SELECT ms(avg(duration_ns)) FROM spans

WITH a AS (SELECT 1 AS one), b AS (SELECT one + 1 AS two FROM a) SELECT * FROM b

WITH RECURSIVE depth AS (SELECT span_id, 0 AS level FROM spans WHERE parent_id = '' UNION ALL SELECT s.span_id, d.level + 1 FROM spans AS s JOIN depth AS d ON s.parent_id = d.span_id) SELECT level, count() FROM depth GROUP BY level ORDER BY level

SELECT name FROM spans WHERE trace_id IN (SELECT trace_id FROM spans WHERE status = 'error')

SELECT count() FROM spans WHERE (trace_id, span_id) IN (SELECT trace_id, span_id FROM spans WHERE kind = 'llm')

SELECT count() FROM spans WHERE user_id NOT IN ('u1', 'u2') AND model IN ('gpt-4o', 'o3')

WITH bad AS (SELECT trace_id FROM spans WHERE status = 'error') SELECT count() FROM spans WHERE trace_id IN bad

SELECT count() FROM spans WHERE trace_id GLOBAL IN (SELECT trace_id FROM traces WHERE errors > 0)

SELECT name FROM spans WHERE duration_ns > (SELECT avg(duration_ns) FROM spans)

SELECT name FROM spans AS s WHERE EXISTS (SELECT 1 FROM spans WHERE status = 'error')

SELECT c.name, p.name AS parent FROM spans AS c INNER JOIN spans AS p ON c.parent_id = p.span_id AND c.trace_id = p.trace_id

SELECT p.name, count(c.span_id) AS children FROM spans AS p LEFT JOIN spans AS c ON c.parent_id = p.span_id GROUP BY p.name ORDER BY children DESC, p.name

SELECT s.name, t.root_name FROM spans s JOIN traces t USING (trace_id) LIMIT 10

SELECT s.model, e.label, count() FROM spans AS s JOIN evals AS e ON e.target_id = toString(s.span_id) WHERE e.target = 'span' GROUP BY s.model, e.label

SELECT e.name, avg(e.score), count() FROM evals AS e GROUP BY e.name

SELECT name, label, count() FROM evals FINAL GROUP BY name, label ORDER BY name, label

SELECT s.span_id FROM spans s LEFT ANTI JOIN evals e ON e.target_id = toString(s.span_id) LIMIT 10

SELECT s.span_id, e.label FROM spans s LEFT ANY JOIN evals e ON e.target_id = toString(s.span_id)

SELECT s.span_id FROM spans s LEFT SEMI JOIN evals e ON e.target_id = toString(s.span_id)

SELECT a.name, b.name FROM spans a CROSS JOIN (SELECT DISTINCT name FROM spans) b LIMIT 5

SELECT a.start_ns, b.start_ns FROM spans a ASOF JOIN spans b ON a.project = b.project AND a.start_ns > b.start_ns LIMIT 5

SELECT label, avg(score) AS mean, countIf(score >= 0.5) / count() AS good FROM evals WHERE score IS NOT NULL GROUP BY label

SELECT toDate(fromUnixTimestamp64Nano(created_ns)) AS day, name, avgOrNull(score) FROM evals GROUP BY day, name ORDER BY day

SELECT annotator, kind, count() FROM evals GROUP BY annotator, kind

SELECT explanation FROM evals WHERE label = 'no' ORDER BY updated_ns DESC LIMIT 10

SELECT name, groupArrayIf(explanation, label = 'no') FROM evals GROUP BY name

SELECT root_name, count(), avg(duration_ns), sum(tokens) FROM traces GROUP BY root_name

SELECT * FROM traces ORDER BY cost_nano_usd DESC LIMIT 3

SELECT trace_id, duration_ns / 1e9 AS seconds FROM traces WHERE errors = 0 ORDER BY seconds DESC LIMIT 10

SELECT chat_session, traces, spans, tokens FROM chat_sessions ORDER BY tokens DESC LIMIT 10

SELECT avg(traces), max(traces), quantile(0.9)(traces) FROM chat_sessions

SELECT user_id, count() AS sessions, sum(cost_nano_usd) / 1e9 AS usd FROM chat_sessions GROUP BY user_id ORDER BY usd DESC

SELECT t.chat_session, groupArray(t.root_name) FROM traces AS t WHERE t.chat_session != '' GROUP BY t.chat_session

SELECT s.chat_session, c.traces FROM spans AS s INNER JOIN chat_sessions AS c ON c.chat_session = s.chat_session LIMIT 5

SELECT name, duration_ns, row_number() OVER (PARTITION BY name ORDER BY duration_ns DESC) AS place FROM spans

SELECT name, duration_ns, rank() OVER w AS r, dense_rank() OVER w AS d FROM spans WINDOW w AS (PARTITION BY name ORDER BY duration_ns DESC)

SELECT day, usd, sum(usd) OVER (ORDER BY day ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS so_far FROM (SELECT toDate(fromUnixTimestamp64Nano(start_ns)) AS day, sum(cost_nano_usd) / 1e9 AS usd FROM spans GROUP BY day)

SELECT start_ns, duration_ns, avg(duration_ns) OVER (ORDER BY start_ns ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS moving FROM spans

SELECT start_ns, lagInFrame(start_ns) OVER (PARTITION BY trace_id ORDER BY start_ns) AS before, start_ns - before AS gap FROM spans

SELECT start_ns, leadInFrame(name, 1, 'none') OVER (PARTITION BY trace_id ORDER BY start_ns ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS following FROM spans

SELECT trace_id, span_id, duration_ns / sum(duration_ns) OVER (PARTITION BY trace_id) AS share FROM spans

SELECT name, duration_ns FROM spans QUALIFY row_number() OVER (PARTITION BY name ORDER BY duration_ns DESC) = 1

SELECT name, ntile(4) OVER (ORDER BY duration_ns) AS quarter, percent_rank() OVER (ORDER BY duration_ns) FROM spans

SELECT name, first_value(span_id) OVER (PARTITION BY trace_id ORDER BY start_ns) AS root FROM spans

SELECT name, start_ns, count() OVER (ORDER BY start_ns RANGE BETWEEN 1000 PRECEDING AND CURRENT ROW) AS in_minute FROM spans

SELECT name, model FROM spans LIMIT 1 BY name

SELECT name, start_ns FROM spans ORDER BY start_ns DESC LIMIT 2 BY name LIMIT 10

SELECT name FROM spans ORDER BY start_ns LIMIT 5 OFFSET 2

SELECT name FROM spans ORDER BY start_ns LIMIT 2, 5

SELECT duration_ns FROM spans ORDER BY duration_ns DESC LIMIT 3 WITH TIES

SELECT name FROM spans ORDER BY start_ns DESC NULLS LAST, name ASC FETCH FIRST 3 ROWS ONLY

SELECT TOP 3 name FROM spans ORDER BY name

SELECT DISTINCT model, provider FROM spans

SELECT DISTINCT ON (name) name, model FROM spans ORDER BY name

SELECT intDiv(start_ns, 60000000000) AS minute, count() FROM spans GROUP BY minute ORDER BY minute WITH FILL STEP 1 LIMIT 10

SELECT toStartOfHour(toDateTime(intDiv(start_ns, 1000000000))) AS hour, count() AS n FROM spans GROUP BY hour ORDER BY hour WITH FILL STEP INTERVAL 1 HOUR INTERPOLATE (n AS n) LIMIT 10

SELECT model, name, sum(cost_nano_usd) FROM spans GROUP BY model, name WITH ROLLUP

SELECT model, name, sum(cost_nano_usd) FROM spans GROUP BY CUBE(model, name)

SELECT model, name, count() FROM spans GROUP BY GROUPING SETS ((model), (name), ())

SELECT model, count() FROM spans GROUP BY model WITH TOTALS

SELECT model, count() AS n, grouping(model) AS is_total FROM spans GROUP BY ROLLUP(model)

SELECT name FROM spans WHERE status = 'error' UNION ALL SELECT name FROM spans WHERE duration_ns > 1000

SELECT name FROM spans UNION DISTINCT SELECT model FROM spans

(SELECT 'spans' AS what, count() AS n FROM spans) UNION ALL (SELECT 'evals', count() FROM evals) UNION ALL (SELECT 'traces', count() FROM traces)

SELECT trace_id FROM spans WHERE kind = 'llm' INTERSECT SELECT trace_id FROM spans WHERE kind = 'tool'

SELECT trace_id FROM spans EXCEPT SELECT trace_id FROM spans WHERE status = 'error'

SELECT CASE WHEN duration_ns < 1000000 THEN 'fast' WHEN duration_ns < 1000000000 THEN 'ok' ELSE 'slow' END AS speed, count() FROM spans GROUP BY speed

SELECT CASE kind WHEN 'llm' THEN 'model' WHEN 'tool' THEN 'tool' ELSE 'other' END AS what, count() FROM spans GROUP BY what

SELECT if(status = 'error', 1, 0) AS e, multiIf(kind = 'llm', 'a', kind = 'tool', 'b', 'c') AS m, status = 'ok' ? 'fine' : 'hm' AS t FROM spans LIMIT 3

SELECT coalesce(nullIf(model, ''), nullIf(provider, ''), 'none') AS m, count() FROM spans GROUP BY m

SELECT ifNull(score, 0) AS s, isNull(score), assumeNotNull(score), toNullable(label) FROM evals

SELECT CAST(duration_ns AS Float64) / 1e6, duration_ns::String, toInt32(otel_kind), toUInt64OrNull('x'), toFloat64OrZero('1.5') FROM spans LIMIT 1

SELECT toString(kind) AS k, toTypeName(kind), CAST(status, 'String') FROM spans LIMIT 1

SELECT round(duration_ns / 1e6, 1), floor(1.7), ceil(1.2), abs(-3), least(1, 2), greatest(1, 2), pow(2, 10), sqrt(16), log2(8), exp(0), sign(-1) FROM spans LIMIT 1

SELECT 7 % 3, 7 DIV 2, intDivOrZero(1, 0), modulo(7, 4), gcd(12, 18), bitAnd(6, 3), bitShiftLeft(1, 4), -5, 1 - -1, 0x1F, 1e3, .5

SELECT name || ':' || model AS both, concat(name, '/', model), concatWithSeparator('-', name, model), format('{}={}', name, model) FROM spans LIMIT 1

SELECT lower(name), upper(name), reverse(name), left(name, 2), right(name, 2), trim(BOTH ' ' FROM ' x '), leftPad('7', 3, '0'), repeat('ab', 3), initcap('ab cd') FROM spans LIMIT 1

SELECT position(output, 'refund'), locate('b', 'abc'), startsWith(name, 'c'), endsWith(name, 't'), empty(output), lengthUTF8(output) FROM spans LIMIT 1

SELECT hex('ab'), unhex('6162'), base64Encode('x'), base64Decode('eA=='), tryBase64Decode('!'), cityHash64(name), hex(MD5(name)), hex(SHA256(name)), sipHash64(name) FROM spans LIMIT 1

SELECT levenshteinDistance('kitten', 'sitting'), ngramDistance('abc', 'abd'), jaroWinklerSimilarity('a', 'b'), soundex('Robert')

SELECT substring('abcdef' FROM 2 FOR 3), substr('abc', 2), substringUTF8('äöü', 2, 1), splitByString(', ', 'a, b'), splitByWhitespace('a b')

SELECT [1, 2, 3] AS a, a[1], a[-1], length(a), has(a, 2), indexOf(a, 3), arraySum(a), arrayAvg(a), arrayMin(a), arrayMax(a), arrayReverse(a), arraySlice(a, 2), arrayConcat(a, [4]), arrayPushBack(a, 5)

SELECT arrayFilter(x -> x > 1, [1, 2, 3]), arrayMap((x, y) -> x + y, [1, 2], [3, 4]), arrayExists(x -> x = 2, [1, 2]), arrayAll(x -> x > 0, [1]), arrayCount(x -> x % 2, [1, 2, 3]), arrayFirst(x -> x > 1, [1, 2]), arraySort(x -> -x, [1, 2]), arrayReverseSort([1, 2]), arrayCumSum([1, 2]), arrayDifference([1, 3]), arrayZip([1], ['a'])

SELECT arrayDistinct([1, 1]), arrayUniq([1, 1]), arrayCompact([1, 1, 2]), arrayEnumerate(['a', 'b']), arrayFlatten([[1], [2]]), arrayIntersect([1, 2], [2]), hasAll([1, 2], [1]), hasAny([1], [2]), range(5), arrayReduce('max', [1, 2, 3]), arrayProduct([2, 3]), countEqual([1, 1], 1)

SELECT name, part FROM spans ARRAY JOIN splitByChar('.', name) AS part

SELECT name, k, v FROM spans LEFT ARRAY JOIN mapKeys(attribute_index) AS k, mapValues(attribute_index) AS v LIMIT 10

SELECT tuple(1, 'a') AS t, t.1, t.2, (1, 2) = (1, 2), tupleElement((1, 'x'), 2), untuple((1, 2))

SELECT map('a', 1, 'b', 2) AS m, m['a'], mapContains(m, 'b'), mapAdd(map(1, 1), map(1, 2)), mapFromArrays(['x'], [1])

SELECT sumMap(map(name, toUInt64(1))), minMap(map(name, duration_ns)), maxMap(map(name, duration_ns)) FROM spans

SELECT sumIf(input_tokens, kind = 'llm'), avgIf(duration_ns, status = 'ok'), uniqIf(user_id, user_id != ''), maxOrNull(duration_ns), countIf(kind = 'tool' AND status = 'error'), anyIf(name, kind = 'llm'), quantileIf(0.9)(duration_ns, kind = 'llm'), sumArray([1, 2]), groupArrayDistinct(name), countDistinct(name) FROM spans

SELECT count() FILTER (WHERE status = 'error') AS errors, sum(output_tokens) FILTER (WHERE model != '') FROM spans

SELECT groupBitAnd(otel_kind), groupBitOr(otel_kind), entropy(name), skewPop(duration_ns), kurtPop(duration_ns) FROM spans

SELECT windowFunnel(3600)(toDateTime(intDiv(start_ns, 1000000000)), kind = 'retriever', kind = 'llm') AS steps, trace_id FROM spans GROUP BY trace_id LIMIT 5

SELECT sequenceMatch('(?1).*(?2)')(toDateTime(intDiv(start_ns, 1000000000)), kind = 'tool', kind = 'llm') AS found, trace_id FROM spans GROUP BY trace_id LIMIT 5

SELECT retention(kind = 'llm', status = 'error') FROM spans

SELECT transform(toString(kind), ['llm', 'tool'], ['model', 'function'], 'other') AS t, count() FROM spans GROUP BY t

SELECT bar(count(), 0, 100, 20), kind FROM spans GROUP BY kind

SELECT * EXCEPT (input, output, attributes) FROM spans LIMIT 2

SELECT * REPLACE (duration_ns / 1e6 AS duration_ns) FROM spans LIMIT 2

SELECT COLUMNS('_tokens$') FROM spans LIMIT 2

SELECT COLUMNS('_tokens$') APPLY(sum) FROM spans

SELECT COLUMNS('_tokens$') APPLY(quantile(0.9)) FROM spans

SELECT s.* FROM spans AS s LIMIT 1

SELECT spans.name, spans.model FROM spans WHERE spans.kind = 'llm'

SELECT hone.spans.name FROM hone.spans LIMIT 1

WITH x AS (SELECT name FROM hone.spans WHERE status = 'error') SELECT name FROM x

SELECT count() FROM hone.traces AS t JOIN hone.evals AS e ON e.trace_id = toString(t.trace_id)

SELECT name FROM spans PREWHERE kind = 'llm' WHERE status != 'error' ORDER BY name LIMIT 5

SELECT count() FROM spans PREWHERE duration_ns > 0

FROM spans SELECT name, count() GROUP BY name

SELECT `name`, "model" FROM `spans` WHERE "kind" = 'llm'

SELECT name AS "Name of the span", count() AS `How often` FROM spans GROUP BY "Name of the span" ORDER BY `How often` DESC

SELECT name AS NAME, sum(cost_nano_usd) AS TOTAL_COST FROM spans GROUP BY NAME ORDER BY TOTAL_COST DESC

SELECT count() AS P95, P95 * 2 AS "settings", 'SETTINGS' AS format_name FROM spans

/* the slowest */ SELECT name -- its name
FROM spans # everything
ORDER BY duration_ns DESC LIMIT 1

SELECT $$it's text$$ AS quoted, 'it''s' AS doubled, 'tab\t' AS escaped, 'ünïcode ✓' AS letters

SELECT multiply(2, 3), plus(1, 1), equals(1, 1), not(0), and(1, 1), or(0, 1), xor(1, 0), NOT 1 = 2, 2 BETWEEN 1 AND 3, NULL IS NULL, 1 IS DISTINCT FROM 2

SELECT now(), today(), yesterday(), now64(), toYear(now()), toQuarter(now()), toMonth(now()), toDayOfMonth(now()), toMinute(now()), toSecond(now()), toMonday(today()), toStartOfYear(today()), toStartOfDay(now()), toStartOfFifteenMinutes(now())

SELECT input_tokens + cache_read_tokens + cache_write_tokens + output_tokens + reasoning_tokens AS tokens, cache_read_tokens / nullIf(tokens, 0) AS hit_rate FROM spans WHERE kind = 'llm' ORDER BY tokens DESC LIMIT 10

SELECT model, sum(cache_read_tokens) / greatest(sum(input_tokens + cache_read_tokens), 1) AS cached FROM spans WHERE kind = 'llm' GROUP BY model

SELECT toDate(fromUnixTimestamp64Nano(start_ns)) AS day, model, sum(cost_nano_usd) / 1e9 AS usd, usd / sum(usd) OVER (PARTITION BY day) AS share FROM spans GROUP BY day, model ORDER BY day, usd DESC

SELECT name, count() AS n, n / (SELECT count() FROM spans) AS share FROM spans GROUP BY name ORDER BY n DESC

SELECT service, countIf(kind = 'llm') AS llm, countIf(kind = 'tool') AS tool, countIf(kind = 'retriever') AS retriever FROM spans GROUP BY service

SELECT version, quantile(0.5)(duration_ns) AS p50, quantile(0.95)(duration_ns) AS p95, p95 / p50 AS spread FROM spans WHERE kind = 'llm' GROUP BY version ORDER BY version

SELECT user_id, dateDiff('day', toDate(fromUnixTimestamp64Nano(min(start_ns))), toDate(fromUnixTimestamp64Nano(max(start_ns)))) AS days FROM spans WHERE user_id != '' GROUP BY user_id

SELECT length(truncated) AS cut, truncated FROM spans WHERE notEmpty(truncated)

SELECT trace_id, count() AS n FROM spans GROUP BY trace_id HAVING n > 1 AND max(duration_ns) > 0 ORDER BY n DESC LIMIT 5

SELECT widthBucket(duration_ns, 0, 1000000, 10) AS bucket, count() FROM spans GROUP BY bucket ORDER BY bucket

SELECT start_ns - any(start_ns) OVER (ORDER BY start_ns ROWS BETWEEN 1 PRECEDING AND 1 PRECEDING) AS step FROM spans

SELECT floor(log10(greatest(duration_ns, 1))) AS magnitude, count() AS n, bar(n, 0, 50, 10) FROM spans GROUP BY magnitude ORDER BY magnitude

SELECT status_message, count() FROM spans WHERE status = 'error' GROUP BY status_message ORDER BY 2 DESC

SELECT provider, model, avg(output_tokens / nullIf(duration_ns / 1e9, 0)) AS tokens_per_second FROM spans WHERE kind = 'llm' GROUP BY provider, model

SELECT documents, avg(duration_ns) FROM spans WHERE kind = 'retriever' GROUP BY documents

SELECT a.model, a.usd AS now_usd, b.usd AS before_usd FROM (SELECT model, sum(cost_nano_usd) / 1e9 AS usd FROM spans WHERE start_ns >= 1763200000000000000 GROUP BY model) AS a FULL OUTER JOIN (SELECT model, sum(cost_nano_usd) / 1e9 AS usd FROM spans WHERE start_ns < 1763200000000000000 GROUP BY model) AS b ON a.model = b.model

SELECT e.label, quantile(0.5)(s.duration_ns) FROM evals e RIGHT JOIN spans s ON e.target_id = toString(s.span_id) GROUP BY e.label

SELECT name, arrayElement(groupArraySample(3)(span_id), 1) AS example FROM spans GROUP BY name

SELECT exponentialMovingAverage(10)(duration_ns, start_ns) FROM spans

SELECT any(name) OVER (ORDER BY start_ns ROWS BETWEEN 1 PRECEDING AND 1 PRECEDING) AS previous, name FROM spans

SELECT mapKeys(attribute_index)[1] AS k, arrayFirst((k, v) -> v != '', mapKeys(attribute_index), mapValues(attribute_index)) FROM spans LIMIT 2

SELECT toJSONString(map('n', count())), toJSONString(groupArray(name)) FROM spans

SELECT identity(1), materialize(1), ignore(1), toUUID('00000000-0000-0000-0000-000000000000')

SELECT count() FROM (SELECT arrayJoin(range(1000)) AS i) WHERE i % 3 = 0

SELECT i, count() FROM (SELECT arrayJoin(range(5)) AS i) AS hours LEFT JOIN spans ON toHour(toDateTime(intDiv(start_ns, 1000000000))) = i GROUP BY i ORDER BY i

SELECT name, duration_ns FROM spans ORDER BY name

SELECT * FROM (SELECT input, duration_ns FROM spans ORDER BY duration_ns DESC) LIMIT 3

SELECT * FROM (SELECT label, explanation FROM evals ORDER BY label) LIMIT 3

SELECT (SELECT groupArray(name) FROM (SELECT * FROM (SELECT name, input FROM spans ORDER BY name) LIMIT 3)) AS names

SELECT input, output FROM spans ORDER BY duration_ns DESC, input LIMIT 2
