// The places of a chart whose axis is not the time: links at the points, their intervals, and marks where the line
// breaks.

import type uPlot from "uplot";

export interface Place {
  /** On hover and in the table. */
  name: string;
  /** Of the axis. */
  label: string;
  /** Of the point; null: there is none, the line breaks here, and `name` explains why. */
  mean: number | null;
  interval: [number, number] | null;
  /** The mean with its interval, for hover and table. */
  value: string;
  href?: string;
  is_marked?: boolean;
}

/** Where a place is, in pixels of the plot. */
export interface Spot {
  left: number;
  top: number;
}

const label_room = 56;

/** Labels at whole positions, so many that they do not touch. */
export function place_axis(positions: number[], places: Place[]): uPlot.Axis {
  const labels = new Map(positions.map((position, at) => [position, places[at]?.label ?? ""]));
  const whole = positions.filter(Number.isInteger);
  return {
    splits: (plot) => {
      const step = Math.max(1, Math.ceil((whole.length * label_room) / Math.max(label_room, plot.width - label_room)));
      return whole.filter((_, at) => at % step === 0);
    },
    values: (_, marks) => marks.map((mark) => labels.get(mark) ?? ""),
  };
}

/** Half a place of room at both ends; intervals are within the height. */
export function place_range(positions: number[], places: Place[]): uPlot.Scales {
  const last = positions.at(-1) ?? 0;
  const values = places.flatMap((place) => [...(place.interval ?? []), ...(place.mean === null ? [] : [place.mean])]);
  const least = Math.min(0, ...values) * 1.1;
  const most = Math.max(0, ...values);
  return {
    x: { time: false, range: () => [-0.5, last + 0.5] },
    y: { range: () => [least, most > 0 ? most * 1.1 : least < 0 ? 0 : 1] },
  };
}

/** Intervals as bars with ends, and a line across the plot at each break. */
export function draw_places(
  plot: uPlot,
  positions: number[],
  places: Place[],
  colours: { interval: string; split: string },
): void {
  const { ctx, bbox } = plot;
  const pixel = window.devicePixelRatio || 1;
  ctx.save();
  ctx.lineWidth = pixel;
  for (const [at, place] of places.entries()) {
    const x = Math.round(plot.valToPos(positions[at] ?? 0, "x", true));
    ctx.beginPath();
    if (place.mean === null) {
      ctx.strokeStyle = colours.split;
      ctx.setLineDash([3 * pixel, 3 * pixel]);
      ctx.moveTo(x, bbox.top);
      ctx.lineTo(x, bbox.top + bbox.height);
    } else if (place.interval) {
      const [low, high] = place.interval.map((value) => plot.valToPos(value, "y", true)) as [number, number];
      ctx.strokeStyle = colours.interval;
      ctx.setLineDash([]);
      ctx.moveTo(x, low);
      ctx.lineTo(x, high);
      for (const end of [low, high]) {
        ctx.moveTo(x - 4 * pixel, end);
        ctx.lineTo(x + 4 * pixel, end);
      }
    }
    ctx.stroke();
  }
  ctx.restore();
}

export function spots_of(plot: uPlot, positions: number[], places: Place[]): Spot[] {
  return places.map((place, at) => ({
    left: plot.over.offsetLeft + plot.valToPos(positions[at] ?? 0, "x"),
    top: plot.over.offsetTop + (place.mean === null ? 0 : plot.valToPos(place.mean, "y")),
  }));
}

interface MarksProps {
  places: Place[];
  spots: Spot[];
  colour: string;
  on_hover: (at: number | null) => void;
}

/** The points are links. The tab key skips them: what they lead to is also in the list below such a chart. */
export function PlaceMarks({ places, spots, colour, on_hover }: MarksProps) {
  let breaks = 0;
  return (
    <div class="chart-marks">
      {places.map((place, at) => {
        const spot = spots[at];
        const style = { left: `${spot?.left ?? 0}px`, top: `${spot?.top ?? 0}px`, color: `var(${colour})` };
        const hover = { onMouseEnter: () => on_hover(at), onMouseLeave: () => on_hover(null) };
        if (place.mean === null) breaks += 1;
        if (!spot) return null;
        return place.mean === null ? (
          <span key={at} class="chart-break" style={style} title={place.name} {...hover}>
            {breaks}
          </span>
        ) : (
          <a
            key={at}
            class={place.is_marked ? "chart-point marked" : "chart-point"}
            style={style}
            href={place.href}
            tabIndex={-1}
            aria-label={`${place.name}: ${place.value}`}
            {...hover}
          />
        );
      })}
    </div>
  );
}
