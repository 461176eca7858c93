// Imports a file of examples: dropped or chosen, with progress, and a result in words.

import { useRef, useState } from "preact/hooks";
import type { UploadedView } from "../../api_types";
import { byte_size, plural } from "../../lib/format/number";
import { space } from "../../login";
import { Dialog } from "../../parts/dialog";
import { Choice, Field, Form } from "../../parts/form";
import { Icon } from "../../parts/icon";
import { toast_done } from "../../parts/toast";
import { navigate } from "../../router";
import { dataset_page } from "../addresses";
import { datasets_changed, plain_id } from "./data";
import { format_of, type Sending, send_file } from "./upload";

type Action = "append" | "update" | "create";

/** "12 examples added, 3 changed; 1 credential removed" */
export function upload_text(done: UploadedView): string {
  const parts = [
    done.num_created_examples > 0 && `${plural(done.num_created_examples, "example")} added`,
    done.num_updated_examples > 0 && `${done.num_updated_examples} changed`,
    done.num_deleted_examples > 0 && `${done.num_deleted_examples} removed`,
  ].filter((part) => part !== false);
  const text = parts.length === 0 ? "Nothing changed: all examples were there" : parts.join(", ");
  return done.num_redacted_texts > 0
    ? `${text}; ${plural(done.num_redacted_texts, "credential")} removed from texts`
    : text;
}

function DropZone({ file, on_file }: { file: File | null; on_file: (file: File) => void }) {
  const input = useRef<HTMLInputElement>(null);
  const [over, set_over] = useState(false);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: dropping is a shortcut for the button inside
    <div
      class={over ? "drop-zone over" : "drop-zone"}
      onDragOver={(event) => {
        event.preventDefault();
        set_over(true);
      }}
      onDragLeave={() => set_over(false)}
      onDrop={(event) => {
        event.preventDefault();
        set_over(false);
        const dropped = event.dataTransfer?.files[0];
        if (dropped) on_file(dropped);
      }}
    >
      <Icon name="download" />
      <p>
        {file ? (
          <>
            <b>{file.name}</b> <span class="faint">{byte_size(file.size)}</span>
          </>
        ) : (
          "Drop a CSV or JSON lines file here, plain or gzip"
        )}
      </p>
      <button type="button" onClick={() => input.current?.click()}>
        {file ? "Choose another file…" : "Choose a file…"}
      </button>
      <input
        ref={input}
        type="file"
        class="off-screen"
        aria-label="File of examples"
        tabIndex={-1}
        accept=".csv,.jsonl,.ndjson,.gz"
        onChange={(event) => {
          const chosen = event.currentTarget.files?.[0];
          if (chosen) on_file(chosen);
        }}
      />
    </div>
  );
}

interface ImportProps {
  /** Null: a new dataset, or one by its name. */
  dataset: string | null;
  on_close: () => void;
}

export function ImportDialog({ dataset, on_close }: ImportProps) {
  const [name, set_name] = useState(dataset ?? "");
  const [action, set_action] = useState<Action>("append");
  const [file, set_file] = useState<File | null>(null);
  const [share, set_share] = useState<number | null>(null);
  const sending = useRef<Sending | null>(null);
  const format = file && format_of(file.name);
  async function submit(): Promise<void> {
    if (!file || !format) return;
    set_share(0);
    try {
      const started = send_file(
        "/v1/datasets/import",
        { space: space.value?.id, name: name.trim(), action, format },
        file,
        set_share,
      );
      sending.current = started;
      const done = (await started.done) as UploadedView;
      await datasets_changed();
      toast_done(upload_text(done));
      on_close();
      navigate(dataset_page(plain_id(done.dataset_id)));
    } finally {
      sending.current = null;
      set_share(null);
    }
  }
  return (
    <Dialog title={dataset ? `Import into ${dataset}` : "Import examples"} on_close={on_close}>
      <Form
        title="Import"
        busy_title={share !== null && share < 1 ? `Sending ${Math.round(share * 100)} %` : "Storing…"}
        disabled={name.trim() === "" || !format}
        on_cancel={() => (sending.current ? sending.current.cancel() : on_close())}
        submit={submit}
      >
        {dataset === null && (
          <Field
            label="Dataset"
            placeholder="shop-tickets"
            hint="It is created when there is none with this name."
            value={name}
            on_input={set_name}
            required
            first
          />
        )}
        <DropZone
          file={file}
          on_file={(chosen) => {
            set_file(chosen);
            if (name === "") set_name(chosen.name.replace(/\.(csv|jsonl|ndjson)(\.gz)?$/i, ""));
          }}
        />
        {file && !format && (
          <p class="field-error">The name must end with .csv, .jsonl or .ndjson, or with .gz after it.</p>
        )}
        <Choice
          label="Existing examples"
          value={action}
          on_change={(value) => set_action(value as Action)}
          options={[
            { value: "append", title: "are kept; equal ids are changed" },
            { value: "update", title: "that are not in the file are removed" },
            { value: "create", title: "must not exist (a new dataset)" },
          ]}
          hint="Columns input, output, metadata, id and split are recognised, also input.NAME. Old versions stay."
        />
        {share !== null && <progress class="progress" aria-label="Import" value={share} max={1} />}
      </Form>
    </Dialog>
  );
}
