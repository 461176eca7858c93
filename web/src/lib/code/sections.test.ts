import { expect, test } from "@playwright/test";
import { find_sections, sections_of, with_page_links } from "./sections";

const text =
  "# Limits\n\nFirst words.\n\n## Disk\n\nThe disk is full.\n\n```sh\n## no heading\n```\n\n## Memory\n\nA disk cache.\n";

test("a document has its title and its headings as sections, code has none", () => {
  expect(sections_of(text).map((section) => section.title)).toEqual(["Limits", "Disk", "Memory"]);
});

test("sections with all words are found, titles first", () => {
  expect(find_sections(text, "DISK").map((hit) => hit.section)).toEqual(["Disk", "Memory"]);
  expect(find_sections(text, "disk cache")).toEqual([{ section: "Memory", line: "A disk cache." }]);
  expect(find_sections(text, "tape")).toEqual([]);
  expect(find_sections(text, " ")).toEqual([]);
});

test("links to known documents become pages, others stay", () => {
  const known = (name: string) => (name === "gateway" ? "https://hone.example/docs/gateway" : null);
  expect(with_page_links("[a](gateway.md#x) [b](map.md) [c](https://x.example/a.md)", known)).toBe(
    "[a](https://hone.example/docs/gateway) b [c](https://x.example/a.md)",
  );
});

test("a hit in the words of a picture shows them without its file", () => {
  const text = "# Runs\n\n![A worker in a sandbox](pictures/run.svg)\n";
  expect(find_sections(text, "worker sandbox")).toEqual([{ section: "Runs", line: "A worker in a sandbox" }]);
});
