// A span's kind as an icon with a name; the colour repeats the meaning of the icon.

import { Icon, type IconName } from "../../parts/icon";

const icons: Record<string, IconName> = {
  llm: "spark",
  chain: "chain",
  tool: "tool",
  retriever: "search",
  embedding: "vector",
  agent: "agent",
  reranker: "rank",
  guardrail: "shield",
  evaluator: "check",
  unknown: "dot",
};

export function SpanKind({ kind }: { kind: string }) {
  return (
    <span class={`kind kind-${kind}`} title={kind === "unknown" ? "span" : kind}>
      <Icon name={icons[kind] ?? "dot"} />
      <span class="off-screen">{kind === "unknown" ? "span" : kind} </span>
    </span>
  );
}
