// The scores of the experiments on a dataset over time, one chart for each name of evals.

import { useMemo } from "preact/hooks";
import type { ExperimentRow } from "../../api_types";
import { local_time } from "../../lib/format/time";
import { type ScoreLine, score_lines } from "../../lib/view/score_lines";
import { Chart } from "../../parts/chart";
import type { Place } from "../../parts/chart_places";
import { experiment_page } from "../addresses";
import { score_text } from "./data";

/** The day, or the time where all experiments are of one day. */
function labels_of(line: ScoreLine): (time: string) => string {
  const days = new Set(
    line.places.flatMap((place) => ("point" in place ? [local_time(place.point.time).slice(0, 10)] : [])),
  );
  return (time) => (days.size > 1 ? local_time(time).slice(5, 10) : local_time(time).slice(11, 16));
}

function places_of(line: ScoreLine): Place[] {
  const label = labels_of(line);
  return line.places.map((place) => {
    if ("changes" in place) return { name: place.changes, label: "", mean: null, interval: null, value: "–" };
    const { point } = place;
    const interval = point.interval ? ` (${point.interval.map(score_text).join(" to ")})` : "";
    return {
      name: point.is_baseline ? `${point.name}, baseline` : point.name,
      label: label(point.time),
      mean: point.mean,
      interval: point.interval,
      value: `${score_text(point.mean)}${interval}`,
      href: experiment_page(point.experiment),
      is_marked: point.is_baseline,
    };
  });
}

function ScoreChart({ line }: { line: ScoreLine }) {
  const { places, times, lines } = useMemo(() => {
    const places = places_of(line);
    return {
      places,
      times: line.places.map((place) => place.at),
      lines: [{ title: "mean, 95 % interval", colour: "--accent", values: places.map((place) => place.mean) }],
    };
  }, [line]);
  const breaks = places.filter((place) => place.mean === null);
  return (
    <div>
      <Chart title={line.name} times={times} lines={lines} places={places} text={score_text} height={120} />
      {breaks.length > 0 && (
        <details class="chart-breaks" open={breaks.length < 4}>
          <summary>
            Not comparable across {breaks.length === 1 ? "a break" : `${breaks.length} breaks`} of the line
          </summary>
          <ol>
            {breaks.map((place) => (
              <li key={place.name}>{place.name}</li>
            ))}
          </ol>
        </details>
      )}
    </div>
  );
}

/** Nothing, while no eval has scores in two experiments. */
export function ScoreCharts({ rows }: { rows: ExperimentRow[] }) {
  // The list keeps its rows while nothing changes; their ids and means are all that is drawn.
  const key = JSON.stringify(rows.map((row) => [row.id, row.name, row.tags, row.evals]));
  const lines = useMemo(() => score_lines(rows), [key]);
  if (lines.length === 0) return null;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling block must be reachable by keyboard
    <section class="score-charts charts" aria-label="Scores over time" tabIndex={0}>
      {lines.map((line) => (
        <ScoreChart key={line.name} line={line} />
      ))}
    </section>
  );
}
