// Confirmation before something is deleted: names the object and the consequence; the most destructive actions
// require typing the name.

import { useState } from "preact/hooks";
import { Dialog } from "./dialog";
import { Field, Form } from "./form";

interface ConfirmProps {
  title: string;
  /** What is deleted, in one or two sentences. */
  consequence: string;
  action: string;
  /** When given, the person has to type exactly this. */
  typed_name?: string;
  run: () => Promise<void>;
  on_close: () => void;
}

export function Confirm({ title, consequence, action, typed_name, run, on_close }: ConfirmProps) {
  const [typed, set_typed] = useState("");
  return (
    <Dialog title={title} on_close={on_close}>
      <Form
        title={action}
        busy_title="Working…"
        dangerous
        disabled={typed_name !== undefined && typed !== typed_name}
        on_cancel={on_close}
        submit={async () => {
          await run();
          on_close();
        }}
      >
        <p>{consequence}</p>
        {typed_name !== undefined && (
          <Field label={`Type ${typed_name} to confirm`} value={typed} on_input={set_typed} first />
        )}
      </Form>
    </Dialog>
  );
}
