// Files for a session: dropped or chosen, uploaded immediately, listed with their path in the workspace.

import { useRef, useState } from "preact/hooks";
import type { Upload } from "../../api_types";
import { byte_size } from "../../lib/format/number";
import { space } from "../../login";
import { Icon } from "../../parts/icon";
import { toast_failed } from "../../parts/toast";
import { send_file } from "../datasets/upload";

interface FileDropProps {
  /** Uploaded and not given to a run yet. */
  files: Upload[];
  on_change: (files: Upload[]) => void;
  disabled?: boolean;
}

/** A name that the server accepts: one part, without control characters. */
const path_of = (file: File): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is replaced
  file.name.replace(/[\u0000-\u001f\u007f/\\]/g, "_").replace(/^\.+$/, "_");

export function FileDrop({ files, on_change, disabled }: FileDropProps) {
  const [over, set_over] = useState(false);
  const [sending, set_sending] = useState<{ name: string; share: number } | null>(null);
  const input = useRef<HTMLInputElement>(null);
  async function add(chosen: FileList | undefined | null): Promise<void> {
    const known = [...files];
    for (const file of chosen ?? []) {
      set_sending({ name: file.name, share: 0 });
      const query = { space: space.value?.id, path: path_of(file) };
      const transfer = send_file("/v1/uploads", query, file, (share) => set_sending({ name: file.name, share }), false);
      try {
        known.push((await transfer.done) as Upload);
        on_change([...known]);
      } catch (error) {
        toast_failed(`Could not upload ${file.name}`, error);
      }
    }
    set_sending(null);
    if (input.current) input.current.value = "";
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: dropping is a shortcut for the button inside
    <div
      class={over ? "file-drop over" : "file-drop"}
      onDragOver={(event) => {
        event.preventDefault();
        set_over(true);
      }}
      onDragLeave={() => set_over(false)}
      onDrop={(event) => {
        event.preventDefault();
        set_over(false);
        if (!disabled) void add(event.dataTransfer?.files);
      }}
    >
      <input
        ref={input}
        class="off-screen"
        type="file"
        multiple
        tabIndex={-1}
        aria-label="Files for the session"
        onChange={(event) => void add(event.currentTarget.files)}
      />
      <button type="button" disabled={disabled || sending !== null} onClick={() => input.current?.click()}>
        <Icon name="plus" /> Add files
      </button>
      <span class="soft" role="status">
        {sending ? `Uploading ${sending.name}: ${Math.round(sending.share * 100)} %` : "or drop them here"}
      </span>
      {files.length > 0 && (
        <ul>
          {files.map((file) => (
            <li key={file.id}>
              <code>/workspace/{file.path}</code> <span class="faint">{byte_size(file.bytes)}</span>
              <button
                type="button"
                class="quiet icon-only"
                onClick={() => on_change(files.filter((other) => other.id !== file.id))}
              >
                <Icon name="close" />
                <span class="off-screen">Remove {file.path}</span>
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
