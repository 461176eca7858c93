// Tags that only members with space_update set, move and remove.

import { useState } from "preact/hooks";
import { api, segment } from "../../api";
import type { ProtectedPromptTag } from "../../api_types";
import { reload, use_load } from "../../load";
import { can, space } from "../../login";
import { use_action } from "../../parts/action";
import { Dialog } from "../../parts/dialog";
import { Field, Form } from "../../parts/form";
import { Icon } from "../../parts/icon";
import { Time } from "../../parts/time";
import { toast_done } from "../../parts/toast";

const route = "/v1/protected_prompt_tags";

export const use_protected_tags = () =>
  use_load(`prompt_protected/${space.value?.id}`, (signal) =>
    api.get<ProtectedPromptTag[]>(route, { space: space.value?.id }, signal),
  );

function ProtectedDialog({ tags, on_close }: { tags: ProtectedPromptTag[]; on_close: () => void }) {
  const [name, set_name] = useState("");
  const { busy, attempt } = use_action();
  return (
    <Dialog title="Protected tags" on_close={on_close}>
      <p class="soft">
        Only admins and owners of the space set, move and remove these tags, in all prompts. A prompt with one of them
        is deleted only by them.
      </p>
      {tags.length > 0 && (
        <ul class="plain-list" aria-label="Protected tags">
          {tags.map((tag) => (
            <li key={tag.name}>
              <span class="chip">
                <Icon name="lock" /> {tag.name}
              </span>{" "}
              <span class="soft">
                {tag.created_by} · <Time time={tag.created_at} />
              </span>{" "}
              {can("space_update") && (
                <button
                  type="button"
                  class="quiet icon-only"
                  aria-label={`End the protection of ${tag.name}`}
                  disabled={busy}
                  onClick={attempt("Could not end the protection", async () => {
                    await api.delete(`${route}/${segment(tag.name)}`, { space: space.value?.id });
                    await reload("prompt_protected/");
                  })}
                >
                  <Icon name="close" />
                </button>
              )}
            </li>
          ))}
        </ul>
      )}
      {can("space_update") && (
        <Form
          title="Protect tag"
          disabled={name.trim() === ""}
          on_cancel={on_close}
          submit={async () => {
            await api.post(route, { name: name.trim() }, { space: space.value?.id });
            await reload("prompt_protected/");
            toast_done(`${name.trim()} is protected`);
            set_name("");
          }}
        >
          <Field label="Tag" placeholder="production" value={name} on_input={set_name} required first />
        </Form>
      )}
    </Dialog>
  );
}

export function ProtectedTagsButton() {
  const load = use_protected_tags();
  const [open, set_open] = useState(false);
  const tags = load.data ?? [];
  if (tags.length === 0 && !can("space_update")) return null;
  return (
    <>
      <button type="button" onClick={() => set_open(true)}>
        <Icon name="lock" /> Protect tags…
      </button>
      {open && <ProtectedDialog tags={tags} on_close={() => set_open(false)} />}
    </>
  );
}
