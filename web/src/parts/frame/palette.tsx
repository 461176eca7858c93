// Ctrl-K: find every page, project, space, action and object by a few letters.

import { signal } from "@preact/signals";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { chord_caps } from "../../lib/chord";
import { fuzzy_sort, type Match } from "../../lib/filter/fuzzy";
import { Icon, type IconName } from "../icon";

export interface Command {
  title: string;
  group: string;
  icon: IconName;
  keys?: string;
  /** More words to find it by. */
  also?: string;
  /** One of many: found by typing, not listed before. */
  object?: boolean;
  run: () => void;
}

export const palette_open = signal(false);

function Highlighted({ text, positions }: { text: string; positions: number[] }) {
  const marked = new Set(positions);
  return (
    <span class="menu-title">
      {[...text].map((letter, index) => (marked.has(index) ? <b key={index}>{letter}</b> : letter))}
    </span>
  );
}

export function Caps({ keys }: { keys: string }) {
  return (
    <span class="caps">
      {chord_caps(keys).map((cap, index) => (
        <kbd key={index}>{cap}</kbd>
      ))}
    </span>
  );
}

/** By title first; then by the other words, which must contain the text as it was typed. */
function find_commands(text: string, commands: Command[]): { item: Command; match: Match }[] {
  const typed = text.trim().toLowerCase();
  const listed = typed === "" ? commands.filter((command) => !command.object) : commands;
  const found = fuzzy_sort(text, listed, (command) => command.title);
  const known = new Set(found.map((result) => result.item));
  for (const item of commands) {
    if (known.has(item) || typed === "" || !item.also?.toLowerCase().includes(typed)) continue;
    found.push({ item, match: { score: 0, positions: [] } });
  }
  return found;
}

interface PaletteProps {
  commands: Command[];
  /** Commands that come out of the typed text: an id, or words to search for. */
  typed: (text: string) => Command[];
  loading: boolean;
}

export function Palette({ commands, typed, loading }: PaletteProps) {
  const element = useRef<HTMLDialogElement>(null);
  const list_id = useId();
  const [text, set_text] = useState("");
  const [active, set_active] = useState(0);
  useEffect(() => element.current?.showModal(), []);
  useEffect(() => document.getElementById(`${list_id}-${active}`)?.scrollIntoView({ block: "nearest" }), [active]);

  const found = [
    ...find_commands(text, commands).slice(0, 60),
    ...typed(text).map((item) => ({ item, match: { score: 0, positions: [] } })),
  ];
  const close = () => element.current?.close();
  const run = (command: Command | undefined) => {
    if (!command) return;
    close();
    command.run();
  };
  function on_key(event: KeyboardEvent): void {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && found.length > 0) {
      event.preventDefault();
      set_active((active + step + found.length) % found.length);
    }
    if (event.key === "Enter") {
      event.preventDefault();
      run(found[active]?.item);
    }
  }

  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Esc is the dialog's own key; the click is on its backdrop
    <dialog
      ref={element}
      class="palette"
      aria-label="Search and commands"
      onClose={() => {
        palette_open.value = false;
      }}
      onClick={(event) => event.target === element.current && close()}
    >
      <div class="palette-input">
        <Icon name="search" />
        <input
          type="text"
          role="combobox"
          aria-label="Search pages, actions and everything in the space"
          aria-expanded="true"
          aria-controls={list_id}
          aria-activedescendant={found.length > 0 ? `${list_id}-${active}` : undefined}
          placeholder="Search pages, projects, issues, runs, presets, traces by id…"
          autocomplete="off"
          spellcheck={false}
          value={text}
          onInput={(event) => {
            set_text(event.currentTarget.value);
            set_active(0);
          }}
          onKeyDown={on_key}
        />
        <kbd>Esc</kbd>
      </div>
      <div id={list_id} role="listbox" aria-label="Results" class="palette-list">
        {found.map(({ item, match }, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are handled by the combobox
          <div
            key={`${item.group}/${item.title}/${item.also ?? ""}`}
            id={`${list_id}-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === active}
            class="menu-item"
            onPointerMove={() => set_active(index)}
            onClick={() => run(item)}
          >
            <Icon name={item.icon} />
            <Highlighted text={item.title} positions={match.positions} />
            <span class="faint">{item.group}</span>
            {item.keys && <Caps keys={item.keys} />}
          </div>
        ))}
      </div>
      {found.length === 0 && <p class="palette-none">{loading ? "Searching…" : `No results for “${text}”.`}</p>}
    </dialog>
  );
}
