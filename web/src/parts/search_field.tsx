// A plain text filter over rows that are already here; its text is in the address as `q`.

import { useRef } from "preact/hooks";
import { use_keys } from "../keyboard";
import { query, set_query } from "../router";
import { Icon } from "./icon";

export function SearchField({ label }: { label: string }) {
  const input = useRef<HTMLInputElement>(null);
  use_keys([{ keys: "/", title: "Filter the list", group: "List", run: () => input.current?.focus() }]);
  return (
    <div class="filter-bar small">
      <Icon name="search" />
      <input
        ref={input}
        type="search"
        aria-label={label}
        placeholder={label}
        autocomplete="off"
        spellcheck={false}
        value={query.value.get("q") ?? ""}
        onInput={(event) => set_query({ q: event.currentTarget.value || null }, { replace: true })}
        onKeyDown={(event) => {
          if (event.key === "Escape" || event.key === "Enter") event.currentTarget.blur();
        }}
      />
    </div>
  );
}
