// Checks of the forge on a pull request, one by one, with their logs. All of their text is written by others.

import { useState } from "preact/hooks";
import { api, segment } from "../../api";
import type { CheckLog, PullRequest, PullRequestCheck } from "../../api_types";
import { reload, use_load } from "../../load";
import { can } from "../../login";
import { Section } from "../../parts/page";
import { Data, State } from "../../parts/state";
import { toast_done, toast_failed } from "../../parts/toast";
import { Visible, VisibleLines } from "../../parts/visible";
import { reviews_changed } from "./data";

const tones: Record<string, "done" | "failed" | "running" | "off"> = {
  passed: "done",
  failed: "failed",
  running: "running",
  skipped: "off",
};

/** Read from the forge when the person opens it: the forge may be slow. */
function Log({ pr, check }: { pr: PullRequest; check: PullRequestCheck }) {
  const key = `check_log/${pr.id}/${check.id}`;
  const load = use_load(key, (signal) =>
    api.get<CheckLog>(`/v1/pull_requests/${segment(pr.id)}/checks/${segment(check.id)}/log`, {}, signal),
  );
  return (
    <Data load={load} retry={() => void reload(key)}>
      {(log) => (
        <>
          {log.truncated && <p class="soft">The log is longer: this is its end.</p>}
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling block must be reachable by keyboard */}
          <pre tabIndex={0} role="group" aria-label={`Log of ${check.name}`}>
            <code>{log.text === "" ? "(no output)" : <VisibleLines text={log.text.trimEnd()} />}</code>
          </pre>
        </>
      )}
    </Data>
  );
}

function Check({ pr, check }: { pr: PullRequest; check: PullRequestCheck }) {
  const [shown, set_shown] = useState(false);
  return (
    <li>
      <State tone={tones[check.result] ?? "off"} text={check.result} />{" "}
      {/^https?:\/\//.test(check.url) ? (
        <a href={check.url} target="_blank" rel="noopener noreferrer">
          <Visible text={check.name} />
        </a>
      ) : (
        <b>
          <Visible text={check.name} />
        </b>
      )}{" "}
      <span class="soft">
        <Visible text={check.summary} />
      </span>{" "}
      {check.id !== "" && (
        <button type="button" aria-expanded={shown} onClick={() => set_shown(!shown)}>
          {shown ? "Hide log" : "Show log"}
        </button>
      )}
      {shown && <Log pr={pr} check={check} />}
    </li>
  );
}

async function send(pr: PullRequest): Promise<void> {
  try {
    await api.post(`/v1/pull_requests/${segment(pr.id)}/send_checks`, {});
    toast_done("The session receives the failed checks");
  } catch (error) {
    toast_failed("Could not send the checks", error);
  }
  await reviews_changed();
}

export function Checks({ pr }: { pr: PullRequest | null }) {
  if (!pr || pr.check_results.length === 0) return null;
  return (
    <Section title="Checks of the forge">
      <ul class="plain-list">
        {pr.check_results.map((check, index) => (
          <Check key={`${check.id}/${index}`} pr={pr} check={check} />
        ))}
      </ul>
      {pr.checks === "failed" && pr.state === "open" && can("artifact_review") && (
        <p>
          <button type="button" onClick={() => void send(pr)}>
            Send failed checks to the session
          </button>
        </p>
      )}
    </Section>
  );
}
