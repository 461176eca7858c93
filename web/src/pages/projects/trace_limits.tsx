// Limits of a project: spans per day (more are rejected) and disk space (the oldest spans are deleted).

import { useState } from "preact/hooks";
import { api } from "../../api";
import type { Project, ProjectTraceSettings, ProjectTraceSettingsView } from "../../api_types";
import { byte_size, exact_count } from "../../lib/format/number";
import { parse_size } from "../../lib/format/size";
import { reload, use_load } from "../../load";
import { can } from "../../login";
import { Field, Form } from "../../parts/form";
import { Section } from "../../parts/page";
import { Data } from "../../parts/state";
import { toast_done } from "../../parts/toast";
import { project_route } from "./data";

const size_text = (bytes: number | null | undefined) => (bytes == null ? "" : byte_size(bytes));

function LimitForm({ project, view }: { project: Project; view: ProjectTraceSettingsView }) {
  const { settings, used_today } = view;
  const [spans, set_spans] = useState(settings.spans_per_day == null ? "" : String(settings.spans_per_day));
  const [daily, set_daily] = useState(size_text(settings.bytes_per_day));
  const [kept, set_kept] = useState(size_text(settings.retention_bytes));
  const [log_days, set_log_days] = useState(
    settings.log_retention_days == null ? "" : String(settings.log_retention_days),
  );
  const may_edit = can("project_update");
  const wanted_spans = spans.trim() === "" ? null : Number(spans);
  const wanted_daily = parse_size(daily);
  const wanted_kept = parse_size(kept);
  const wanted_log_days = log_days.trim() === "" ? null : Number(log_days);
  const wrong = wanted_daily === undefined || wanted_kept === undefined || Number.isNaN(wanted_log_days);
  async function save(): Promise<void> {
    const changed: ProjectTraceSettings = {
      ...settings,
      spans_per_day: wanted_spans,
      bytes_per_day: wanted_daily ?? null,
      retention_bytes: wanted_kept ?? null,
      log_retention_days: wanted_log_days,
    };
    await api.put(project_route(project, "trace_settings"), changed);
    toast_done("Limits saved");
    await reload(`trace_settings/${project.id}`);
  }
  const used = `${exact_count(used_today.spans)} spans and ${byte_size(used_today.bytes)} today`;
  return (
    <Form title="Save limits" disabled={!may_edit || wrong || Number.isNaN(wanted_spans)} submit={save}>
      <Field
        label="Spans per day"
        type="number"
        min={1}
        value={spans}
        on_input={set_spans}
        disabled={!may_edit}
        placeholder="no limit"
        hint={settings.spans_per_day == null && settings.bytes_per_day == null ? undefined : used}
      />
      <Field
        label="Size of spans per day"
        value={daily}
        on_input={set_daily}
        disabled={!may_edit}
        placeholder="no limit"
        hint={wanted_daily === undefined ? "A size such as 500 MiB or 2 GiB" : undefined}
      />
      <Field
        label="Disk space for spans"
        value={kept}
        on_input={set_kept}
        disabled={!may_edit}
        placeholder="no limit"
        hint={
          wanted_kept === undefined
            ? "A size such as 500 MiB or 2 GiB"
            : "Above the limit the oldest spans are deleted, except those of traces with evals."
        }
      />
      <Field
        label="Days to keep log records"
        type="number"
        min={0}
        value={log_days}
        on_input={set_log_days}
        disabled={!may_edit}
        placeholder="7"
        hint="0: log records that belong to no span are not stored."
      />
    </Form>
  );
}

export function TraceLimits({ project }: { project: Project }) {
  const key = `trace_settings/${project.id}`;
  const load = use_load(key, (signal) =>
    api.get<ProjectTraceSettingsView>(project_route(project, "trace_settings"), {}, signal),
  );
  return (
    <Section
      title="Limits"
      text="Spans above a daily limit are rejected until midnight UTC, with an error that names the limit."
    >
      <Data load={load} retry={() => void reload(key)}>
        {(view) => <LimitForm key={JSON.stringify(view.settings)} project={project} view={view} />}
      </Data>
    </Section>
  );
}
