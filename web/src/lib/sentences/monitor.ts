// The condition of a monitor as text: "error rate over 24 hours is above 5 %".

import type { MonitorSettings } from "../../api_types";
import { metric_info, window_text } from "./metric";
import { measured_text } from "./trigger";

const sides = { above: "above", below: "below", outside: "outside" };

function change_limit(settings: MonitorSettings): string {
  const { change_by, threshold, direction } = settings.condition;
  const limit = threshold ?? 0;
  const side = direction === "below" ? "less" : "more";
  if (change_by === "difference")
    return `is ${side} than the previous window by ${metric_info(settings.metric).text(limit)}`;
  return `is ${side} than ${Number(limit.toPrecision(4))} times the previous window`;
}

function condition_text(settings: MonitorSettings): string {
  const { type, direction, threshold, sensitivity } = settings.condition;
  const side = sides[direction ?? "above"];
  switch (type) {
    case "threshold":
      return `is ${side} ${threshold === null ? "…" : metric_info(settings.metric).text(threshold)}`;
    case "automatic":
      return `is ${side} the usual range for this hour of the week${sensitivity ? ` (${sensitivity} deviations)` : ""}`;
    case "change":
      return change_limit(settings);
    case "absence":
      return "";
  }
}

export function monitor_text(settings: MonitorSettings): string {
  const window = window_text(settings.window_seconds);
  const groups = settings.group_by ? `, for each ${settings.group_by}` : "";
  const held = settings.for_seconds > 0 ? ` for ${window_text(settings.for_seconds)}` : "";
  if (settings.condition.type === "absence") {
    const of = settings.filter === "" ? "" : ` with ${settings.filter}`;
    return `fewer than ${settings.minimum_samples} spans${of} in ${window}${held}`;
  }
  return `${measured_text(settings)} over ${window} ${condition_text(settings)}${held}${groups}`;
}
