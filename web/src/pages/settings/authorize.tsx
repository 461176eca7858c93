// An outside agent sent the browser here: the person lets it in, or denies it. Nothing in the address is trusted: the
// server checks all of it, and only the server's response decides where the browser goes.

import { useState } from "preact/hooks";
import { api } from "../../api";
import type { AgentDecision, AuthorizationRequest, ConsentView } from "../../api_types";
import { reload, use_load } from "../../load";
import { me } from "../../login";
import { Choice, Form } from "../../parts/form";
import { PageHeader } from "../../parts/page";
import { Data, Note } from "../../parts/state";
import { toast_failed } from "../../parts/toast";
import { query } from "../../router";

const names = [
  "client_id",
  "redirect_uri",
  "response_type",
  "code_challenge",
  "code_challenge_method",
  "scope",
  "state",
  "resource",
] as const;

function request_of(parameters: URLSearchParams): AuthorizationRequest {
  return Object.fromEntries(names.map((name) => [name, parameters.get(name) ?? ""])) as unknown as AuthorizationRequest;
}

async function decide(space: string, allow: boolean): Promise<void> {
  const body = { request: request_of(query.value), space, allow };
  const decided = await api.post<AgentDecision>("/v1/agent_request", body);
  window.location.assign(decided.redirect_to);
}

function Decision({ consent }: { consent: ConsentView }) {
  const spaces = me.value?.spaces ?? [];
  const [space, set_space] = useState(spaces[0]?.id ?? "");
  return (
    <>
      <Note kind="warning" icon="shield">
        Allow it only if you started this yourself. Anyone can choose the name of an agent; this one continues at{" "}
        <b>{consent.redirect_host}</b>.
      </Note>
      <p class="page-text">
        It gets your own rights in one space, through the MCP endpoint alone, and of them only:{" "}
        {consent.scopes.map((scope) => (
          <code key={scope}>{scope} </code>
        ))}
      </p>
      <Form
        title="Allow"
        busy_title="Allowing…"
        disabled={space === ""}
        submit={() => decide(space, true)}
        on_cancel={() => void decide(space, false).catch((error) => toast_failed("Could not deny the agent", error))}
      >
        <Choice
          label="Space"
          value={space}
          on_change={set_space}
          options={spaces.map((each) => ({ value: each.id, title: each.name }))}
        />
      </Form>
    </>
  );
}

export function Authorize() {
  const key = `agent_request/${query.value.toString()}`;
  const load = use_load(key, (signal) =>
    api.get<ConsentView>("/v1/agent_request", { ...request_of(query.value) } as Record<string, string>, signal),
  );
  return (
    <div class="page narrow">
      <PageHeader title={load.data ? `Let ${load.data.client_name} in?` : "Let an agent in?"} />
      <Data load={load} retry={() => void reload(key)}>
        {(consent) => <Decision consent={consent} />}
      </Data>
    </div>
  );
}
