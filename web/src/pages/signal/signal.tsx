// Signal of a project: open issues, worst first.

import { useMemo } from "preact/hooks";
import { api } from "../../api";
import type { Issue, Status as IssueStatus, Project, Scan, SeverityVolume, SignalView } from "../../api_types";
import { duration, exact_count, money, plural, short_count } from "../../lib/format/number";
import { range_bounds } from "../../lib/format/range";
import { to_milliseconds } from "../../lib/format/time";
import type { Params } from "../../lib/route";
import { bucket_for } from "../../lib/view/series";
import { daily_traces, stacked, summed } from "../../lib/view/strip";
import { reload, use_load } from "../../load";
import { can } from "../../login";
import { use_action } from "../../parts/action";
import { Chart, choose_range } from "../../parts/chart";
import { current_range } from "../../parts/frame/time_range";
import { Icon } from "../../parts/icon";
import { PageHeader } from "../../parts/page";
import { SearchField } from "../../parts/search_field";
import { Data, Empty, Note, State } from "../../parts/state";
import { Spark } from "../../parts/strip";
import { type Column, Table } from "../../parts/table";
import { Time } from "../../parts/time";
import { toast_done } from "../../parts/toast";
import { navigate, query, set_query } from "../../router";
import { issue_page } from "../addresses";
import { project_route, use_project } from "../projects/data";
import {
  detector_word,
  growth_text,
  is_live,
  issues_changed,
  issues_key,
  severities,
  severity_colours,
  share_text,
  signal_key,
  status_tones,
  status_words,
  trend_days,
  use_issue_points,
  use_issues,
  use_signal,
} from "./data";
import { ScansDialog } from "./scans";
import { SignalDialog, SwitchOn } from "./settings";
import { SeverityMark } from "./severity_mark";

const default_range = "7d";
const hour = 3_600_000;
const most_hours = 2160;

/** The last scan with its cost, and the time of the next one. */
function ScanLine({ view }: { view: SignalView }) {
  const scan = view.last_scan;
  const not_scanned = view.enabled ? "The first scan is running" : "Not scanned yet";
  return (
    <>
      {scan ? (
        <>
          <button type="button" class="link" onClick={() => set_query({ scans: "1" })}>
            Scanned <Time time={scan.started_at} />
          </button>{" "}
          · {exact_count(scan.traces)} traces in {duration(scan.took_ms)}
          {scan.tokens > 0 ? `, ${short_count(scan.tokens)} tokens for workers` : ", no tokens used"}
          {view.readings && `, readings ${money(view.readings.cost_micro_usd_per_1000_traces)} per 1,000 traces`}
        </>
      ) : (
        not_scanned
      )}
      {view.next_scan_at && (
        <>
          {" · "}next <Time time={view.next_scan_at} />
        </>
      )}
      .
    </>
  );
}

function ScanButton({ project }: { project: Project }) {
  const { busy, attempt } = use_action();
  const start = attempt("Could not scan", async () => {
    const scan = await api.post<Scan>(project_route(project, "signal/scan"), {});
    await issues_changed();
    toast_done(
      scan.new_issues + scan.reopened > 0
        ? `Scan finished: ${plural(scan.new_issues, "new issue")}, ${scan.reopened} reopened`
        : `Scan finished: no new issues in ${plural(scan.traces, "trace")}`,
    );
  });
  return (
    <button type="button" disabled={busy} onClick={start}>
      <Icon name="rotate" /> {busy ? "Scanning…" : "Scan now"}
    </button>
  );
}

/** Affected traces over time, stacked by severity. */
function Volume({ project, range }: { project: Project; range: string }) {
  const key = `issue_volume/${project.id}/${range}`;
  const load = use_load(key, async (signal) => {
    const to = Date.now();
    const bounds = range_bounds(current_range(default_range), to);
    const from = bounds.after ? Date.parse(bounds.after) : to - most_hours * hour;
    const hours = Math.min(most_hours, Math.max(1, Math.ceil((to - from) / hour)));
    const points = await api.get<SeverityVolume[]>(project_route(project, "issue_volume"), { hours }, signal);
    return { points, from, to: bounds.before ? Date.parse(bounds.before) : to };
  });
  const chart = useMemo(() => {
    if (!load.data) return null;
    const { points, from, to } = load.data;
    // The server counts by the hour.
    const step = Math.max(hour, bucket_for(to - from).milliseconds);
    const rows = points.map((point) => ({
      time: to_milliseconds(point.time),
      values: severities.map((severity) => point[severity]),
    }));
    const { times, values } = summed(rows, from, to, step, severities.length);
    const sums = stacked(values);
    // Drawn from the tallest sum down; hover and table show the values of each.
    const lines = [...severities].reverse().map((severity, index) => ({
      title: severity,
      colour: severity_colours[severity],
      bars: true,
      values: sums[index] ?? [],
      shown: values[severities.indexOf(severity)] ?? [],
    }));
    return { times, lines };
  }, [load.data]);
  return (
    <Data load={load} retry={() => void reload(key)}>
      {() =>
        chart && (
          <Chart
            title="Traces with an issue"
            times={chart.times}
            lines={chart.lines}
            text={short_count}
            height={128}
            on_range={choose_range}
          />
        )
      }
    </Data>
  );
}

