import { expect, test } from "@playwright/test";
import { code_blocks } from "./document";

test("the code blocks of each section are found, including lines that look like headings", () => {
  const text = "# A\n\n## One\n\n```sh\nls\n## no heading\n```\ntext\n```js\n1;\n2;\n```\n\n## Two\n\nnothing\n";
  const found = code_blocks(text);
  expect(found.get("One")).toEqual(["ls\n## no heading", "1;\n2;"]);
  expect(found.has("Two")).toBe(false);
});
