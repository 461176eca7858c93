import { expect, test } from "@playwright/test";
import { complete_sql, format_sql } from "./sql_text";

const names = { tables: ["spans", "logs"], columns: { spans: ["model", "trace_id"], logs: ["body"] } };
const labels = (sql: string, cursor = sql.length) => complete_sql(sql, cursor, names).words.map((word) => word.label);

test("tables follow FROM, columns are those of the named tables", () => {
  expect(labels("SELECT 1 FROM ")).toEqual(["spans", "logs"]);
  expect(labels("SELECT bo FROM logs", 9)).toEqual(["body"]);
  expect(labels("SELECT mod FROM spans", 10)).toEqual(["model"]);
  expect(labels("sel")).toEqual(["SELECT"]);
  expect(labels("SELECT 1 WHERE t > {{win")).toEqual(["{{window.from}}", "{{window.to}}"]);
});

test("texts and comments are not completed", () => {
  expect(labels("SELECT 'mod")).toEqual([]);
  expect(labels("SELECT 1 -- mod")).toEqual([]);
  expect(labels("SELECT 'it''s', mod")).toEqual(["model"]);
});

test("clauses get lines of their own and texts stay as they are", () => {
  expect(
    format_sql("select model,count() from spans where name='a from  b' group by model order by 2 desc limit 5"),
  ).toBe("SELECT model,count()\nFROM spans\nWHERE name='a from  b'\nGROUP BY model\nORDER BY 2 DESC\nLIMIT 5");
  expect(format_sql("select * from (select 1 from spans) -- why where\nwhere x")).toBe(
    "SELECT *\nFROM (SELECT 1 FROM spans) -- why where\nWHERE x",
  );
});

test("a long line is broken at its outer commas and conditions, and a second time changes nothing", () => {
  const long = `select ${["model", "count() as calls", "round(quantile(0.95)(duration_ns) / 1e6, 2) as p95", "sum(cost_nano_usd) / 1e9 as usd"].join(", ")} from spans`;
  const once = format_sql(long);
  expect(once.split("\n")).toHaveLength(5);
  expect(once).toContain("\n  round(quantile(0.95)(duration_ns) / 1e6, 2) AS p95,");
  expect(format_sql(once)).toBe(once);
});
