// Cells of a Jupyter notebook (nbformat 4) as far as they can be shown without running anything.

export interface NotebookOutput {
  text: string;
  /** A data: address of an image. */
  image: string | null;
}
export interface NotebookCell {
  kind: "markdown" | "code" | "raw";
  source: string;
  outputs: NotebookOutput[];
}

const joined = (value: unknown): string =>
  Array.isArray(value)
    ? value.filter((part) => typeof part === "string").join("")
    : typeof value === "string"
      ? value
      : "";

const record = (value: unknown): Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};

function read_output(value: unknown): NotebookOutput {
  const output = record(value);
  const data = record(output.data);
  for (const type of ["image/png", "image/jpeg"]) {
    const bytes = joined(data[type]).replace(/\s/g, "");
    if (bytes !== "" && /^[A-Za-z0-9+/=]+$/.test(bytes)) return { text: "", image: `data:${type};base64,${bytes}` };
  }
  if (output.output_type === "error") return { text: `${joined(output.ename)}: ${joined(output.evalue)}`, image: null };
  return { text: joined(output.text) || joined(data["text/plain"]), image: null };
}

/** Null when the text is not a notebook. */
export function read_notebook(text: string): NotebookCell[] | null {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return null;
  }
  const cells = record(parsed).cells;
  if (!Array.isArray(cells)) return null;
  return cells.map((entry) => {
    const cell = record(entry);
    const kind = cell.cell_type === "markdown" || cell.cell_type === "code" ? cell.cell_type : "raw";
    const outputs = Array.isArray(cell.outputs) ? cell.outputs.map(read_output) : [];
    return {
      kind,
      source: joined(cell.source),
      outputs: outputs.filter((output) => output.text !== "" || output.image),
    };
  });
}
