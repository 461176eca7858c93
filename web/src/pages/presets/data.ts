// Shared by pages about presets: loading, what providers lack, and the choices of what spans of model calls contain.

import { api } from "../../api";
import type { Preset, ProviderView } from "../../api_types";
import { type Loaded, use_load } from "../../load";
import { can, space } from "../../login";

export function use_presets(): Loaded<Preset[]> {
  return use_load(can("preset_read") ? `presets/${space.value?.id}` : null, (signal) =>
    api.list<Preset>("/v1/presets", { space: space.value?.id }, signal),
  );
}

export async function list_providers(signal: AbortSignal): Promise<ProviderView[]> {
  return can("space_read") ? api.get<ProviderView[]>("/v1/providers", { space: space.value?.id }, signal) : [];
}

export function use_providers(): ProviderView[] {
  return use_load(`providers/${space.value?.id}`, list_providers).data ?? [];
}

/** Why a provider does not have a setting or a capability; undefined: it has it. */
export function lack_of(provider: ProviderView | undefined, name: string): string | undefined {
  const lack = provider?.lacks.find((entry) => entry.name === name);
  return lack && `${provider?.title}: ${lack.reason}.`;
}

export function provider_title(provider: ProviderView): string {
  if (!provider.available) return `${provider.title} (not available)`;
  return provider.allowed ? provider.title : `${provider.title} (not allowed in this space)`;
}

/** What the spans of model calls contain. */
export const capture_options = [
  { value: "full", title: "Everything: messages, tools and responses" },
  { value: "metadata", title: "Metadata only: model, tokens, cost, times" },
  { value: "none", title: "Nothing: no spans for model calls" },
];
