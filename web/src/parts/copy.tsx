// Copying: a button that shows success, ids that are short on screen and whole in the clipboard, and code blocks.

import { useEffect, useState } from "preact/hooks";
import { short_id } from "../lib/format/text";
import { Icon, type IconName } from "./icon";

/** The clipboard API exists only on https and localhost; elsewhere execCommand works. */
export async function copy_text(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = document.createElement("textarea");
    area.value = text;
    area.className = "off-screen";
    const host = document.querySelector("dialog[open]") ?? document.body;
    host.append(area);
    area.select();
    const copied = document.execCommand("copy");
    area.remove();
    return copied;
  }
}

function use_copied(): [boolean, (text: string) => void] {
  const [copied, set_copied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => set_copied(false), 1500);
    return () => clearTimeout(timer);
  }, [copied]);
  return [copied, (text) => void copy_text(text).then(set_copied)];
}

interface CopyButtonProps {
  text: string;
  label?: string;
  small?: boolean;
  icon?: IconName;
}

export function CopyButton({ text, label = "Copy", small = false, icon = "copy" }: CopyButtonProps) {
  const [copied, copy] = use_copied();
  return (
    <button
      type="button"
      class={`quiet copy ${small ? "icon-only" : ""}`}
      aria-label={copied ? "Copied" : label}
      title={copied ? "Copied" : label}
      onClick={(event) => {
        event.stopPropagation();
        copy(text);
      }}
    >
      <Icon name={copied ? "check" : icon} />
      {!small && <span>{copied ? "Copied" : "Copy"}</span>}
    </button>
  );
}

/** A shortened id; clicking copies all of it. */
export function Id({ id }: { id: string }) {
  const [copied, copy] = use_copied();
  if (id === "") return <span class="faint">–</span>;
  return (
    <button
      type="button"
      class="id"
      title={copied ? "Copied" : `${id} (click to copy)`}
      onClick={(event) => {
        event.stopPropagation();
        copy(id);
      }}
    >
      {copied ? "copied" : short_id(id)}
    </button>
  );
}

/** Commands or JSON, with one copy button. */
export function CodeBlock({ text, label }: { text: string; label: string }) {
  return (
    <div class="code-block">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling block must be reachable by keyboard */}
      <pre tabIndex={0} role="group" aria-label={label}>
        <code>{text}</code>
      </pre>
      <CopyButton text={text} label={`Copy ${label}`} small />
    </div>
  );
}
