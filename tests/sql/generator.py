"""Random SQL from a grammar: half of it as an analyst would write, half of it reaching for what is not its own.

The same seed gives the same statements, for the same lists of functions.
"""

import random

TABLES = {
    "spans": ["project", "start_ns", "trace_id", "span_id", "parent_id", "duration_ns", "name", "kind", "status", "service", "model",
              "input_tokens", "output_tokens", "cost_nano_usd", "user_id", "chat_session", "attribute_index", "input", "output", "attributes"],
    "evals": ["project", "target", "target_id", "name", "label", "score", "explanation", "annotator", "trace_id", "created_ns"],
    "traces": ["project", "trace_id", "root_name", "chat_session", "user_id", "start_ns", "duration_ns", "spans", "errors", "tokens"],
    "chat_sessions": ["project", "chat_session", "user_id", "start_ns", "traces", "spans", "tokens"],
}
TEXTS = ["name", "input", "output", "model", "attributes", "user_id"]
PLAIN = ["toString({0})", "length(toString({0}))", "concat({0}, {1})", "lower(toString({0}))", "hex(toString({0}))", "reverse(toString({0}))",
         "if({0} = {1}, {0}, {1})", "coalesce({0}, {1})", "substring(toString({0}), 1, 20)", "toTypeName({0})", "[{0}, {1}]", "({0}, {1})",
         "tuple({0}, {1})", "toJSONString({0})", "cityHash64({0})", "isNull({0})", "{0} IN ({1})", "{0} = {1}", "NOT ({0} = {1})",
         "arrayMap(x -> toString(x), [{0}])", "arrayFilter(x -> x = {0}, [{1}])", "CASE WHEN {0} = {1} THEN 1 ELSE 2 END",
         "{0} IS NULL", "CAST({0} AS String)", "{0}::String", "JSONExtractString(toString({0}), 'a')", "toInt64OrNull(toString({0}))",
         "toDate(fromUnixTimestamp64Nano(start_ns))", "materialize({0})", "arrayJoin([{0}, {1}])", "map('a', {0})['a']"]
AGGREGATES = ["count()", "any({0})", "groupArray({0})", "groupUniqArray(toString({0}))", "min({0})", "max({0})", "uniq({0})", "countIf({0} = {1})",
              "argMax({0}, {1})", "topK(3)({0})", "groupArrayIf({0}, 1)", "count(DISTINCT {0})", "quantile(0.5)(length(toString({0})))", "anyLast({0})"]
FOREIGN = ["{other}.spans", "{other}.evals", "{other}.traces", "`{other}`.`spans`", "\"{other}\".spans", "hone.spans", "hone.evals", "hone.trace_times",
           "hone.eval_history", "hone.traces", "system.processes", "system.tables", "system.errors", "system.parts", "system.databases", "system.columns",
           "system.query_log", "`system`.one", "SYSTEM.processes", "information_schema.tables", "INFORMATION_SCHEMA.COLUMNS", "trace_times", "default.spans",
           "_temporary_and_external_tables.x", "`spans `", "spans.spans"]
TABLE_FUNCTIONS = ["numbers(3)", "merge('hone', '.*')", "merge(REGEXP('hone.*'), 'spans')", "mergeTreeIndex('hone', 'spans')",
                   "mergeTreeTextIndex('hone', 'spans', 'input_words')", "view(SELECT * FROM hone.spans)", "remote('127.0.0.1', hone.spans)", "values('a String', 'x')",
                   "loop(hone.spans)", "file('/etc/passwd', 'LineAsString')", "url('http://127.0.0.1:1/', 'LineAsString')", "generateRandom('a String')",
                   "format(JSONEachRow, '{}')", "null('a String')", "viewExplain('EXPLAIN', '', (SELECT 1))", "fuzzQuery('SELECT 1')", "dictionary('x')"]
SETTINGS = ["log_comment = '*'", "readonly = 0", "max_threads = 1", "enable_analyzer = 0", "max_memory_usage = 0", "additional_table_filters = {'hone.spans': '1'}",
            "default_view_definer = 'default'", "max_execution_time = 0", "allow_introspection_functions = 1", "database = 'hone'"]
