// Events and states on a time line. The label and the list below contain the same as text; hover describes one
// column.

import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import { local_time } from "../lib/format/time";
import { type Mark, type Stretch, type StripColumn, spark_points, to_strip } from "../lib/view/strip";
import type { Tone } from "./state";

export interface MarkKind {
  kind: string;
  title: string;
  tone: Tone;
}

interface StripProps {
  label: string;
  marks: Mark[];
  kinds: MarkKind[];
  from: number;
  to: number;
  columns?: number;
  /** Leaves room on the left for the axis of a chart above. */
  under_chart?: boolean;
}

const clock = (time: number) => local_time(new Date(time).toISOString()).slice(5, 16);

function counts_text(counts: Record<string, number>, kinds: MarkKind[]): string {
  const parts = kinds.filter((one) => counts[one.kind]).map((one) => `${counts[one.kind]} ${one.title}`);
  return parts.length === 0 ? "nothing" : parts.join(", ");
}

function column_title(column: StripColumn, kinds: MarkKind[]): string {
  const why = column.reasons.length > 0 ? `\n${column.reasons.join(", ")}` : "";
  return `${clock(column.from)}: ${counts_text(column.counts, kinds)}${why}`;
}

function total_counts(marks: Mark[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const mark of marks) counts[mark.kind] = (counts[mark.kind] ?? 0) + 1;
  return counts;
}

function TimeAxis({ from, to }: { from: number; to: number }) {
  const days = (to - from) / 86_400_000;
  const marks = days >= 2 ? Math.min(7, Math.round(days)) : 6;
  const text = (time: number) => (days >= 2 ? clock(time).slice(0, 5) : clock(time).slice(6));
  return (
    <div class="strip-axis" aria-hidden="true">
      {Array.from({ length: marks }, (_, index) => (
        <span key={index}>{text(from + ((to - from) * index) / marks)}</span>
      ))}
    </div>
  );
}

export function Strip({ label, marks, kinds, from, to, columns = 168, under_chart = false }: StripProps) {
  const strip = useMemo(() => to_strip(marks, from, to, columns), [marks, from, to, columns]);
  const most = Math.max(1, ...strip.map((column) => column.total));
  const counts = total_counts(marks);
  return (
    <div class={`strip-box ${under_chart ? "under-chart" : ""}`}>
      <div class="strip" role="img" aria-label={`${label}: ${counts_text(counts, kinds)}`}>
        {strip.map((column) => (
          <span
            key={column.from}
            class="strip-column"
            title={column.total > 0 ? column_title(column, kinds) : undefined}
          >
            {kinds.map((one) => {
              const count = column.counts[one.kind];
              return count ? (
                <i key={one.kind} class={one.tone} style={{ height: `${Math.max(22, (100 * count) / most)}%` }} />
              ) : null;
            })}
          </span>
        ))}
      </div>
      {!under_chart && <TimeAxis from={from} to={to} />}
      <p class="strip-keys">
        {kinds
          .filter((one) => counts[one.kind])
          .map((one) => (
            <span key={one.kind}>
              <i class={one.tone} aria-hidden="true" /> {counts[one.kind]} {one.title}
            </span>
          ))}
      </p>
    </div>
  );
}

/** The last few events as ticks, newest right; for a row of a list. */
export function Ticks({ marks, kinds }: { marks: Mark[]; kinds: MarkKind[] }) {
  if (marks.length === 0) return <span class="faint">–</span>;
  const tone = (kind: string) => kinds.find((one) => one.kind === kind)?.tone ?? "off";
  return (
    <span class="ticks" role="img" aria-label={`Last ${marks.length}: ${counts_text(total_counts(marks), kinds)}`}>
      {[...marks]
        .sort((a, b) => a.time - b.time)
        .map((mark, index) => (
          <i
            key={`${mark.time}/${index}`}
            class={tone(mark.kind)}
            title={`${clock(mark.time)}: ${mark.kind}${mark.why === "" ? "" : `, ${mark.why}`}`}
          />
        ))}
    </span>
  );
}

interface StateStripProps {
  label: string;
  stretches: Stretch[];
  kinds: MarkKind[];
  from: number;
  to: number;
  under_chart?: boolean;
}

/** States over time as a coloured line. */
export function StateStrip({ label, stretches, kinds, from, to, under_chart = false }: StateStripProps) {
  const kind = (state: string) => kinds.find((one) => one.kind === state);
  const percent = (time: number) => (100 * (time - from)) / Math.max(1, to - from);
  const words = stretches.map((one) => `${kind(one.state)?.title ?? one.state} from ${clock(one.from)}`).join(", ");
  return (
    <div class={`strip-box ${under_chart ? "under-chart" : ""}`}>
      <div class="state-strip" role="img" aria-label={`${label}: ${words || "unknown"}`}>
        {stretches.map((one) => (
          <i
            key={one.from}
            class={kind(one.state)?.tone ?? "off"}
            style={{ left: `${percent(one.from)}%`, width: `${percent(one.to) - percent(one.from)}%` }}
            title={`${kind(one.state)?.title ?? one.state}\n${clock(one.from)} – ${clock(one.to)}`}
          />
        ))}
      </div>
    </div>
  );
}

/** A small trend line. */
export function Spark({ values, label, tone = "soft" }: { values: number[]; label: string; tone?: string }) {
  if (values.length === 0) return <span class="faint">–</span>;
  return (
    <svg class={`spark ${tone}`} viewBox="0 -1 72 20" role="img" aria-label={label}>
      <polyline points={spark_points(values, 72, 18)} />
    </svg>
  );
}

export interface Term {
  name: string;
  /** The amount added to the sum. */
  points: number;
  text: ComponentChildren;
}

/** A sum and its terms, largest first. */
export function Terms({ label, terms }: { label: string; terms: Term[] }) {
  const most = Math.max(1e-9, ...terms.map((term) => Math.abs(term.points)));
  return (
    <table class="terms" aria-label={label}>
      <tbody>
        {[...terms]
          .sort((a, b) => b.points - a.points)
          .map((term) => (
            <tr key={term.name}>
              <th scope="row">{term.name}</th>
              <td class="terms-bar">
                <span style={{ width: `${(100 * Math.abs(term.points)) / most}%` }} />
              </td>
              <td class="terms-points">{Number(term.points.toFixed(1))}</td>
              <td class="soft">{term.text}</td>
            </tr>
          ))}
      </tbody>
    </table>
  );
}
