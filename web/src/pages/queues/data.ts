// Shared by the pages of queues: routes, words, what a person has chosen so far.

import { api, segment } from "../../api";
import type { Queue } from "../../api_types";
import { reload } from "../../load";
import { space } from "../../login";

export const queue_route = (queue: string, part = "") =>
  `/v1/annotation_queues/${segment(queue)}${part === "" ? "" : `/${part}`}`;

export function list_queues(signal: AbortSignal): Promise<Queue[]> {
  return api.list<Queue>("/v1/annotation_queues", { space: space.value?.id }, signal);
}

export async function queues_changed(): Promise<void> {
  await Promise.all(["queues/", "queue/", "queue_items/", "queue_agreement/", "evals/"].map(reload));
}

export const done_share = (queue: Queue) => {
  const all = queue.pending + queue.done + queue.skipped;
  return all === 0 ? 0 : (queue.done + queue.skipped) / all;
};
