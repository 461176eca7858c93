// Start a backfill: how far back, how many at most, and what it would cost, before it begins.

import { useState } from "preact/hooks";
import { api, to_api_error } from "../../api";
import type { BackfillEstimate, EvalTask, NewBackfill } from "../../api_types";
import { exact_count, money, plural } from "../../lib/format/number";
import { reload } from "../../load";
import { Dialog } from "../../parts/dialog";
import { Choice, Field, Form } from "../../parts/form";
import { Icon } from "../../parts/icon";
import { Note } from "../../parts/state";
import { toast_done } from "../../parts/toast";
import { target_words, task_route } from "./data";

const hour_ms = 3_600_000;

export function BackfillDialog({ task, on_close }: { task: EvalTask; on_close: () => void }) {
  const [hours, set_hours] = useState("24");
  const [most, set_most] = useState("1000");
  const [estimate, set_estimate] = useState<BackfillEstimate | null>(null);
  const [why, set_why] = useState("");
  const body = (): NewBackfill => ({
    from: new Date(Date.now() - Number(hours) * hour_ms).toISOString(),
    most_targets: Number(most),
  });
  async function count(): Promise<void> {
    try {
      set_estimate(await api.post<BackfillEstimate>(task_route(task.id, "estimate"), body()));
      set_why("");
    } catch (error) {
      set_why(to_api_error(error).message);
    }
  }
  return (
    <Dialog title="Evaluate past targets" on_close={on_close}>
      <Form
        title="Start backfill"
        disabled={estimate === null}
        on_cancel={on_close}
        submit={async () => {
          await api.post(task_route(task.id, "backfills"), body());
          await reload("eval_task");
          toast_done("Backfill started");
          on_close();
        }}
      >
        <Choice
          label="Targets of the last"
          value={hours}
          on_change={(value) => {
            set_hours(value);
            set_estimate(null);
          }}
          options={[
            { value: "1", title: "hour" },
            { value: "24", title: "day" },
            { value: "168", title: "7 days" },
            { value: "720", title: "30 days" },
          ]}
        />
        <Field
          label="At most"
          type="number"
          min={1}
          value={most}
          on_input={(value) => {
            set_most(value);
            set_estimate(null);
          }}
          hint="The newest come first. The limits of the task apply."
        />
        <p aria-live="polite">
          <button type="button" onClick={() => void count()}>
            <Icon name="search" /> Estimate
          </button>{" "}
          {estimate && (
            <span>
              {exact_count(estimate.received)} {target_words[task.target]}, {exact_count(estimate.matched)} match,{" "}
              {exact_count(estimate.targets)} would be evaluated
              {estimate.tokens === null || estimate.tokens === undefined
                ? ". The cost is not known before the first verdict."
                : `: about ${plural(estimate.tokens, "token")}, ${money(estimate.cost_micro_usd ?? 0)}.`}
            </span>
          )}
        </p>
        {why !== "" && (
          <Note kind="warning" icon="warning">
            {why}
          </Note>
        )}
      </Form>
    </Dialog>
  );
}