TAILS = ["SETTINGS {0}", "FORMAT TSV", "INTO OUTFILE '{outfile}'", "INTO OUTFILE '{outfile}' TRUNCATE FORMAT TSV", "; SELECT 1", "; SET ROLE ALL; SELECT * FROM hone.spans",
         "// '\n) ; SELECT * FROM hone.spans //'", "-- { echo }\n", "# x", "\\G", "PARALLEL WITH SELECT * FROM hone.spans", ") UNION ALL (SELECT * FROM hone.spans"]
COMMENTS = ["/* x */", "-- x\n", "// x\n", "# x\n", "#! x\n", "/* /* */", "--\n", "\u00a0", "\u200b", "\t", "\n", "/*!*/", "// ' \n", "-- ' \n", "/* ' */"]


class Generator:
    def __init__(self, seed, functions, table_functions, is_hostile=True):
        self.random = random.Random(seed)
        self.functions = functions  # every function of the engine
        self.table_functions = table_functions
        self.is_hostile = is_hostile
        self.hostility = 0.0

    def one_of(self, list_):
        return self.random.choice(list_)

    def chance(self, share):
        return self.random.random() < share

    def is_attack(self, share=1.0):
        return self.chance(self.hostility * share)

    def statement(self):
        self.hostility = self.one_of([0.0, 0.0, 0.05, 0.15, 0.4]) if self.is_hostile else 0.0
        self.depth = self.random.randint(1, 4)
        sql = self.query(self.depth)
        if self.is_attack(0.5):
            sql += " " + self.one_of(TAILS).replace("{0}", self.one_of(SETTINGS))
        if self.chance(self.hostility):
            pieces = sql.split(" ")
            for _ in range(self.random.randint(1, 3)):
                pieces.insert(self.random.randint(0, len(pieces)), self.one_of(COMMENTS))
            sql = " ".join(pieces)
        if self.is_attack(0.2) and len(sql) > 2:  # one byte lost or doubled
            at = self.random.randrange(len(sql))
            sql = sql[:at] + self.one_of(["", sql[at] * 2, "'", "`", "(", ")", "\\", ";", "$$", "{"]) + sql[at + 1:]
        return sql

    def query(self, depth):
        kind = self.random.random()
        if depth > 0 and kind < 0.12:
            return f"{self.select(depth - 1)} {self.one_of(['UNION ALL', 'UNION DISTINCT', 'EXCEPT', 'INTERSECT'])} {self.select(depth - 1)}"
        if depth > 0 and kind < 0.27:
            name = self.one_of(["x", "spans", "evals", "system", "t1", "`a b`", "hone"])
            return f"WITH {name} AS ({self.select(depth - 1)}) SELECT {self.one_of(['*', 'count()', self.expression(1, [])])} FROM {name}"
        if kind < 0.32:
            return f"WITH {self.expression(depth, [])} AS w SELECT w, w"
        return self.select(depth)

    def source(self, depth):
        """A table expression and its columns."""
        if self.is_attack(0.5):
            return self.one_of([lambda: self.one_of(FOREIGN), lambda: self.one_of(TABLE_FUNCTIONS),
                                lambda: self.one_of(self.table_functions) + "('hone', 'spans')"])(), TABLES["spans"]
        if depth > 0 and self.chance(0.3):
            return f"({self.select(depth - 1)})", []
        table = self.one_of(list(TABLES) + ["spans"] * 4)
        prefix = self.one_of(["", "", "", "", "hone."])
        quoted = self.one_of(["{}", "{}", "`{}`", '"{}"']).format(table)
        return prefix + quoted + (" FINAL" if self.chance(0.05) else ""), TABLES[table]

    def select(self, depth):
        table, columns = self.source(depth)
        joined = ""
        if depth > 0 and self.chance(0.2):
            other, others = self.source(depth - 1)
            condition = self.one_of(["a.trace_id = b.trace_id", "a.project = b.project", "1 = 1", self.expression(1, columns)])
            joined = f" AS a {self.one_of(['INNER', 'LEFT', 'LEFT ANY', 'CROSS', 'FULL', 'LEFT SEMI'])} JOIN {other} AS b"
            joined += "" if "CROSS" in joined else f" ON {condition}"
        grouped = columns and self.chance(0.3)
        items = []
        for _ in range(self.random.randint(1, 3)):
            items.append(self.projection(depth, columns, grouped))
        key = self.one_of(columns) if grouped else None
        sql = f"SELECT {'DISTINCT ' if self.chance(0.1) else ''}{', '.join(items + ([key] if key else []))} FROM {table}{joined}"
        if self.chance(0.1) and not joined:
            sql += f" {self.one_of(['', 'LEFT '])}ARRAY JOIN [{self.expression(1, columns)}] AS j"
        if self.chance(0.1) and not joined and columns:
            sql += f" PREWHERE {self.condition(depth, columns)}"
        if self.chance(0.4):
            sql += f" WHERE {self.condition(depth, columns)}"
        if key:
            sql += f" GROUP BY {key}{self.one_of(['', '', ' WITH TOTALS', ' WITH ROLLUP'])}"
            if self.chance(0.2):
                sql += f" HAVING {self.one_of(AGGREGATES).format(key, key)} != 0"
        if self.chance(0.1) and not key:
            sql += f" QUALIFY row_number() OVER (ORDER BY {self.expression(1, columns)}) < 5"
        if self.chance(0.3):
            sql += f" ORDER BY {key or self.expression(1, columns)} {self.one_of(['ASC', 'DESC', 'DESC NULLS FIRST'])}"
        if self.chance(0.05):
            sql += f" LIMIT 1 BY {self.expression(0, columns)}"
        if self.chance(0.4):
            sql += f" LIMIT {self.random.randint(1, 20)}"
        if self.is_attack(0.2):
            sql += f" SETTINGS {self.one_of(SETTINGS)}"
        return sql

    def projection(self, depth, columns, grouped):
        if grouped:
            return self.one_of(AGGREGATES).format(self.expression(0, columns), self.expression(0, columns)) + self.alias()
        kind = self.random.random()
        if kind < 0.1:
            return "*" + self.transformers(depth, columns)
        if kind < 0.15:
            return f"COLUMNS('{self.one_of(['.*', 'name', '^in', '_ns$'])}')" + self.transformers(depth, columns)
        if kind < 0.22:
            return f"{self.one_of(AGGREGATES).format(self.expression(0, columns), self.expression(0, columns))} OVER (PARTITION BY {self.expression(0, columns)})"
        return self.expression(depth, columns) + self.alias()

    def transformers(self, depth, columns):
        out = ""
        if self.chance(0.2) and columns:
            out += f" EXCEPT ({self.one_of(columns)})"
        if self.chance(0.2) and columns:
            out += f" REPLACE ({self.expression(depth, columns)} AS {self.one_of(columns)})"
        if self.chance(0.3):
            out += f" APPLY({self.one_of(['toString', 'length', self.one_of(self.functions) if self.is_attack(2) else 'toTypeName'])})"
        if self.is_attack(0.5):
            out += f" APPLY(x -> ({self.select(0)}))"
        return out

    def alias(self):
        if self.chance(0.7):
            return ""
        return " AS " + self.one_of(["a1", "`b c`", '"d"', "name", "spans", "system", "file", "`x, table_name: spans`", "`PROJECTION COLUMNS`", "P95", "settings"])

    def condition(self, depth, columns):
        if self.is_attack(0.3):
            return f"{self.expression(0, columns)} IN {self.one_of(FOREIGN)}"
        if depth > 0 and self.chance(0.2):
            return f"toString({self.expression(0, columns)}) IN (SELECT toString({self.expression(0, columns) if columns else '1'}) FROM {self.source(0)[0]})"
        return f"toString({self.expression(1, columns)}) {self.one_of(['=', '!=', '<', 'LIKE', 'ILIKE', 'NOT LIKE'])} {self.text()}"

    def text(self):
        return self.one_of(["'a'", "'%'", "''", "'it''s'", "'\\n'", "'; DROP TABLE spans'", "$$x$$", "'//'", "'--'", "'{other}'", "'`'", "'\\''", "'FORMAT'", "'system.one'"])

    def expression(self, depth, columns):
        if depth > 0 and self.is_attack(0.4):
            function = self.one_of(self.functions)
            arguments = ", ".join(self.expression(depth - 1, columns) for _ in range(self.random.randint(0, 3)))
            return f"{function}({arguments})"
        if depth > 0 and self.chance(0.08):
            return f"({self.select(0)} LIMIT 1)"
        if depth > 0 and self.chance(0.5):
            return self.one_of(PLAIN).replace("{0}", self.expression(depth - 1, columns)).replace("{1}", self.expression(depth - 1, columns))
        if columns and self.chance(0.7):
            return self.one_of(columns)
        return self.one_of(["1", "0.5", "NULL", "-1", "1e10", self.text(), self.one_of(TEXTS), "now()", "[1, 2]", "(1, 'a')"])
