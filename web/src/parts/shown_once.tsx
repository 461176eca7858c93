// A secret that is shown once. The dialog stays open until the user confirms that it was copied.

import type { ComponentChildren } from "preact";
import { CodeBlock } from "./copy";
import { Dialog } from "./dialog";
import { Note } from "./state";

interface ShownOnceProps {
  title: string;
  /** Why it must be copied now. */
  warning: string;
  secret: string;
  /** Where the secret is used; shown above it. */
  address?: string;
  /** A command that tries it. */
  command?: string;
  on_close: () => void;
}

function Named({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <>
      <p>{name}</p>
      {children}
    </>
  );
}

export function ShownOnce({ title, warning, secret, address, command, on_close }: ShownOnceProps) {
  const block = <CodeBlock text={secret} label="secret" />;
  return (
    <Dialog title={title} wide keep_open on_close={on_close}>
      <div class="form">
        <Note kind="warning" icon="key">
          {warning}
        </Note>
        {address ? (
          <>
            <Named name="Address">
              <CodeBlock text={address} label="address" />
            </Named>
            <Named name="Secret">{block}</Named>
          </>
        ) : (
          block
        )}
        {command && (
          <Named name="Try it:">
            <CodeBlock text={command} label="command" />
          </Named>
        )}
        <div class="form-actions">
          <button type="button" class="primary" onClick={on_close} data-first>
            Done
          </button>
        </div>
      </div>
    </Dialog>
  );
}
