// The trigger of an automation as text: "on weekdays at 09:00, Europe/Berlin".

import type { Trigger } from "../../api_types";
import { cron_text } from "./cron";
import { metric_info, window_text } from "./metric";

const comparators: Record<string, string> = {
  above: "is above",
  at_least: "is at least",
  below: "is below",
  at_most: "is at most",
};
const comparator_text = (comparator: string | null) => comparators[comparator ?? "above"] ?? "is";

export function measured_text(trigger: Pick<Trigger, "metric" | "filter" | "eval_name" | "eval_label">): string {
  const name = metric_info(trigger.metric).title;
  const evals = trigger.eval_name ? ` ${trigger.eval_name}${trigger.eval_label ? ` = ${trigger.eval_label}` : ""}` : "";
  const filtered = name.endsWith("spans") ? "with" : "of spans with";
  const filter = trigger.filter ? ` ${filtered} ${trigger.filter}` : "";
  return name + evals + filter;
}

function metric_text(trigger: Trigger): string {
  const { text } = metric_info(trigger.metric ?? "");
  const limit = trigger.threshold === null ? "…" : text(trigger.threshold);
  const held = trigger.for_seconds ? ` for ${window_text(trigger.for_seconds)}` : "";
  const window = window_text(trigger.window_seconds ?? 900);
  return `when ${measured_text(trigger)} over ${window} ${comparator_text(trigger.comparator)} ${limit}${held}`;
}

/** After "it would": "have fired 3 times", "never have fired". */
export function would_have(done: string, times: number): string {
  if (times === 0) return `never have ${done}`;
  return `have ${done} ${times === 1 ? "once" : `${times} times`}`;
}

const sender_names: Record<string, string> = {
  github: "GitHub",
  gitlab: "GitLab",
  grafana: "Grafana",
  pagerduty: "PagerDuty",
  slack: "Slack",
};

/** `monitor_name` replaces the monitor's id where it is known. */
export function trigger_text(trigger: Trigger, monitor_name?: string): string {
  switch (trigger.type) {
    case "cron": {
      const zone = trigger.time_zone ?? "UTC";
      return `${cron_text(trigger.schedule ?? "") ?? `at ${trigger.schedule}`}, ${zone}`;
    }
    case "metric":
      return metric_text(trigger);
    case "monitor":
      return `when the monitor ${monitor_name ?? trigger.monitor ?? "…"} triggers`;
    case "webhook":
      return trigger.source && !["hone", "hmac", "standard"].includes(trigger.source)
        ? `when a signed request of ${sender_names[trigger.source]} arrives`
        : "when a signed request arrives";
    case "managed":
      return "as set in the Signal settings";
  }
}
