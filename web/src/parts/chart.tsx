// A chart over time, or over places in an order. The drawing library is loaded with the first chart; each chart has a
// hidden table for screen readers. Dragging chooses a time range.

import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type uPlot from "uplot";
import { to_api_error } from "../api";
import { choose_range_text } from "../carried";
import { axis_time, axis_value } from "../lib/format/axis";
import { local_time } from "../lib/format/time";
import { shown_theme } from "../theme";
import { draw_places, type Place, PlaceMarks, place_axis, place_range, type Spot, spots_of } from "./chart_places";
import { ErrorNote } from "./state";

export interface Line {
  title: string;
  /** A variable of style/base.css. */
  colour: string;
  values: (number | null)[];
  bars?: boolean;
  /** The values for hover and table, where the drawn values are sums of a stack. */
  shown?: (number | null)[];
  /** A limit or an expectation, not a measurement. */
  dashed?: boolean;
}

interface ChartProps {
  title: string;
  times: number[];
  lines: Line[];
  /** For the axis, hover and table. */
  text: (value: number) => string;
  /** Absent: the range cannot be chosen here. */
  on_range?: (from: number, to: number) => void;
  height?: number;
  /** Fills the area between two lines, given by their indexes in `lines`. */
  band?: { upper: number; lower: number; colour: string };
  /** Beside the title. */
  actions?: ComponentChildren;
  /** The axis has places instead of times; `times` are their positions. Of a chart with one line. */
  places?: Place[];
}

const usual_height = 148;
const value_axis = 56;

/** Writes a range chosen by dragging into the address, to the minute. */
export function choose_range(from: number, to: number): void {
  const utc = (time: number) => `${new Date(time).toISOString().slice(0, 16)}Z`;
  choose_range_text(`${utc(from)}..${utc(Math.max(to, from + 60_000))}`);
}

/** A colour variable as the canvas understands it. */
function resolved(host: HTMLElement, variable: string): string {
  const probe = document.createElement("span");
  probe.style.color = `var(${variable})`;
  host.append(probe);
  const colour = getComputedStyle(probe).color;
  probe.remove();
  return colour;
}

/** Room for the longest label: a small cost has many digits. */
const axis_size = (labels: string[]) =>
  Math.max(value_axis, 14 + 6.4 * Math.max(0, ...labels.map(({ length }) => length)));

const has_only_zeros = (lines: Pick<Line, "values">[]) => lines.every((line) => line.values.every((value) => !value));

/** Values without neighbours draw no line: their points are shown. */
const is_sparse = (line: Line) => line.values.filter((value) => value !== null).length < 3;

/** The length of a bucket in seconds; of a single bucket it is unknown. */
const bucket_seconds = (times: number[]) => ((times[1] ?? (times[0] ?? 0) + 3_600_000) - (times[0] ?? 0)) / 1000;

/** Half of the label would be cut off at the right edge. */
function is_cut_off(plot: uPlot, mark: number): boolean {
  const { min = 0, max = 0 } = plot.scales.x ?? {};
  const drawn = plot.width - value_axis;
  return min !== null && max !== null && ((max - mark) / Math.max(1, max - min)) * drawn < 14;
}

function options_of(
  library: typeof uPlot,
  host: HTMLElement,
  props: ChartProps,
  on_hover: (at: number | null) => void,
  on_spots: (spots: Spot[]) => void,
) {
  const { places } = props;
  const grid = { stroke: resolved(host, "--line"), width: 1 };
  const font = `11px ${getComputedStyle(host).fontFamily}`;
  const axis = { stroke: resolved(host, "--faint"), font, grid, ticks: { show: false } };
  const bars = library.paths.bars?.({ size: [0.8, 40], align: 1 });
  // A bar starts at its bucket's time: the newest one needs the room of a bucket at the right edge.
  const room = props.lines.some((line) => line.bars) ? bucket_seconds(props.times) : 0;
  const options: uPlot.Options = {
    width: host.clientWidth,
    height: props.height ?? usual_height,
    legend: { show: false },
    padding: [8, 4, 0, 0],
    cursor: {
      y: false,
      ...(places ? {} : { sync: { key: "overview" } }),
      points: { size: 6 },
      drag: { x: props.on_range !== undefined, y: false },
    },
    axes: [
      {
        ...axis,
        space: 70,
        // Below the label of zero, not beside it.
        size: 28,
        gap: 8,
        values: (plot, marks, __, ___, step) =>
          marks.map((mark) => (is_cut_off(plot, mark) ? "" : axis_time(mark, step))),
        ...(places && place_axis(props.times, places)),
      },
      {
        ...axis,
        // Where every value is zero, the axis has no scale: only 0 is true.
        ...(has_only_zeros(props.lines) && { splits: () => [0] }),
        size: (_, labels) => axis_size(labels ?? []),
        gap: 6,
        space: (props.height ?? usual_height) < 100 ? 20 : 34,
        values: (_, marks) => marks.map((mark) => (mark < 0 && !places ? "" : axis_value(props.text(mark)))),
      },
    ],
    scales: {
      x: room > 0 ? { range: (_, first, last) => [first, last + room] } : {},
      y: { range: (_, least, most) => [Math.min(0, least * 1.1), most > 0 ? most * 1.1 : 1] },
      ...(places && place_range(props.times, places)),
    },
    bands: props.band && [
      { series: [props.band.upper + 1, props.band.lower + 1], fill: resolved(host, props.band.colour) },
    ],
    series: [
      {},
      ...props.lines.map((line) => {
        const stroke = resolved(host, line.colour);
        return {
          label: line.title,
          stroke,
          width: line.bars ? 0 : 1.6,
          fill: line.bars ? stroke : undefined,
          paths: line.bars ? bars : undefined,
          dash: line.dashed ? [5, 4] : undefined,
          points: { show: line.bars || line.dashed || places ? false : is_sparse(line) || undefined, size: 4 },
        };
      }),
    ],
    hooks: {
      setCursor: [(plot) => on_hover(plot.cursor.idx ?? null)],
      // The library calls every hook that is there, also one that is undefined.
      ...(places && {
        draw: [
          (plot: uPlot) => {
            draw_places(plot, props.times, places, {
              interval: resolved(host, props.lines[0]?.colour ?? "--bar"),
              split: resolved(host, "--faint"),
            });
            on_spots(spots_of(plot, props.times, places));
          },
        ],
      }),
      setSelect: [
        (plot) => {
          if (plot.select.width < 8) return;
          const at = (pixel: number) => plot.posToVal(pixel, "x") * 1000;
          props.on_range?.(at(plot.select.left), at(plot.select.left + plot.select.width));
        },
      ],
    },
  };
  return options;
}

