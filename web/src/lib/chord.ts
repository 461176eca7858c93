// Key sequences: "ctrl+k", "g m", "?", matched one key at a time.

export interface KeyPress {
  key: string;
  ctrl: boolean;
  alt: boolean;
}

/** "ctrl+k"; shift is part of the key itself ("?" or "J"). */
export function key_name(press: KeyPress): string {
  const key = press.key.length === 1 && press.ctrl ? press.key.toLowerCase() : press.key;
  return `${press.ctrl ? "ctrl+" : ""}${press.alt ? "alt+" : ""}${key}`;
}

/** The chord that is complete with this press, or the prefix to remember for the next one. */
export function follow_chord(prefix: string, name: string, chords: string[]): { hit: string | null; prefix: string } {
  const whole = prefix === "" ? name : `${prefix} ${name}`;
  if (chords.includes(whole)) return { hit: whole, prefix: "" };
  if (chords.some((chord) => chord.startsWith(`${whole} `))) return { hit: null, prefix: whole };
  return prefix === "" ? { hit: null, prefix: "" } : follow_chord("", name, chords);
}

/** The labels of a chord, one entry per key. */
export function chord_caps(chord: string): string[] {
  const names: Record<string, string> = {
    ctrl: "Ctrl",
    alt: "Alt",
    Escape: "Esc",
    Enter: "Enter",
    ArrowUp: "↑",
    ArrowDown: "↓",
  };
  return chord.split(/[ +]/).map((cap) => names[cap] ?? (cap.length === 1 ? cap.toUpperCase() : cap));
}
