// Skills as the API gives them, and where they are loaded from. Secrets only ever go the other way.

import { api, segment } from "../../api";
import type { Host, Skill } from "../../api_types";
import { reload } from "../../load";
import { space } from "../../session";

export const env_warning =
  "Workers can read this secret. Anything they run, a prompt injection included, can send it wherever the network lets them.";

export function skill_route(id: string): string {
  return `/v1/skills/${segment(id)}`;
}

export function list_skills(signal: AbortSignal): Promise<Skill[]> {
  return api.list<Skill>("/v1/skills", { space: space.value?.id }, signal);
}

/** Everything that shows skills is read again. */
export async function skills_changed(): Promise<void> {
  await reload("skill");
}

export function host_text(host: Host): string {
  const port = host.port === (host.tls ? 443 : 80) ? "" : `:${host.port}`;
  return `${host.tls ? "" : "http://"}${host.host}${port}${host.path_prefix === "/" ? "" : host.path_prefix}`;
}
