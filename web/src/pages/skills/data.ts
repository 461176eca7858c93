// Shared by pages about skills: API routes, loading. Secrets are only written, never read.

import { api, segment } from "../../api";
import type { Host, Skill } from "../../api_types";
import { reload } from "../../load";
import { space } from "../../login";

export const env_warning =
  "Workers can read this secret. Everything they run, including a prompt injection, can send it to any host that their network access allows.";

export function skill_route(id: string): string {
  return `/v1/skills/${segment(id)}`;
}

export function list_skills(signal: AbortSignal): Promise<Skill[]> {
  return api.list<Skill>("/v1/skills", { space: space.value?.id }, signal);
}

/** Reloads everything that shows skills. */
export async function skills_changed(): Promise<void> {
  await reload("skill");
}

export function host_text(host: Host): string {
  const port = host.port === (host.tls ? 443 : 80) ? "" : `:${host.port}`;
  return `${host.tls ? "" : "http://"}${host.host}${port}${host.path_prefix === "/" ? "" : host.path_prefix}`;
}
