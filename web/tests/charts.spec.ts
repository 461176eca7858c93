// Charts over time: the newest bucket is drawn, and failed spans are a part of the bar.

import { api_key } from "./chat";
import { expect, test, unique } from "./fixtures";
import { painted } from "./pixels";
import { send_spans } from "./spans";

test("the first trace of a project is drawn in the charts", async ({ page, request, server, admin }) => {
  const project = unique("fresh");
  const attributes = { "openinference.span.kind": "LLM", "llm.model_name": "small-1", "llm.token_count.total": 900 };
  const spans = [
    { name: "one", attributes },
    { name: "two", error: "refused" },
  ];
  const trace = await send_spans(request, server.url, await api_key(admin), project, spans, 500);
  // The clock of the page stays in the minute of the spans, so that theirs is the newest bucket.
  const [row] = await admin.send<{ start_time: string }[]>(
    "GET",
    `/v1/projects/${project}/span_rows?trace_id=${trace}`,
  );
  await page.clock.setFixedTime(Date.parse(row?.start_time ?? "") + 1);
  await page.goto(`/s/default/projects/${project}?range=1h`);
  await expect(page.getByRole("figure", { name: "Spans", exact: true }).locator("canvas")).toBeVisible();
  await expect.poll(() => painted(page, "Spans", "--bar")).toBeGreaterThan(50);
  await expect.poll(() => painted(page, "Spans", "--failed")).toBeGreaterThan(50);
  await expect.poll(() => painted(page, "Tokens", "--bar")).toBeGreaterThan(50);

  const last = page.getByRole("figure", { name: "Spans", exact: true }).getByRole("row").last();
  await expect(last.getByRole("cell")).toHaveText(["1", "1"]);

  await page.goto(`/s/default/projects/${project}/traces?range=15m`);
  await expect.poll(() => painted(page, "Spans", "--bar")).toBeGreaterThan(20);

  await page.getByRole("button", { name: "Live" }).click();
  await expect(page).toHaveURL(/live=1/);
  await expect.poll(() => painted(page, "Spans", "--bar")).toBeGreaterThan(20);
});

interface Label {
  text: string;
  left: number;
  right: number;
  y: number;
  of: HTMLCanvasElement;
}

/** Remembers what each canvas has drawn as text since it was cleared. */
function record_labels(): void {
  const drawn: Label[] = [];
  Object.assign(window, { drawn_labels: drawn });
  const { clearRect, fillText } = CanvasRenderingContext2D.prototype;
  CanvasRenderingContext2D.prototype.clearRect = function (...box) {
    for (let at = drawn.length - 1; at >= 0; at--) if (drawn[at]?.of === this.canvas) drawn.splice(at, 1);
    clearRect.apply(this, box);
  };
  CanvasRenderingContext2D.prototype.fillText = function (text, x, y, ...rest) {
    const { width } = this.measureText(text);
    const left = this.textAlign === "right" ? x - width : this.textAlign === "center" ? x - width / 2 : x;
    if (text !== "") drawn.push({ text, left, right: left + width, y, of: this.canvas });
    fillText.call(this, text, x, y, ...rest);
  };
}

test("the labels of an axis have one unit, are not cut off and do not overlap", async ({
  page,
  request,
  server,
  admin,
}) => {
  const project = unique("axes");
  const attributes = {
    "openinference.span.kind": "LLM",
    "llm.model_name": "small-1",
    "llm.token_count.total": 900,
    "llm.cost.total": 0.000046,
  };
  await send_spans(request, server.url, await api_key(admin), project, [{ name: "slow", duration: 1520, attributes }]);
  await page.addInitScript(record_labels);
  await page.goto(`/s/default/projects/${project}?range=1h`);
  const labels = (title: string) =>
    page
      .getByRole("figure", { name: title, exact: true })
      .locator("canvas")
      .evaluate((canvas) =>
        (window as unknown as { drawn_labels: Label[] }).drawn_labels
          .filter((label) => label.of === canvas)
          .map(({ of: _, ...label }) => label),
      );
  for (const title of ["Latency", "Cost"]) {
    await expect.poll(async () => (await labels(title)).length).toBeGreaterThan(4);
    const all = await labels(title);
    const lowest = Math.max(...all.map((label) => label.y));
    const times = all.filter((label) => label.y === lowest).sort((a, b) => a.left - b.left);
    const values = all.filter((label) => label.y < lowest).sort((a, b) => a.y - b.y);
    expect(times.length).toBeGreaterThan(2);
    expect(values.length).toBeGreaterThan(1);
    for (const label of all) expect(label.left, label.text).toBeGreaterThanOrEqual(0);
    for (const [at, label] of times.entries()) {
      expect(label.text).toMatch(/^\d\d[:-]\d\d$/);
      expect(label.left, label.text).toBeGreaterThan(times[at - 1]?.right ?? -1);
    }
    for (const [at, label] of values.entries()) {
      expect(label.text).toMatch(title === "Latency" ? /^[\d.]+ (µs|ms|s)$/ : /^\$[\d.]+$/);
      expect(label.y, label.text).toBeGreaterThan((values[at - 1]?.y ?? -99) + 10);
    }
  }
  const rows = page.getByRole("figure", { name: "Latency", exact: true }).getByRole("row");
  await expect(rows.filter({ hasText: /\d m?s/ }).getByRole("cell")).toHaveText(["1.5 s", "1.5 s"]);
});
