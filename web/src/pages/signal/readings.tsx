// Readings of Signal: what workers with a model found in sampled traces, and its cost.

import { api } from "../../api";
import type { Project, ReadingStarted, SignalView } from "../../api_types";
import { money, plural, short_count } from "../../lib/format/number";
import { can } from "../../login";
import { use_action } from "../../parts/action";
import { Icon } from "../../parts/icon";
import { Time } from "../../parts/time";
import { toast_done } from "../../parts/toast";
import { navigate } from "../../router";
import { run_page } from "../addresses";
import { project_route } from "../projects/data";
import { issues_changed } from "./data";

export function Readings({ project, view }: { project: Project; view: SignalView }) {
  const { busy, attempt } = use_action();
  const totals = view.readings;
  const is_on = view.settings.sampled_traces > 0;
  if (!totals && !is_on) return null;
  const start = attempt("Could not start the reading", async () => {
    const started = await api.post<ReadingStarted>(project_route(project, "signal/read"), {});
    await issues_changed();
    toast_done(`A worker reads ${plural(started.traces, "trace")}`, {
      title: "Open run",
      run: () => navigate(run_page(started.run_id)),
    });
  });
  return (
    <section class="readings" aria-label="Readings">
      <h3>Readings</h3>
      {totals ? (
        <p>
          Workers with a model read {plural(totals.traces, "trace")} in 30 days, last <Time time={totals.last_at} />:{" "}
          {plural(totals.findings, "finding")}, {totals.confirmed} confirmed and {totals.rejected} rejected of what
          statistics found. <b>1,000 traces cost {money(totals.cost_micro_usd_per_1000_traces)}</b> (
          {short_count(totals.tokens_per_1000_traces)} tokens).
        </p>
      ) : (
        <p>No reading yet. After a scan a worker reads {plural(view.settings.sampled_traces, "sampled trace")}.</p>
      )}
      {is_on && can("run_start") && (
        <button type="button" disabled={busy} onClick={start}>
          <Icon name="search" /> Read traces now
        </button>
      )}
    </section>
  );
}
