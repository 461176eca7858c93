// What an item is about, beside the form: input and output, and a link to the whole trace. Never its evals.

import { api, segment } from "../../api";
import type { Queue, QueueItem, SpanPayload, TraceSkeleton } from "../../api_types";
import { reload, use_load } from "../../load";
import { Content } from "../../parts/content";
import { Data } from "../../parts/state";
import { trace_page } from "../addresses";
import { project_route } from "../projects/data";

function Text({ title, text }: { title: string; text: string }) {
  return (
    <section class="payload" aria-label={title}>
      <div class="payload-head">
        <h2>{title}</h2>
      </div>
      {text === "" ? <p class="faint">Not recorded.</p> : <Content text={text} />}
    </section>
  );
}

async function payload_of(queue: Queue, item: QueueItem, signal: AbortSignal): Promise<SpanPayload> {
  const project = { id: queue.project_id };
  let span = item.target === "span" ? item.target_id : "";
  if (span === "") {
    const skeleton = await api.get<TraceSkeleton>(
      project_route(project, `traces/${segment(item.trace_id)}/skeleton`),
      {},
      signal,
    );
    const ids = new Set(skeleton.spans.map((one) => one.span_id));
    span = (skeleton.spans.find((one) => !ids.has(one.parent_id)) ?? skeleton.spans[0])?.span_id ?? "";
  }
  return api.get<SpanPayload>(
    project_route(project, `traces/${segment(item.trace_id)}/spans/${segment(span)}`),
    {},
    signal,
  );
}

export function TargetContext({ queue, item }: { queue: Queue; item: QueueItem }) {
  const key = `queue_target/${item.id}`;
  const load = use_load(item.trace_id === "" ? null : key, (signal) => payload_of(queue, item, signal));
  if (item.trace_id === "")
    return (
      <p>
        Chat session <code>{item.target_id}</code>
      </p>
    );
  return (
    <>
      <p class="queue-target">
        <a href={trace_page(queue.project_id, item.trace_id)} target="_blank" rel="noopener">
          Open the trace
        </a>{" "}
        <code class="faint">{item.trace_id.slice(0, 12)}</code>
      </p>
      <Data load={load} retry={() => void reload(key)}>
        {(payload) => (
          <>
            <Text title="Input" text={payload.input} />
            <Text title="Output" text={payload.output} />
          </>
        )}
      </Data>
    </>
  );
}
