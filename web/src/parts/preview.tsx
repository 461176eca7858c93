// A preview of a file that a worker made: images, sounds, CSV, notebooks, PDF, JSON, Markdown, text; HTML in a frame in which
// nothing runs. The address serves the file with headers that prevent scripts; nothing of it enters this page as HTML.

import { csv_rows } from "../lib/code/csv";
import { is_audio_file } from "../lib/code/media";
import { type NotebookCell, read_notebook } from "../lib/code/notebook";
import { plural } from "../lib/format/number";
import { reload, use_load } from "../load";
import { JsonValue, parsed_container } from "./json_view";
import { Markdown } from "./markdown";
import { AudioPlayer } from "./media";
import { Data } from "./state";
import { Visible } from "./visible";

const largest_text = 1 << 20;
const largest_image = 25 << 20;
const most_rows = 200;

export interface PreviewProps {
  name: string;
  bytes: number;
  /** Address of the content. */
  address: string;
  /** Address of an HTML file as a page without scripts; null: there is none. */
  page_address: string | null;
  /** Changes when the content does. */
  version: string;
}

const ending = (name: string) => name.slice(name.lastIndexOf(".") + 1).toLowerCase();

async function fetch_text(address: string, signal: AbortSignal): Promise<string> {
  const response = await fetch(address, { signal, credentials: "same-origin" });
  if (!response.ok) throw new Error(`The server responded with ${response.status}`);
  return response.text();
}

function CsvTable({ text }: { text: string }) {
  const rows = csv_rows(text, most_rows + 1);
  const [head, ...body] = rows;
  if (!head) return <p class="faint">The file is empty.</p>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling block must be reachable by keyboard
    <div class="preview-table" tabIndex={0}>
      <table>
        <thead>
          <tr>
            {head.map((cell, index) => (
              <th key={index} scope="col">
                <Visible text={cell} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {body.map((row, at) => (
            <tr key={at}>
              {row.map((cell, index) => (
                <td key={index}>
                  <Visible text={cell} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > most_rows && <p class="faint">The first {plural(most_rows, "row")}. Download the file for all.</p>}
    </div>
  );
}

function Notebook({ cells }: { cells: NotebookCell[] }) {
  return (
    <div class="preview-notebook">
      {cells.map((cell, at) => (
        <div key={at}>
          {cell.kind === "markdown" ? (
            <Markdown text={cell.source} />
          ) : (
            <pre>
              <Visible text={cell.source} />
            </pre>
          )}
          {cell.outputs.map((output, index) =>
            output.image ? (
              <img key={index} src={output.image} alt={`Output of cell ${at + 1}`} />
            ) : (
              <pre key={index} class="soft">
                <Visible text={output.text} />
              </pre>
            ),
          )}
        </div>
      ))}
    </div>
  );
}

function TextPreview({ name, address, version }: PreviewProps) {
  const key = `preview/${address}/${version}`;
  const load = use_load(key, (signal) => fetch_text(address, signal));
  return (
    <Data load={load} retry={() => void reload(key)}>
      {(text) => {
        if (ending(name) === "csv") return <CsvTable text={text} />;
        const cells = ending(name) === "ipynb" ? read_notebook(text) : null;
        if (cells) return <Notebook cells={cells} />;
        const held = ending(name) === "json" ? parsed_container(text) : undefined;
        if (held !== undefined) return <JsonValue value={held} />;
        if (["md", "markdown"].includes(ending(name))) return <Markdown text={text} />;
        return (
          // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling block must be reachable by keyboard
          <pre class="artifact-text" tabIndex={0}>
            <Visible text={text} />
          </pre>
        );
      }}
    </Data>
  );
}

export function Preview(props: PreviewProps) {
  const { name, bytes, address, page_address } = props;
  const kind = ending(name);
  if (["png", "jpg", "jpeg", "gif", "webp", "svg"].includes(kind) && bytes <= largest_image)
    return <img class="preview-image" src={address} alt={name} />;
  if (is_audio_file(name)) return <AudioPlayer address={address} title={name} />;
  if (kind === "pdf") return <iframe class="preview-frame" title={`Preview of ${name}`} src={address} />;
  if (["html", "htm"].includes(kind) && page_address !== null && bytes <= largest_text)
    return <iframe class="preview-frame" title={`Preview of ${name}`} src={page_address} sandbox="" />;
  if (bytes > largest_text) return <p class="faint">Too large for a preview. Download the file to open it.</p>;
  return <TextPreview {...props} />;
}
