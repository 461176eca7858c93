// Shared by pages about repositories: API routes, loading, state of the mirror.

import { api, segment } from "../../api";
import type { Repo } from "../../api_types";
import { reload } from "../../load";
import { space } from "../../login";
import type { Tone } from "../../parts/state";

export const repo_route = (id: string) => `/v1/repos/${segment(id)}`;

export function list_repos(signal: AbortSignal): Promise<Repo[]> {
  return api.list<Repo>("/v1/repos", { space: space.value?.id }, signal);
}

export async function repos_changed(): Promise<void> {
  await reload("repo");
}

export function mirror_state(repo: Repo): { tone: Tone; text: string } {
  if (repo.fetching) return { tone: "running", text: "fetching" };
  if (repo.state === "ready") return { tone: "done", text: "ready" };
  if (repo.state === "failed") return { tone: "failed", text: "fetch failed" };
  return { tone: "off", text: "not fetched yet" };
}
