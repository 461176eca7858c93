// The documents that the server brings along, in the order of the list. The texts are loaded with their page.

export const documents: { name: string; title: string }[] = [
  { name: "install", title: "Install" },
  { name: "send-traces", title: "Send traces" },
  { name: "query-traces", title: "Query traces" },
  { name: "signal", title: "Signal" },
  { name: "sessions", title: "Sessions: start, follow and stop a worker" },
  { name: "agents", title: "Hone for your own coding agent" },
  { name: "skills", title: "Skills and secrets" },
  { name: "repositories", title: "Repositories" },
  { name: "review", title: "Review and pull requests" },
  { name: "automations", title: "Automations" },
  { name: "monitors", title: "Monitors and notices" },
  { name: "evaluate", title: "Measure with datasets and experiments" },
  { name: "evaluate-statistics", title: "Statistics of experiments" },
  { name: "workbench", title: "The workbench: what a repository needs installed" },
  { name: "sandbox", title: "The sandbox" },
  { name: "broker", title: "The broker" },
  { name: "gateway", title: "The gateway" },
  { name: "accounts", title: "Accounts" },
  { name: "permissions", title: "Permissions" },
  { name: "config", title: "Settings of hone serve" },
  { name: "health", title: "Health" },
  { name: "storage", title: "Storage: what the server keeps and removes" },
  { name: "performance", title: "Performance of ingest" },
  { name: "threat-model", title: "Threat model" },
  { name: "cli", title: "The command line" },
  { name: "words", title: "Words" },
];

export const document_page = (name: string, section = "") =>
  `/docs/${name}${section === "" ? "" : `?${new URLSearchParams({ section })}`}`;
