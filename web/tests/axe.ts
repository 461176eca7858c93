// axe-core on the page as it is now.

import { createRequire } from "node:module";
import type { Page } from "@playwright/test";
import { expect } from "./fixtures";

const axe = createRequire(import.meta.url)("axe-core") as { source: string };

interface Finding {
  id: string;
  nodes: { html: string; failureSummary?: string }[];
}

type Runner = { run: (options: object) => Promise<{ violations: Finding[] }> };

export async function check_page(page: Page, options: object = {}): Promise<void> {
  await page.emulateMedia({ reducedMotion: "reduce" }); // what is still fading in does not have its colours yet
  await page.evaluate(axe.source);
  const findings = await page.evaluate(async (chosen) => {
    const runner = (window as unknown as { axe: Runner }).axe;
    return (await runner.run(chosen)).violations.map((finding) => ({
      rule: finding.id,
      where: finding.nodes.slice(0, 3).map((node) => `${node.html} ${node.failureSummary ?? ""}`),
    }));
  }, options);
  await page.emulateMedia({ reducedMotion: null });
  expect(findings).toEqual([]);
}
