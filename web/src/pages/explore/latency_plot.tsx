// How long spans take: as a histogram of the whole range, or as a heat map over time. A click shows the traces.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { SpanSeries } from "../../api_types";
import { exact_count, plural } from "../../lib/format/number";
import { local_time } from "../../lib/format/time";
import { latency_cells } from "../../lib/view/explore";
import { theme } from "../../theme";

const left_axis = 64;
const bottom_axis = 20;
const least_label = 34;

interface LatencyPlotProps {
  title: string;
  series: SpanSeries;
  from: number | null;
  to: number;
  /** Shows the traces of a cell: a condition, and a time range if the cell has one. */
  open: (condition: string, from: number | null, to: number | null) => void;
}

type Cells = ReturnType<typeof latency_cells>;

interface Pens {
  bar: string;
  line: string;
  faint: string;
  font: string;
}

function pens_of(host: HTMLElement): Pens {
  const probe = document.createElement("span");
  host.append(probe);
  const colour = (name: string) => {
    probe.style.color = `var(${name})`;
    return getComputedStyle(probe).color;
  };
  const pens = {
    bar: colour("--g1"),
    line: colour("--line"),
    faint: colour("--faint"),
    font: `11px ${getComputedStyle(host).fontFamily}`,
  };
  probe.remove();
  return pens;
}

const short_time = (time: number) => local_time(new Date(time).toISOString()).slice(5, 16);

function draw_heat(pen: CanvasRenderingContext2D, cells: Cells, width: number, height: number, pens: Pens): void {
  const rows = cells.buckets.length;
  const columns = cells.times.length;
  const wide = (width - left_axis) / columns;
  const high = (height - bottom_axis) / rows;
  pen.fillStyle = pens.bar;
  cells.counts.forEach((row, at) => {
    row.forEach((count, column) => {
      if (count === 0) return;
      // One span is visible beside a thousand: the root of its share.
      pen.globalAlpha = 0.15 + 0.85 * Math.sqrt(count / cells.most);
      const top = (rows - 1 - at) * high;
      pen.fillRect(left_axis + column * wide, top, Math.max(1, wide - 1), Math.max(1, high - 1));
    });
  });
  pen.globalAlpha = 1;
  pen.fillStyle = pens.faint;
  pen.textBaseline = "middle";
  pen.textAlign = "right";
  const step = Math.max(1, Math.ceil(18 / high));
  for (let at = 0; at < rows; at += step)
    pen.fillText(cells.buckets[at]?.title.split(" – ")[0] ?? "", left_axis - 6, (rows - at) * high - high / 2);
  pen.textAlign = "left";
  pen.textBaseline = "bottom";
  const every = Math.max(1, Math.ceil(90 / wide));
  for (let column = 0; column < columns && (columns - column) * wide > 60; column += every)
    pen.fillText(short_time(cells.times[column] ?? 0).slice(-5), left_axis + column * wide, height);
}

function draw_bars(pen: CanvasRenderingContext2D, cells: Cells, width: number, height: number, pens: Pens): void {
  const columns = cells.buckets.length;
  const wide = (width - left_axis) / columns;
  const plot = height - bottom_axis;
  pen.strokeStyle = pens.line;
  pen.fillStyle = pens.faint;
  pen.textAlign = "right";
  pen.textBaseline = "middle";
  for (const share of [0, 0.5, 1]) {
    const y = Math.round(plot - share * (plot - 14)) + 0.5;
    pen.beginPath();
    pen.moveTo(left_axis, y);
    pen.lineTo(width, y);
    pen.stroke();
    pen.fillText(exact_count(Math.round(share * cells.most)), left_axis - 6, y);
  }
  pen.fillStyle = pens.bar;
  cells.counts.forEach(([count = 0], at) => {
    const high = count === 0 ? 0 : Math.max(2, (count / cells.most) * (plot - 14));
    pen.fillRect(left_axis + at * wide, plot - high, Math.max(1, wide - 2), high);
  });
  pen.fillStyle = pens.faint;
  pen.textAlign = "left";
  pen.textBaseline = "bottom";
  const every = Math.max(1, Math.ceil((2 * least_label) / wide));
  for (let at = 0; at < columns && (columns - at) * wide > least_label; at += every)
    pen.fillText(cells.buckets[at]?.title.split(" – ")[0] ?? "", left_axis + at * wide, height);
}

