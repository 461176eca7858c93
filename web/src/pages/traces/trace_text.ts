// A trace as Markdown, for a bug report: the tree, then how its spans failed. Texts of the application stay out, because reports are
// read by more people than traces.

import { plural, span_duration } from "../../lib/format/number";
import type { SpanTree } from "../../lib/view/span_tree";

const most_lines = 200;

function plain(text: string): string {
  return text.replace(/[\r\n`]+/g, " ").slice(0, 300);
}

export function trace_as_markdown(tree: SpanTree, address: string): string {
  const root = tree.spans[0]?.span;
  if (!root) return "";
  const lines = [
    `### ${plain(root.name)}`,
    "",
    `Trace [\`${root.trace_id}\`](${address}): ${root.start_time}, ${span_duration(tree.duration)}, ` +
      `${plural(tree.spans.length, "span")}, ${plural(tree.errors, "error")}`,
    "",
    "```",
  ];
  for (const { span, depth } of tree.spans.slice(0, most_lines)) {
    const facts = [span_duration(span.duration_ns), span.model, span.status === "error" ? "FAILED" : ""];
    lines.push(`${"  ".repeat(depth)}${plain(span.name)} (${facts.filter((fact) => fact !== "").join(", ")})`);
  }
  if (tree.spans.length > most_lines) lines.push(`… ${tree.spans.length - most_lines} more spans`);
  lines.push("```");
  const failed = tree.spans.filter(({ span }) => span.status === "error").slice(0, 20);
  if (failed.length > 0) lines.push("", "| failed span | message |", "|---|---|");
  for (const { span } of failed) {
    const message = [span.exception_type, span.status_message].filter((part) => part !== "").join(": ");
    lines.push(`| ${plain(span.name)} | ${plain(message).replaceAll("|", "\\|")} |`);
  }
  return `${lines.join("\n")}\n`;
}
