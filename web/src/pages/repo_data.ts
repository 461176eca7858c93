// Repositories as the API gives them, and where they are shown.

import { api, segment } from "../api";
import { reload } from "../load";
import type { Tone } from "../parts/state";
import { space } from "../session";

export type MirrorState = "new" | "ready" | "failed";

export interface Repo {
  id: string;
  name: string;
  url: string;
  default_ref: string;
  skill_id: string | null;
  path_scope: string;
  allow_private: boolean;
  state: MirrorState;
  fetching: boolean;
  head_ref: string;
  refs: number;
  bytes: number;
  fetched_at: string | null;
  error: string;
  notes: string[];
  created_by: string;
  created_at: string;
}

export interface Ref {
  name: string;
  commit: string;
}

export interface PushedBranch {
  id: string;
  run_id: string;
  repo_id: string;
  branch: string;
  base_commit: string;
  head_commit: string;
  pushes: number;
  created_at: string;
  pushed_at: string;
}

export const repo_address = (id: string) => `/v1/repos/${segment(id)}`;

export function list_repos(signal: AbortSignal): Promise<Repo[]> {
  return api.list<Repo>("/v1/repos", { space: space.value?.id }, signal);
}

export async function repos_changed(): Promise<void> {
  await reload("repo");
}

export function mirror_state(repo: Repo): { tone: Tone; text: string } {
  if (repo.fetching) return { tone: "running", text: "being fetched" };
  if (repo.state === "ready") return { tone: "done", text: "ready" };
  if (repo.state === "failed") return { tone: "failed", text: "fetch failed" };
  return { tone: "off", text: "not fetched yet" };
}
