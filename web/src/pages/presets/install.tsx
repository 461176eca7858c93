// Installing an agent on the server: a button, the steps while it works, its result or why it failed.

import { api, segment } from "../../api";
import type { HarnessInstallation, HarnessView } from "../../api_types";
import { duration } from "../../lib/format/number";
import { to_milliseconds } from "../../lib/format/time";
import { reload, use_load, use_refresh } from "../../load";
import { can_install } from "../../login";
import { use_action } from "../../parts/action";
import { CodeBlock } from "../../parts/copy";
import { Icon } from "../../parts/icon";
import { Note, State, type Tone } from "../../parts/state";
import { harness_command, use_data_directory } from "./install_command";

const route = "/v1/harness_installations";
const refresh = 1000;

/** The last installation of each agent; none for users who cannot install. */
export function use_installations(): HarnessInstallation[] {
  const load = use_load(can_install("user_manage") ? "harness_installations" : null, (signal) =>
    api.get<HarnessInstallation[]>(route, {}, signal),
  );
  const all = load.data ?? [];
  const running = all.some((one) => one.state === "running");
  use_refresh(running ? "harness_installations" : null, refresh);
  // The agent is ready as soon as its installation has succeeded.
  const done = all
    .filter((one) => one.state === "succeeded")
    .map((one) => one.harness)
    .join();
  use_load(done === "" ? null : `harness_installed/${done}`, async () => {
    await Promise.all([reload("harnesses"), reload("connect/")]);
    return done;
  });
  return all;
}

const tones: Record<HarnessInstallation["state"], Tone> = {
  running: "running",
  succeeded: "done",
  failed: "failed",
  cancelled: "off",
};

const words: Record<HarnessInstallation["state"], string> = {
  running: "installing",
  succeeded: "installed",
  failed: "not installed",
  cancelled: "cancelled",
};

function Steps({ installation }: { installation: HarnessInstallation }) {
  const running = installation.state === "running";
  const last = installation.steps.length - 1;
  return (
    <ol class="install-steps">
      {installation.steps.map((step, index) => (
        <li key={step.time + step.text} class={running && index === last ? "under-way" : undefined}>
          <Icon
            name={
              running && index === last
                ? "rotate"
                : index === last && !running && installation.error
                  ? "warning"
                  : "check"
            }
          />{" "}
          {step.text}
        </li>
      ))}
    </ol>
  );
}

/** Progress and outcome of one installation. */
export function Installation({ installation, title }: { installation: HarnessInstallation; title: string }) {
  const { busy, attempt } = use_action();
  const end = installation.ended_at ? to_milliseconds(installation.ended_at) : Date.now();
  const took = duration(Math.max(0, end - to_milliseconds(installation.started_at)));
  return (
    <section class="installation" aria-label={`Installation of ${title}`}>
      <p class="installation-head" role="status">
        <State tone={tones[installation.state]} text={words[installation.state]} />
        <b>{title}</b> {installation.version !== "" && <code>{installation.version}</code>}
        <span class="faint">{took}</span>
        {installation.state === "running" && (
          <button
            type="button"
            class="quiet"
            disabled={busy}
            onClick={attempt("Could not cancel the installation", async () => {
              await api.delete(`${route}/${segment(installation.harness)}`);
              await reload("harness_installations");
            })}
          >
            Cancel
          </button>
        )}
      </p>
      <Steps installation={installation} />
      {installation.error !== "" && (
        <Note kind="failed" icon="warning">
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling block must be reachable by keyboard */}
          <pre class="installation-error" tabIndex={0}>
            {installation.error}
          </pre>
        </Note>
      )}
    </section>
  );
}

interface InstallProps {
  harness: HarnessView;
  /** The main action of its page. */
  primary?: boolean;
}

/** Starts an installation. One runs at a time. */
export function InstallButton({ harness, primary = false }: InstallProps) {
  const installations = use_installations();
  const { busy, attempt } = use_action();
  const own = installations.find((one) => one.harness === harness.name);
  const running = installations.find((one) => one.state === "running");
  const verb = harness.version !== null ? "Upgrade" : own?.state === "failed" ? "Try again" : "Install";
  return (
    <button
      type="button"
      class={primary ? "primary" : undefined}
      aria-label={`${verb} ${harness.title}`}
      disabled={busy || running !== undefined}
      title={
        running ? `${running.harness} is being installed` : harness.version ? "Installs the newest version" : undefined
      }
      onClick={attempt(`Could not install ${harness.title}`, async () => {
        await api.post<HarnessInstallation>(route, { harness: harness.name });
        await reload("harness_installations");
      })}
    >
      {primary ? `${verb} ${harness.title}` : verb}
    </button>
  );
}

/** Installs the agent, with its progress; or the command, for users who cannot. */
export function InstallAgent({ harness, primary }: InstallProps) {
  const directory = use_data_directory();
  const own = use_installations().find((one) => one.harness === harness.name);
  if (!can_install("user_manage"))
    return <CodeBlock label="Install command" text={harness_command("install", harness.name, directory)} />;
  return (
    <>
      {own && <Installation installation={own} title={harness.title} />}
      {own?.state !== "running" && <InstallButton harness={harness} primary={primary} />}
    </>
  );
}
