import { expect, test } from "@playwright/test";
import { read_notebook } from "./notebook";

test("cells, texts, errors and images of a notebook are read", () => {
  const text = JSON.stringify({
    nbformat: 4,
    cells: [
      { cell_type: "markdown", source: ["# Title\n", "text"] },
      {
        cell_type: "code",
        source: "1 + 1",
        outputs: [
          { output_type: "stream", text: ["a\n", "b"] },
          { output_type: "execute_result", data: { "text/plain": ["2"], "text/html": "<script>alert(1)</script>" } },
          { output_type: "display_data", data: { "image/png": "aGk=\n" } },
          { output_type: "display_data", data: { "image/png": 'x" onerror=alert(1)' } },
          { output_type: "error", ename: "ValueError", evalue: "no" },
        ],
      },
    ],
  });
  expect(read_notebook(text)).toEqual([
    { kind: "markdown", source: "# Title\ntext", outputs: [] },
    {
      kind: "code",
      source: "1 + 1",
      outputs: [
        { text: "a\nb", image: null },
        { text: "2", image: null },
        { text: "", image: "data:image/png;base64,aGk=" },
        { text: "ValueError: no", image: null },
      ],
    },
  ]);
});

test("other texts are not notebooks", () => {
  for (const text of ["", "no", "[]", "{}", '{"cells":1}', "null"]) expect(read_notebook(text)).toBeNull();
  expect(read_notebook('{"cells":[null,3]}')).toEqual([
    { kind: "raw", source: "", outputs: [] },
    { kind: "raw", source: "", outputs: [] },
  ]);
});