function ChartTable({ title, times, lines, text, places }: ChartProps) {
  return (
    <div class="off-screen">
      <table>
        <caption>{title}</caption>
        <thead>
          <tr>
            <th scope="col">{places ? "Name" : "Time"}</th>
            {lines.map((line) => (
              <th scope="col" key={line.title}>
                {line.title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {times.map((time, index) => (
            <tr key={time}>
              <th scope="row">{places?.[index]?.name ?? local_time(new Date(time).toISOString())}</th>
              {lines.map((line) => (
                <td key={line.title}>{places?.[index]?.value ?? value_text(line, index, text)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function value_text(line: Line, index: number, text: (value: number) => string): string {
  const value = (line.shown ?? line.values)[index];
  return value === null || value === undefined ? "–" : text(value);
}

export function Chart(props: ChartProps) {
  const height = props.height ?? usual_height;
  const host = useRef<HTMLDivElement>(null);
  const [library, set_library] = useState<typeof uPlot | null>(null);
  const [error, set_error] = useState<unknown>(null);
  const [hovered, set_hovered] = useState<number | null>(null);
  const [spots, set_spots] = useState<Spot[]>([]);
  useEffect(() => {
    import("uplot").then((module) => set_library(() => module.default), set_error);
  }, []);
  const drawn_theme = shown_theme.value;
  useEffect(() => {
    const box = host.current;
    if (!library || !box) return;
    const positions = props.places ? props.times : props.times.map((time) => time / 1000);
    const data = [positions, ...props.lines.map((line) => line.values)] as uPlot.AlignedData;
    const plot = new library(options_of(library, box, props, set_hovered, set_spots), data, box);
    const observer = new ResizeObserver(() => plot.setSize({ width: box.clientWidth, height }));
    observer.observe(box);
    return () => {
      observer.disconnect();
      plot.destroy();
    };
  }, [library, props.times, props.lines, drawn_theme]);
  const time = hovered === null ? undefined : props.times[hovered];
  const place = hovered === null ? undefined : props.places?.[hovered];
  return (
    <figure class="chart" aria-label={props.title}>
      <figcaption>
        <h2>{props.title}</h2>
        {props.actions}
        <span class="spring" />
        {place && <span class="faint">{place.name}</span>}
        {time !== undefined && !props.places && (
          <span class="faint">{local_time(new Date(time).toISOString()).slice(5, 16)}</span>
        )}
        {props.lines.map((line) => (
          <span key={line.title} class="chart-key">
            <i style={{ background: `var(${line.colour})` }} aria-hidden="true" />
            {line.title} {hovered !== null && <b>{place?.value ?? value_text(line, hovered, props.text)}</b>}
          </span>
        ))}
      </figcaption>
      <div class="chart-box">
        <div ref={host} class="chart-plot" style={{ height: `${height}px` }} aria-hidden="true" />
        {props.places && (
          <PlaceMarks
            places={props.places}
            spots={spots}
            colour={props.lines[0]?.colour ?? "--bar"}
            on_hover={set_hovered}
          />
        )}
      </div>
      {error !== null && <ErrorNote error={to_api_error(error)} retry={() => window.location.reload()} />}
      <ChartTable {...props} />
    </figure>
  );
}
