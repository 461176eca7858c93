// After "Request changes": the worker at work, or its reply if it ended its turn without a new revision. The review is
// the reviewer's again then; without this it would look as if the worker were still busy.

import { api, segment } from "../../api";
import type { ReviewView, Run, RunEvent } from "../../api_types";
import { use_load } from "../../load";
import { can } from "../../login";
import { Note } from "../../parts/state";
import { Visible } from "../../parts/visible";
import { run_page } from "../addresses";
import { is_over } from "../runs/data";

const last_events = 40;
const most_text = 600;

const is_idle = (run: Run) => run.state === "waiting" || is_over(run.state);

async function load_reply(id: string, signal: AbortSignal): Promise<{ run: Run; text: string }> {
  const run = await api.get<Run>(`/v1/runs/${segment(id)}`, {}, signal);
  if (!is_idle(run)) return { run, text: "" };
  const after = Math.max(0, run.last_event - last_events);
  const events = await api.page<RunEvent>(`/v1/runs/${segment(id)}/events`, { after, limit: last_events + 1 }, signal);
  const texts = events.rows.filter((event) => ["message", "result"].includes(event.kind) && event.text.trim() !== "");
  return { run, text: texts[texts.length - 1]?.text.trim().slice(0, most_text) ?? "" };
}

export function WorkerReply({ review }: { review: ReviewView }) {
  const { artifact, decisions, revisions } = review;
  const request = decisions.filter((one) => one.decision === "changes_requested" && one.withdrawn_at === null).pop();
  const newest = revisions[revisions.length - 1];
  const waits = artifact.review === "changes_requested" && request !== undefined && can("run_read");
  const load = use_load(waits ? `review/reply/${artifact.id}` : null, (signal) => load_reply(artifact.run_id, signal));
  if (!waits || !load.data || (newest && request && newest.pushed_at > request.created_at)) return null;
  const { run, text } = load.data;
  const transcript = <a href={run_page(run.id)}>Open the session</a>;
  if (!is_idle(run)) return <Note icon="rotate">A worker is at work on the requested changes. {transcript}</Note>;
  return (
    <Note kind="warning" icon="info">
      <p>
        The worker ended its turn without a new revision. Approve this one, request changes again, or reject it.{" "}
        {transcript}
      </p>
      {text !== "" && (
        <blockquote class="excerpt">
          <Visible text={text} />
        </blockquote>
      )}
    </Note>
  );
}
