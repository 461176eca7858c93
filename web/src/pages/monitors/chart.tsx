// A monitor's values over time with their limits, and the states below.

import { useMemo } from "preact/hooks";
import type { ChartPoint, MonitorSettings } from "../../api_types";
import { to_milliseconds } from "../../lib/format/time";
import { capital, metric_info, sql_metric } from "../../lib/sentences/metric";
import { to_stretches } from "../../lib/view/strip";
import { Chart, type Line } from "../../parts/chart";
import { StateStrip } from "../../parts/strip";
import { state_kinds } from "./data";

interface MonitorChartProps {
  settings: MonitorSettings;
  points: ChartPoint[];
  on_range?: (from: number, to: number) => void;
}

export function MonitorPlot({ settings, points, on_range }: MonitorChartProps) {
  // Absence counts spans; the metric is not used.
  const metric = settings.condition.type === "absence" ? "count" : (settings.metric ?? sql_metric);
  const { text, title } = metric_info(metric);
  const chart = useMemo(() => {
    const times = points.map((point) => to_milliseconds(point.at));
    // The values are last: drawn over the limits and the band between them.
    const lines: Line[] = [];
    const limit = (name: string, values: (number | null)[]) => {
      if (values.some((value) => value !== null)) lines.push({ title: name, colour: "--failed", dashed: true, values });
    };
    limit(
      "upper limit",
      points.map((point) => point.upper),
    );
    limit(
      "lower limit",
      points.map((point) => point.lower),
    );
    lines.push({ title, colour: "--running", values: points.map((point) => point.value) });
    return { times, lines };
  }, [points, title]);
  const first = chart.times[0];
  const last = chart.times[chart.times.length - 1];
  if (first === undefined || last === undefined) return <p class="faint">No evaluations in this range.</p>;
  const only = points[0];
  if (first === last && only)
    return (
      <p class="soft">
        One evaluation so far: {only.value === null ? "no data" : text(only.value)}
        {only.upper !== null && `, upper limit ${text(only.upper)}`}
        {only.lower !== null && `, lower limit ${text(only.lower)}`}.
      </p>
    );
  // An evaluation describes the time before it.
  const stretches = to_stretches(
    points.map((point, index) => ({ time: chart.times[Math.max(0, index - 1)] ?? first, state: point.state })),
    first,
    last,
  );
  const band = chart.lines.length === 3 ? { upper: 0, lower: 1, colour: "--accent-soft" } : undefined;
  return (
    <>
      <Chart title={capital(title)} {...chart} text={text} height={190} band={band} on_range={on_range} />
      <StateStrip label="State" stretches={stretches} kinds={state_kinds} from={first} to={last} under_chart />
    </>
  );
}