/** Open issues by kind; a click filters the list. */
function Breakdown({ issues }: { issues: Issue[] }) {
  const chosen = query.value.get("detector") ?? "";
  const counts = new Map<string, { issues: number; traces: number }>();
  for (const issue of issues.filter(is_live)) {
    const known = counts.get(issue.detector) ?? { issues: 0, traces: 0 };
    counts.set(issue.detector, { issues: known.issues + 1, traces: known.traces + issue.traces });
  }
  const rows = [...counts].sort(([, a], [, b]) => b.issues - a.issues || b.traces - a.traces);
  const most = Math.max(1, ...rows.map(([, row]) => row.issues));
  return (
    <section class="signal-kinds" aria-label="Open issues by kind">
      <h2>By kind</h2>
      {rows.length === 0 && <p class="faint">No open issues.</p>}
      <ul>
        {rows.map(([detector, row]) => (
          <li key={detector}>
            <button
              type="button"
              class="facet"
              aria-pressed={chosen === detector}
              title={`${plural(row.issues, "issue")}, ${plural(row.traces, "trace")}`}
              onClick={() => set_query({ detector: chosen === detector ? null : detector }, { replace: true })}
            >
              <span class="facet-bar" style={{ width: `${(100 * row.issues) / most}%` }} />
              <span class="facet-value">{detector_word(detector)}</span>
              <span class="facet-count">{row.issues}</span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** The terms of an issue's score, shown on hover. */
function score_title(issue: Issue): string {
  const terms = [...issue.score_terms].sort((a, b) => b.points - a.points);
  return [`Score ${Math.round(issue.score)}`, ...terms.map((term) => `${term.points.toFixed(1)}  ${term.why}`)].join(
    "\n",
  );
}

/** Affected traces in each of the last days. */
function Trend({ issue }: { issue: Issue }) {
  const points = use_issue_points(issue.id).data ?? [];
  const counts = daily_traces(points, Date.now(), trend_days);
  return <Spark values={counts} label={`Traces in each of the last ${trend_days} days: ${counts.join(", ")}`} />;
}

const columns = (project: string): Column<Issue>[] => [
  {
    id: "severity",
    title: "Severity",
    width: "92px",
    cell: (issue) => <SeverityMark severity={issue.severity} />,
  },
  {
    id: "title",
    title: "Issue",
    cell: (issue) => (
      <a class="cell-link" href={issue_page(project, issue.id)} title={issue.title}>
        {issue.title}
      </a>
    ),
  },
  {
    id: "traces",
    title: "Traces",
    width: "100px",
    align: "right",
    wide: true,
    cell: (issue) => (
      <span title={`${plural(issue.traces, "trace")}, ${share_text(issue.share)} of all`}>
        {short_count(issue.traces)} <span class="faint">({share_text(issue.share)})</span>
      </span>
    ),
  },
  {
    id: "trend",
    title: "Trend",
    width: "132px",
    wide: true,
    cell: (issue) => (
      <span class="trend" title={`${growth_text(issue.growth)} compared to the previous period`}>
        <Trend issue={issue} /> {growth_text(issue.growth).replace("unchanged", "")}
      </span>
    ),
  },
  {
    id: "first_seen",
    title: "First seen",
    width: "96px",
    align: "right",
    wide: true,
    cell: (issue) => <Time time={issue.first_seen} />,
  },
  {
    id: "last_seen",
    title: "Last seen",
    width: "96px",
    align: "right",
    wide: true,
    cell: (issue) => <Time time={issue.last_seen} />,
  },
  {
    id: "status",
    title: "Status",
    width: "116px",
    wide: true,
    cell: (issue) => <State tone={status_tones[issue.status]} text={status_words[issue.status]} />,
  },
  {
    id: "score",
    title: "Score",
    width: "58px",
    align: "right",
    wide: true,
    cell: (issue) => (
      <b class="why" title={score_title(issue)}>
        {Math.round(issue.score)}
      </b>
    ),
  },
];

const views: { id: string; title: string; statuses: IssueStatus[] }[] = [
  { id: "", title: "Open", statuses: ["open", "investigating", "fix_proposed"] },
  { id: "muted", title: "Muted", statuses: ["muted"] },
  { id: "resolved", title: "Resolved", statuses: ["resolved"] },
  { id: "dismissed", title: "Dismissed", statuses: ["dismissed"] },
];

function shown_issues(issues: Issue[]): Issue[] {
  const view = views.find((one) => one.id === (query.value.get("view") ?? "")) ?? views[0];
  const detector = query.value.get("detector");
  const text = (query.value.get("q") ?? "").toLowerCase();
  return issues
    .filter((issue) => view?.statuses.includes(issue.status))
    .filter((issue) => !detector || issue.detector === detector)
    .filter((issue) => `${issue.title} ${issue.explanation}`.toLowerCase().includes(text))
    .sort((a, b) => b.score - a.score);
}

function ViewChoice({ issues }: { issues: Issue[] }) {
  const chosen = query.value.get("view") ?? "";
  return (
    <>
      {views.map((view) => {
        const count = issues.filter((issue) => view.statuses.includes(issue.status)).length;
        return (
          <button
            type="button"
            class="quiet"
            key={view.id}
            aria-pressed={chosen === view.id}
            onClick={() => set_query({ view: view.id || null }, { replace: true })}
          >
            {view.title} {count > 0 && <span class="faint">{count}</span>}
          </button>
        );
      })}
    </>
  );
}

function Issues({ project, issues }: { project: Project; issues: Issue[] }) {
  const rows = shown_issues(issues);
  const live = issues.filter(is_live).length;
  return (
    <Table
      label="Issues"
      rows={rows}
      columns={columns(project.name)}
      row_id={(issue) => issue.id}
      row_title={(issue) => issue.title}
      on_open={(issue) => navigate(issue_page(project.name, issue.id))}
      bar={
        <>
          <SearchField label="Filter issues" />
          <ViewChoice issues={issues} />
        </>
      }
      foot={
        rows.length === 0 && (
          <Empty
            icon="check"
            title={live === 0 ? "No open issues" : "No matching issues"}
            text={
              live === 0
                ? "Signal compares each window of traces with the period before it. Recurring problems appear here, highest score first."
                : "Choose another status or clear the filter."
            }
          />
        )
      }
    />
  );
}

function SignalOn({ project, view }: { project: Project; view: SignalView }) {
  const range = query.value.get("range") ?? default_range;
  const load = use_issues(project);
  return (
    <>
      {view.last_scan && view.last_scan.failed !== "" && (
        <Note kind="failed" icon="warning">
          The last scan failed: {view.last_scan.failed}
        </Note>
      )}
      {(load.data || !load.error) && (
        <div class="signal-top">
          <Volume project={project} range={range} />
          <div class="wide-only">{load.data && <Breakdown issues={load.data} />}</div>
        </div>
      )}
      <Data load={load} retry={() => void reload(issues_key(project))}>
        {(issues) => <Issues project={project} issues={issues} />}
      </Data>
    </>
  );
}

function headline(issues: Issue[] | undefined): string {
  if (!issues) return "";
  const live = issues.filter(is_live);
  const worst = severities.find((severity) => live.some((issue) => issue.severity === severity));
  if (!worst) return "No open issues. ";
  const count = live.filter((issue) => issue.severity === worst).length;
  return `${plural(live.length, "open issue")}, ${count} ${worst}. `;
}

export function SignalPage({ params }: { params: Params }) {
  const project = use_project(params);
  const view = use_signal(project.data);
  const issues = use_issues(project.data);
  const is_off = view.data !== undefined && !view.data.enabled;
  // Issues that a person or a worker reported, or that a scan by hand found, are there without it.
  const has_list = !is_off || ((issues.data?.length ?? 0) > 0 && query.value.get("turn_on") !== "1");
  const on = project.data && view.data && has_list;
  return (
    <div class="page list-page">
      <PageHeader
        title="Signal"
        text={
          on && view.data ? (
            <>
              <b>{headline(issues.data)}</b>
              <ScanLine view={view.data} />
            </>
          ) : undefined
        }
      >
        {on && can("issue_write") && <ScanButton project={project.data as Project} />}
        {on && !is_off && can("automation_write") && (
          <button type="button" onClick={() => set_query({ settings: "1" })}>
            <Icon name="settings" /> Settings
          </button>
        )}
      </PageHeader>
      <Data load={project} retry={() => void reload("project/")}>
        {(known) => (
          <Data load={view} retry={() => void reload(signal_key(known))}>
            {(settings) => (
              <>
                {is_off && has_list && (
                  <Note icon="info">
                    Signal is off: this project is not scanned on a schedule.{" "}
                    <button type="button" class="quiet" onClick={() => set_query({ turn_on: "1" })}>
                      Turn on…
                    </button>
                  </Note>
                )}
                {has_list ? <SignalOn project={known} view={settings} /> : <SwitchOn project={known} view={settings} />}
                {query.value.get("settings") === "1" && <SignalDialog project={known} view={settings} />}
                {query.value.get("scans") === "1" && <ScansDialog project={known} view={settings} />}
              </>
            )}
          </Data>
        )}
      </Data>
    </div>
  );
}
