// Shared by pages about presets: loading, and the choices of what spans of model calls contain.

import { api } from "../../api";
import type { Preset } from "../../api_types";
import { type Loaded, use_load } from "../../load";
import { can, space } from "../../login";

export function use_presets(): Loaded<Preset[]> {
  return use_load(can("preset_read") ? `presets/${space.value?.id}` : null, (signal) =>
    api.list<Preset>("/v1/presets", { space: space.value?.id }, signal),
  );
}

/** What the spans of model calls contain. */
export const capture_options = [
  { value: "full", title: "Everything: messages, tools and responses" },
  { value: "metadata", title: "Metadata only: model, tokens, cost, times" },
  { value: "none", title: "Nothing: no spans for model calls" },
];
