// What a chart has drawn on its canvas.

import type { Page } from "@playwright/test";

/** How many pixels of a chart have the colour of a variable. */
export function painted(page: Page, title: string, variable: string): Promise<number> {
  return page
    .getByRole("figure", { name: title, exact: true })
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
