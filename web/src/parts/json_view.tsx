// JSON for reading: objects and lists collapse, long texts wrap, texts that contain JSON can be opened as JSON.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";

const most_entries = 200;

function is_container(value: unknown): value is Record<string, unknown> | unknown[] {
  return typeof value === "object" && value !== null;
}

/** The value a text holds when it is a JSON object or list; undefined when it is plain text. */
export function parsed_container(text: string): Record<string, unknown> | unknown[] | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return is_container(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function Scalar({ value }: { value: unknown }) {
  if (typeof value === "string") return <span class="json-text">{value === "" ? '""' : value}</span>;
  return <span class="json-number">{value === null ? "null" : String(value)}</span>;
}

function summary_of(value: Record<string, unknown> | unknown[]): string {
  if (Array.isArray(value)) return value.length === 1 ? "1 item" : `${value.length} items`;
  const keys = Object.keys(value);
  return `{ ${keys.slice(0, 4).join(", ")}${keys.length > 4 ? ", …" : ""} }`;
}

/** One value; containers are collapsed beyond the first levels. */
export function JsonValue({ value, depth = 0, open = 2 }: { value: unknown; depth?: number; open?: number }) {
  const held = typeof value === "string" ? parsed_container(value) : undefined;
  if (!is_container(value) && held === undefined) return <Scalar value={value} />;
  const container = held ?? (value as Record<string, unknown> | unknown[]);
  const entries = Object.entries(container);
  if (entries.length === 0) return <span class="faint">{Array.isArray(container) ? "[ ]" : "{ }"}</span>;
  return (
    <Fold open={depth < open} title={summary_of(container)} held={held !== undefined}>
      {() => (
        <dl class="json-entries">
          {entries.slice(0, most_entries).map(([key, entry]) => (
            <div key={key}>
              <dt>{key}</dt>
              <dd>
                <JsonValue value={entry} depth={depth + 1} open={open} />
              </dd>
            </div>
          ))}
          {entries.length > most_entries && <p class="faint">{entries.length - most_entries} more; copy to see all</p>}
        </dl>
      )}
    </Fold>
  );
}

interface FoldProps {
  open: boolean;
  title: string;
  held: boolean;
  children: () => ComponentChildren;
}

/** Content is rendered when it is first opened: a payload can be megabytes. */
function Fold({ open, title, held, children }: FoldProps) {
  const [shown, set_shown] = useState(open);
  return (
    <details class="json-fold" open={open} onToggle={(event) => event.currentTarget.open && set_shown(true)}>
      <summary>
        {title}
        {held && <span class="tag">text</span>}
      </summary>
      {shown && children()}
    </details>
  );
}
