// Where in the trace an issue is: a few rows of an example's waterfall, with the span where the problem begins marked.

import { useMemo, useState } from "preact/hooks";
import { api, segment } from "../../api";
import type { Example, Issue, Project, TraceSkeleton } from "../../api_types";
import { plural, span_duration } from "../../lib/format/number";
import { rows_around } from "../../lib/view/origin";
import { build_tree, type TreeSpan, without_messages } from "../../lib/view/span_tree";
import { use_load } from "../../load";
import { Icon } from "../../parts/icon";
import { Section } from "../../parts/page";
import { Skeleton } from "../../parts/state";
import { Time } from "../../parts/time";
import { trace_page } from "../addresses";
import { project_route } from "../projects/data";
import { SpanKind } from "../traces/span_kind";

const most_rows = 9;
const most_indent = 6;

const example_page = (project: Project, example: Example, span = example.span_id) =>
  `${trace_page(project.name, example.trace_id)}${span ? `?span=${segment(span)}` : ""}`;

interface RowProps {
  node: TreeSpan;
  duration: number;
  is_origin: boolean;
  href: string;
}

function Row({ node, duration, is_origin, href }: RowProps) {
  const { span } = node;
  const total = Math.max(duration, 1);
  const failed = span.status === "error";
  const named = span.tool_name !== "" && !span.name.includes(span.tool_name) ? span.tool_name : "";
  return (
    <li>
      <a
        class={`where-row ${is_origin ? "origin" : ""} ${failed ? "failed" : ""}`}
        href={href}
        aria-current={is_origin}
      >
        <span class="where-name" style={{ paddingLeft: `${Math.min(node.depth, most_indent) * 12}px` }}>
          <SpanKind kind={span.kind} />
          <span class="where-title" title={span.name}>
            {span.name}
          </span>
          {named !== "" && <span class="span-detail">{named}</span>}
          {is_origin && <b class="where-mark">starts here</b>}
          {failed && (
            <span class="span-error" title={span.status_message || "error"}>
              <Icon name="warning" />
              <span class="off-screen">error</span>
            </span>
          )}
        </span>
        <span class="where-time">
          <span
            class="span-bar"
            style={{
              left: `${Math.min(99, (100 * node.start) / total)}%`,
              width: `${Math.min(100, Math.max(0.6, (100 * span.duration_ns) / total))}%`,
            }}
          />
        </span>
        <span class="where-length">{span_duration(span.duration_ns)}</span>
      </a>
    </li>
  );
}

function Waterfall({ example, project }: { example: Example; project: Project }) {
  const load = use_load(`where/${project.id}/${example.trace_id}`, (signal) =>
    api.get<TraceSkeleton>(project_route(project, `traces/${segment(example.trace_id)}/skeleton`), {}, signal),
  );
  const view = useMemo(() => {
    if (!load.data || load.data.spans.length === 0) return null;
    const steps = without_messages(load.data.spans);
    const tree = build_tree(steps.some((span) => span.span_id === example.span_id) ? steps : load.data.spans);
    const origin = tree.index_of(example.span_id) ?? -1;
    return { tree, origin, rows: rows_around(tree, Math.max(origin, 0), most_rows) };
  }, [load.data, example]);
  if (!load.data && !load.error) return <Skeleton rows={4} />;
  if (!view) return <p class="soft">The spans of this trace are not stored any more.</p>;
  const { tree, origin, rows } = view;
  return (
    <ol class="where" aria-label="Where in the trace">
      {rows.map((row, place) => {
        if ("hidden" in row)
          return (
            <li key={`after ${place}`} class="where-hidden">
              {plural(row.hidden, "more span")}
            </li>
          );
        const node = tree.spans[row.index] as TreeSpan;
        return (
          <Row
            key={row.index}
            node={node}
            duration={tree.duration}
            is_origin={row.index === origin}
            href={example_page(project, example, node.span.span_id)}
          />
        );
      })}
    </ol>
  );
}

/** One example at a time; the arrows show the others. */
export function Where({ issue, project }: { issue: Issue; project: Project }) {
  const [chosen, choose] = useState(0);
  const count = issue.examples.length;
  const at = Math.min(chosen, count - 1);
  const example = issue.examples[at];
  if (!example)
    return (
      <Section title="Where">
        <p class="soft">No example trace is recorded for this issue.</p>
      </Section>
    );
  return (
    <Section title="Where">
      <p class="where-head">
        <span>
          Example {at + 1} of {count}, <Time time={example.time} />
        </span>
        <a href={example_page(project, example)} title={example.trace_id}>
          Open trace {example.trace_id.slice(0, 8)}
        </a>
        {count > 1 && (
          <span class="where-steps">
            <button
              type="button"
              class="quiet icon-only"
              aria-label="Previous example"
              disabled={at === 0}
              onClick={() => choose(at - 1)}
            >
              <Icon name="left" />
            </button>
            <button
              type="button"
              class="quiet icon-only"
              aria-label="Next example"
              disabled={at === count - 1}
              onClick={() => choose(at + 1)}
            >
              <Icon name="right" />
            </button>
          </span>
        )}
      </p>
      <Waterfall example={example} project={project} />
    </Section>
  );
}