/** The bucket of latency and the column of time below the pointer. */
function cell_at(cells: Cells, is_heat: boolean, box: DOMRect, event: MouseEvent): [number, number] | null {
  const x = event.clientX - box.left - left_axis;
  const y = event.clientY - box.top;
  if (x < 0 || y < 0 || y > box.height - bottom_axis) return null;
  const across = x / (box.width - left_axis);
  if (!is_heat) return [Math.min(cells.buckets.length - 1, Math.floor(across * cells.buckets.length)), 0];
  const rows = cells.buckets.length;
  const row = rows - 1 - Math.min(rows - 1, Math.floor((y / (box.height - bottom_axis)) * rows));
  return [row, Math.min(cells.times.length - 1, Math.floor(across * cells.times.length))];
}

export function LatencyPlot({ title, series, from, to, open }: LatencyPlotProps) {
  const host = useRef<HTMLCanvasElement>(null);
  const [hovered, set_hovered] = useState<[number, number] | null>(null);
  const cells = useMemo(() => latency_cells(series, from, to), [series, from, to]);
  const is_heat = series.bucket_ns > 0;
  const chosen_theme = theme.value;
  useEffect(() => {
    const canvas = host.current;
    if (!canvas?.parentElement) return;
    const draw = () => {
      const scale = window.devicePixelRatio || 1;
      const width = canvas.clientWidth;
      const height = canvas.clientHeight;
      canvas.width = Math.round(width * scale);
      canvas.height = Math.round(height * scale);
      const pen = canvas.getContext("2d");
      if (!pen || cells.buckets.length === 0) return;
      const pens = pens_of(canvas.parentElement ?? document.body);
      pen.scale(scale, scale);
      pen.font = pens.font;
      (is_heat ? draw_heat : draw_bars)(pen, cells, width, height, pens);
    };
    const observer = new ResizeObserver(draw);
    observer.observe(canvas);
    return () => observer.disconnect();
  }, [cells, chosen_theme]);
  const step = series.bucket_ns / 1e6;
  const [row, column] = hovered ?? [-1, -1];
  const count = cells.counts[row]?.[column] ?? 0;
  return (
    <>
      <p class="faint latency-hover" aria-hidden="true">
        {hovered
          ? `${cells.buckets[row]?.title}${is_heat ? `, ${short_time(cells.times[column] ?? 0)}` : ""}: ${plural(count, "span")}`
          : "Click a field to see its traces."}
      </p>
      <div class="latency-plot" aria-hidden="true">
        <canvas
          ref={host}
          onMouseMove={(event) =>
            set_hovered(cell_at(cells, is_heat, event.currentTarget.getBoundingClientRect(), event))
          }
          onMouseLeave={() => set_hovered(null)}
          onClick={(event) => {
            const found = cell_at(cells, is_heat, event.currentTarget.getBoundingClientRect(), event);
            const bucket = found && cells.buckets[found[0]];
            if (!found || !bucket || (cells.counts[found[0]]?.[found[1]] ?? 0) === 0) return;
            const begin = is_heat ? (cells.times[found[1]] ?? null) : null;
            open(bucket.condition, begin, begin === null ? null : begin + step);
          }}
        />
      </div>
      <div class="off-screen">
        <table>
          <caption>{title}</caption>
          <thead>
            <tr>
              <th scope="col">Latency</th>
              <th scope="col">Spans</th>
            </tr>
          </thead>
          <tbody>
            {cells.buckets.map((bucket, at) => (
              <tr key={bucket.from}>
                <th scope="row">{bucket.title}</th>
                <td>{exact_count(cells.counts[at]?.reduce((sum, one) => sum + one, 0) ?? 0)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}
