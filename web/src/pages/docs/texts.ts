// The texts of docs/, as they are in the repository.

import accounts from "../../../../docs/accounts.md";
import agents from "../../../../docs/agents.md";
import automations from "../../../../docs/automations.md";
import broker from "../../../../docs/broker.md";
import cli from "../../../../docs/cli.md";
import compare from "../../../../docs/compare.md";
import config from "../../../../docs/config.md";
import evaluate from "../../../../docs/evaluate.md";
import evaluate_statistics from "../../../../docs/evaluate-statistics.md";
import explore from "../../../../docs/explore.md";
import gateway from "../../../../docs/gateway.md";
import health from "../../../../docs/health.md";
import install from "../../../../docs/install.md";
import managed_agents from "../../../../docs/managed-agents.md";
import monitors from "../../../../docs/monitors.md";
import object_store from "../../../../docs/object-store.md";
import performance from "../../../../docs/performance.md";
import permissions from "../../../../docs/permissions.md";
import providers from "../../../../docs/providers.md";
import query_traces from "../../../../docs/query-traces.md";
import repositories from "../../../../docs/repositories.md";
import review from "../../../../docs/review.md";
import sandbox from "../../../../docs/sandbox.md";
import scale from "../../../../docs/scale.md";
import send_traces from "../../../../docs/send-traces.md";
import sessions from "../../../../docs/sessions.md";
import signal from "../../../../docs/signal.md";
import skills from "../../../../docs/skills.md";
import storage from "../../../../docs/storage.md";
import threat_model from "../../../../docs/threat-model.md";
import traces from "../../../../docs/traces.md";
import words from "../../../../docs/words.md";
import workbench from "../../../../docs/workbench.md";

export const texts: Record<string, string> = {
  accounts,
  agents,
  automations,
  broker,
  cli,
  compare,
  config,
  evaluate,
  "evaluate-statistics": evaluate_statistics,
  explore,
  gateway,
  health,
  install,
  "managed-agents": managed_agents,
  monitors,
  "object-store": object_store,
  performance,
  permissions,
  providers,
  "query-traces": query_traces,
  repositories,
  review,
  sandbox,
  scale,
  "send-traces": send_traces,
  sessions,
  signal,
  skills,
  storage,
  "threat-model": threat_model,
  traces,
  words,
  workbench,
};
