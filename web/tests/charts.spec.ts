// Charts over time: the newest bucket is drawn, and failed spans are a part of the bar.

import type { Page } from "@playwright/test";
import { api_key } from "./chat";
import { expect, test, unique } from "./fixtures";
import { send_spans } from "./spans";

/** How many pixels of a chart have the colour of a variable. */
function painted(page: Page, title: string, variable: string): Promise<number> {
  return page
    .getByRole("figure", { name: title })
    .locator("canvas")
    .evaluate((element, name) => {
      const canvas = element as HTMLCanvasElement;
      const probe = document.createElement("span");
      probe.style.color = `var(${name})`;
      document.body.append(probe);
      const wanted = getComputedStyle(probe).color.match(/\d+/g)?.map(Number).slice(0, 3);
      probe.remove();
      const { data } = (canvas.getContext("2d") as CanvasRenderingContext2D).getImageData(
        0,
        0,
        canvas.width,
        canvas.height,
      );
      let count = 0;
      for (let at = 0; at < data.length; at += 4)
        if (wanted?.every((part, index) => Math.abs(part - (data[at + index] ?? 0)) < 3)) count += 1;
      return count;
    }, variable);
}

test("the first trace of a project is drawn in the charts", async ({ page, request, server, admin }) => {
  const project = unique("fresh");
  const attributes = { "openinference.span.kind": "LLM", "llm.model_name": "small-1", "llm.token_count.total": 900 };
  const spans = [
    { name: "one", attributes },
    { name: "two", error: "refused" },
  ];
  await send_spans(request, server.url, await api_key(admin), project, spans, 500);
  await page.goto(`/s/default/projects/${project}?range=1h`);
  await expect(page.getByRole("figure", { name: "Spans" }).locator("canvas")).toBeVisible();
  await expect.poll(() => painted(page, "Spans", "--bar")).toBeGreaterThan(50);
  expect(await painted(page, "Spans", "--failed")).toBeGreaterThan(50);
  expect(await painted(page, "Tokens", "--bar")).toBeGreaterThan(50);

  const last = page.getByRole("figure", { name: "Spans" }).getByRole("row").last();
  await expect(last.getByRole("cell")).toHaveText(["1", "1"]);

  await page.goto(`/s/default/projects/${project}/traces?range=15m`);
  await expect.poll(() => painted(page, "Spans", "--bar")).toBeGreaterThan(20);
});
