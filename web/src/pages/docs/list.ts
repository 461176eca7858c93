// The documents that the server brings along, in the groups and the order of the list. The texts are loaded with their
// page.

interface Document {
  name: string;
  title: string;
}

export const document_groups: { title: string; documents: Document[] }[] = [
  {
    title: "Start",
    documents: [
      { name: "install", title: "Install" },
      { name: "traces", title: "Spans, traces and chat sessions" },
      { name: "send-traces", title: "Send traces" },
      { name: "query-traces", title: "Query traces" },
      { name: "explore", title: "Explore, dashboards and SQL" },
      { name: "words", title: "Words" },
    ],
  },
  {
    title: "Find and fix problems",
    documents: [
      { name: "signal", title: "Signal" },
      { name: "sessions", title: "Sessions: start, follow and stop a worker" },
      { name: "review", title: "Review and pull requests" },
      { name: "repositories", title: "Repositories" },
      { name: "automations", title: "Automations" },
      { name: "monitors", title: "Monitors and notices" },
    ],
  },
  {
    title: "Workers",
    documents: [
      { name: "agents", title: "Hone for your own coding agent" },
      { name: "skills", title: "Skills and secrets" },
      { name: "workbench", title: "The workbench: what a repository needs installed" },
      { name: "sandbox", title: "The sandbox" },
      { name: "broker", title: "The broker" },
      { name: "gateway", title: "The gateway" },
      { name: "providers", title: "Where runs work" },
      { name: "managed-agents", title: "Sessions with Claude Managed Agents" },
    ],
  },
  {
    title: "Measure",
    documents: [
      { name: "evaluate", title: "Measure with datasets and experiments" },
      { name: "evaluate-statistics", title: "Statistics of experiments" },
    ],
  },
  {
    title: "Run the server",
    documents: [
      { name: "accounts", title: "Accounts" },
      { name: "permissions", title: "Permissions" },
      { name: "config", title: "Settings of hone serve" },
      { name: "health", title: "Health" },
      { name: "scale", title: "Several servers" },
      { name: "object-store", title: "The object store" },
      { name: "storage", title: "Storage: what the server keeps and removes" },
      { name: "performance", title: "Performance of ingest" },
      { name: "threat-model", title: "Threat model" },
    ],
  },
  {
    title: "Reference",
    documents: [
      { name: "cli", title: "The command line" },
      { name: "compare", title: "Hone beside other tools" },
    ],
  },
];

export const documents: Document[] = document_groups.flatMap((group) => group.documents);

export const document_page = (name: string, section = "") =>
  `/docs/${name}${section === "" ? "" : `?${new URLSearchParams({ section })}`}`;
