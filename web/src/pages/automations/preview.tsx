// A preview of a trigger before it is saved: the next ten firings, or the firings in the last seven days.

import { useEffect, useMemo, useState } from "preact/hooks";
import { type ApiError, api, to_api_error } from "../../api";
import type { Trigger, TriggerPreview } from "../../api_types";
import { local_time, to_milliseconds, zone_name } from "../../lib/format/time";
import { capital, metric_info } from "../../lib/sentences/metric";
import { would_have } from "../../lib/sentences/trigger";
import { space } from "../../login";
import { Chart } from "../../parts/chart";
import { ErrorNote, Skeleton } from "../../parts/state";
import { Strip } from "../../parts/strip";
import { Time } from "../../parts/time";
import { outcome_kinds, reason_text } from "./data";

/** The preview is requested when the draft has not changed for this time. */
const patience = 350;

interface PreviewState<T> {
  data: T | null;
  error: ApiError | null;
}

/** Posts a draft when it stops changing; the last response stays while the next loads. */
export function use_preview<T>(path: string, body: unknown, ready: boolean): PreviewState<T> {
  const [preview, set_preview] = useState<PreviewState<T>>({ data: null, error: null });
  const text = JSON.stringify(body);
  useEffect(() => {
    if (!ready) return;
    let gone = false;
    const timer = setTimeout(() => {
      api.post<T>(path, JSON.parse(text), { space: space.value?.id }).then(
        (data) => !gone && set_preview({ data, error: null }),
        (error) => !gone && set_preview((known) => ({ data: known.data, error: to_api_error(error) })),
      );
    }, patience);
    return () => {
      gone = true;
      clearTimeout(timer);
    };
  }, [path, text, ready]);
  return preview;
}

export function Firings({ times }: { times: string[] }) {
  if (times.length === 0) return <p class="faint">It never fires.</p>;
  return (
    <ol class="firings">
      {times.map((time) => (
        <li key={time}>
          <span class="mono">{local_time(time)}</span> <span class="faint">{zone_name(time)}</span>
          <Time time={time} />
        </li>
      ))}
    </ol>
  );
}

const has_spans = (preview: TriggerPreview) => preview.points.some((point) => point.samples > 0);

/** The watched metric with the trigger's threshold. */
export function TriggerChart({ trigger, preview }: { trigger: Trigger; preview: TriggerPreview }) {
  const { text, title } = metric_info(trigger.metric ?? "");
  const chart = useMemo(() => {
    const times = preview.points.map((point) => to_milliseconds(point.time));
    return {
      times,
      lines: [
        { title: "threshold", colour: "--failed", dashed: true, values: times.map(() => preview.threshold) },
        { title, colour: "--running", values: preview.points.map((point) => point.value) },
      ],
    };
  }, [preview, title]);
  if (!has_spans(preview)) return <p class="faint">No spans in the last seven days.</p>;
  return <Chart title={capital(title)} {...chart} text={text} height={150} />;
}

function Past({ trigger, preview }: { trigger: Trigger; preview: TriggerPreview }) {
  const first = preview.points[0]?.time;
  const last = preview.points[preview.points.length - 1]?.time;
  if (first === undefined || last === undefined || !has_spans(preview))
    return <p class="faint">No spans in the last seven days.</p>;
  const marks = preview.past.map((slot) => ({
    time: to_milliseconds(slot.due_at),
    kind: slot.outcome,
    why: reason_text({ reason: slot.reason, note: "" }),
  }));
  const fired = marks.filter((mark) => mark.kind === "fired").length;
  return (
    <>
      <p>
        In the last seven days it would <b>{would_have("fired", fired)}</b>.
      </p>
      <TriggerChart trigger={trigger} preview={preview} />
      <Strip
        label="Would have"
        marks={marks}
        kinds={outcome_kinds}
        from={to_milliseconds(first)}
        to={to_milliseconds(last)}
        under_chart
      />
    </>
  );
}

interface PreviewProps {
  project: string;
  trigger: Trigger;
  cool_off_seconds: number;
  ready: boolean;
}

export function TriggerPreviewBox({ project, trigger, cool_off_seconds, ready }: PreviewProps) {
  const body = { project, trigger, cool_off_seconds };
  const preview = use_preview<TriggerPreview>("/v1/automation_preview", body, ready);
  const shown = trigger.type === "cron" || trigger.type === "metric";
  if (!shown) return null;
  return (
    <section class="preview" aria-label="Preview" aria-live="polite">
      <h2>{trigger.type === "cron" ? "Next firings" : "On past data"}</h2>
      {ready && preview.error && <ErrorNote error={preview.error} />}
      {!ready && <p class="faint">Set a trigger to see a preview.</p>}
      {ready && !preview.data && !preview.error && <Skeleton rows={4} />}
      {ready && preview.data && !preview.error && trigger.type === "cron" && <Firings times={preview.data.next} />}
      {ready && preview.data && trigger.type === "metric" && <Past trigger={trigger} preview={preview.data} />}
    </section>
  );
}
