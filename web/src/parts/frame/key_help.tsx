// `?`: the keyboard shortcuts that are registered on this page.

import { signal } from "@preact/signals";
import { known_actions } from "../../keyboard";
import { Dialog } from "../dialog";
import { Caps } from "./palette";

export const key_help_open = signal(false);

export function KeyHelp() {
  const groups = new Map<string, { keys: string; title: string }[]>();
  for (const action of known_actions()) {
    const rows = groups.get(action.group) ?? [];
    if (!rows.some((row) => row.title === action.title)) rows.push(action);
    groups.set(action.group, rows);
  }
  const order = ["This page", "List", "Everywhere", "Go to"];
  const sorted = [...groups].sort(([a], [b]) => order.indexOf(a) - order.indexOf(b));
  return (
    <Dialog title="Keyboard shortcuts" wide on_close={() => (key_help_open.value = false)}>
      <div class="key-help">
        {sorted.map(([group, rows]) => (
          <section key={group}>
            <h3>{group}</h3>
            <dl>
              {rows.map((row) => (
                <div key={row.keys}>
                  <dt>{row.title}</dt>
                  <dd>
                    <Caps keys={row.keys} />
                  </dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  );
}
