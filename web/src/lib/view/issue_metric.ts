// The metric that an issue is about, and the filter of all its spans: also those from before it began.

export interface IssueMetric {
  title: string;
  /** The line with a value before and after. */
  main: string;
  /** A second line; empty: none. */
  other: string;
  filter: string;
}

const metrics: Record<string, Omit<IssueMetric, "filter">> = {
  latency: { title: "Latency before and after", main: "latency_p50", other: "latency_p95" },
  first_token: { title: "Time to the first token before and after", main: "first_token_p50", other: "first_token_p95" },
  tokens: { title: "Tokens before and after", main: "tokens", other: "" },
  cost: { title: "Cost before and after", main: "cost", other: "" },
};
const about: Record<string, string> = {
  latency_regression: "latency",
  version_regression: "latency",
  token_spike: "tokens",
  cost_spike: "cost",
};

/** The condition at the end of a detector's filter finds only the spans that are too slow or too large. */
const limit = / and (latency|first_token|tokens|input_tokens|output_tokens|cost) >=? [\d.]+[a-z]*$/;

/** Null: the issue is about something that has no curve. */
export function issue_metric(detector: string, filter: string): IssueMetric | null {
  const found = limit.exec(filter);
  const field = found?.[1] ?? "";
  if (about[detector] === undefined || filter === "") return null;
  if (detector === "version_regression" && field === "") return null;
  const known = metrics[field.endsWith("tokens") ? "tokens" : field] ?? metrics[about[detector] ?? ""];
  if (!known) return null;
  return { ...known, filter: filter.replace(limit, "") };
}
