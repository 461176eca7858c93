// Keyboard shortcuts of the open page. Pages register theirs with use_keys; the newest wins, and `?` lists them.

import { signal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { follow_chord, key_name } from "./lib/chord";

export interface KeyAction {
  /** "g m", "ctrl+k", "/". */
  keys: string;
  title: string;
  /** Heading in the list of shortcuts. */
  group: string;
  run: () => void;
  /** Works even while typing in a field or with a dialog open. */
  everywhere?: boolean;
}

type Source = { current: KeyAction[] };
const sources = signal<Source[]>([]);
let prefix = "";
let prefix_time = 0;
const prefix_lifetime = 1500;

/** Every registered action; a key that is registered later hides an earlier one. */
export function known_actions(): KeyAction[] {
  const by_keys = new Map<string, KeyAction>();
  for (const source of sources.value) for (const action of source.current) by_keys.set(action.keys, action);
  return [...by_keys.values()];
}

export function use_keys(actions: KeyAction[]): void {
  const current = useRef(actions);
  current.current = actions;
  // Before the page is painted: its keys work as soon as it is visible.
  useLayoutEffect(() => {
    sources.value = [...sources.peek(), current];
    return () => {
      sources.value = sources.peek().filter((source) => source !== current);
    };
  }, []);
}

function is_typing(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.isContentEditable || target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement)
    return true;
  return target instanceof HTMLInputElement && !["checkbox", "radio", "button"].includes(target.type);
}

function on_key(event: KeyboardEvent): void {
  if (event.defaultPrevented || ["Shift", "Control", "Alt", "Meta"].includes(event.key)) return;
  const blocked = is_typing(event.target) || document.querySelector("dialog[open]") !== null;
  const actions = known_actions().filter((action) => action.everywhere || !blocked);
  if (Date.now() - prefix_time > prefix_lifetime) prefix = "";
  const name = key_name({ key: event.key, ctrl: event.ctrlKey || event.metaKey, alt: event.altKey });
  const step = follow_chord(
    prefix,
    name,
    actions.map((action) => action.keys),
  );
  prefix = step.prefix;
  prefix_time = Date.now();
  const action = actions.find((candidate) => candidate.keys === step.hit);
  if (!action) return;
  // A focused button or link keeps its own Enter.
  if (action.keys === "Enter" && event.target instanceof Element && event.target.closest("a, button, summary")) return;
  event.preventDefault();
  action.run();
}

export function start_keyboard(): void {
  document.addEventListener("keydown", on_key);
}
