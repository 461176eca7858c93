// How well an evaluator agrees with people: kappa with its interval, the confusion matrix, precision and recall of the
// failing label, how often it contradicts itself, what it costs; disagreements first.

import { useState } from "preact/hooks";
import { api, segment } from "../../api";
import type {
  Calibration,
  CalibrationItem,
  CorrectedRateView,
  Evaluator,
  KappaView,
  Project,
  RateView,
} from "../../api_types";
import { duration, money, plural } from "../../lib/format/number";
import { reload, use_load, use_refresh } from "../../load";
import { can, space } from "../../login";
import { Dialog } from "../../parts/dialog";
import { Check, Choice, Field, Form } from "../../parts/form";
import { Icon } from "../../parts/icon";
import { Section } from "../../parts/page";
import { Facts } from "../../parts/slide_over";
import { Data, Empty, Note, State, type Tone } from "../../parts/state";
import { Time } from "../../parts/time";
import { toast_done } from "../../parts/toast";
import { Visible } from "../../parts/visible";
import { queues_page, trace_page } from "../addresses";
import { calibrations_key, calibrations_route, evaluator_route, list_calibrations } from "./data";

const state_tones: Record<string, Tone> = { queued: "waiting", running: "running", done: "done", failed: "failed" };
const share = (rate: number | null) => (rate === null ? "–" : `${(rate * 100).toFixed(1)} %`);
const decimals = (value: number) => value.toFixed(2);

function kappa_text(view: KappaView): string {
  if (view.kappa === null) return "not known";
  return `${decimals(view.kappa)} (95 % interval ${decimals(view.low ?? 0)} to ${decimals(view.high ?? 0)})`;
}

const rate_text = (view: RateView) =>
  view.rate === null ? "–" : `${share(view.rate)} (${share(view.low)} to ${share(view.high)})`;

function Matrix({ calibration }: { calibration: Calibration }) {
  const { labels, matrix } = calibration.result;
  return (
    <div class="table-scroll">
      <table class="confusion">
        <caption class="soft">Rows: people. Columns: the evaluator.</caption>
        <thead>
          <tr>
            <td />
            {labels.map((label) => (
              <th scope="col" key={label}>
                <Visible text={label} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {matrix.map((row, index) => (
            <tr key={labels[index]}>
              <th scope="row">
                <Visible text={labels[index] ?? ""} />
              </th>
              {row.map((count, column) => (
                <td key={labels[column]} class={index === column ? "same" : count > 0 ? "different" : ""}>
                  {count}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Numbers({ calibration }: { calibration: Calibration }) {
  const { result } = calibration;
  const rows: [string, string][] = [
    ["Targets", `${result.all.count} with a label and a verdict, ${result.without_verdict} without a verdict`],
    ["Agreement", share(result.all.agreement)],
    ["Kappa", kappa_text(result.all)],
    ["Kappa, held out", `${kappa_text(result.held_out)}, ${plural(result.held_out.count, "target")}`],
    [`Precision of ${result.failing_label}`, rate_text(result.precision)],
    [`Recall of ${result.failing_label}`, rate_text(result.recall)],
    [
      "Flip rate",
      result.flip_rate === null
        ? "not repeated"
        : `${share(result.flip_rate)}: ${result.flipped} of ${plural(result.repeated, "repeated target")}`,
    ],
    ["Cost per verdict", money(result.mean_cost_nano_usd / 1000)],
    ["Time per verdict", duration(result.mean_ms)],
    [
      "Agreement of people",
      result.human_alpha === null ? "one label per target" : `α = ${decimals(result.human_alpha)}`,
    ],
  ];
  return (
    <>
      {result.warnings.map((warning) => (
        <Note kind="warning" icon="warning" key={warning}>
          {warning}
        </Note>
      ))}
      <div class="side-by-side">
        <dl class="facts">
          {rows.map(([name, value]) => (
            <div key={name}>
              <dt>
                <Visible text={name} />
              </dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
        <Matrix calibration={calibration} />
      </div>
    </>
  );
}

/** What the evaluator lets pass in production, corrected by what people decide. */
function Corrected({ calibration }: { calibration: Calibration }) {
  const load = use_load(`corrected_rate/${calibration.id}`, (signal) =>
    api.get<CorrectedRateView>(
      evaluator_route(calibration.evaluator_id, "corrected_rate"),
      { project: calibration.project_id },
      signal,
    ),
  );
  if (!load.data) return null; // no verdicts of this version in the last seven days
  const { rate, corrected, low, high, evals, labels, people_rate } = load.data;
  return (
    <Section
      title="Pass rate of the last 7 days"
      text={`${plural(evals, "verdict")} of version ${calibration.number}, corrected by ${plural(labels, "label")} of people`}
    >
      <Facts
        rows={[
          ["By the evaluator", share(rate)],
          ["Corrected", `${share(corrected)} (95 % interval ${share(low)} to ${share(high)})`],
          ["By people alone", `${share(people_rate)} of the labelled targets`],
        ]}
      />
    </Section>
  );
}

function verdict_text(item: CalibrationItem): string {
  if (item.verdicts.length === 0) return item.error || "–";
  return item.verdicts
    .map((one) => one?.label ?? (one?.score === null || !one ? "none" : String(one.score)))
    .join(", ");
}

function Items({ calibration }: { calibration: Calibration }) {
  const key = `calibration_items/${calibration.id}`;
  const load = use_load(key, (signal) =>
    api.get<CalibrationItem[]>(
      calibrations_route(calibration.evaluator_id, `${segment(calibration.id)}/items`),
      {},
      signal,
    ),
  );
  const [all, set_all] = useState(false);
  return (
    <Section title="Disagreements first">
      <Data load={load} retry={() => void reload(key)}>
        {(items) => {
          const different = items.filter((item) => !item.agrees);
          const shown = all ? items : different.slice(0, 50);
          return (
            <>
              {different.length === 0 && <p class="soft">The evaluator and people agree on every target.</p>}
              {shown.length > 0 && (
                <div class="table-scroll">
                  <table class="checks">
                    <thead>
                      <tr>
                        <th scope="col">Target</th>
                        <th scope="col">People</th>
                        <th scope="col">Evaluator</th>
                        <th scope="col">Explanation</th>
                      </tr>
                    </thead>
                    <tbody>
                      {shown.map((item) => (
                        <tr key={item.target_id}>
                          <td>
                            {item.trace_id === "" ? (
                              <Visible text={item.target_id} />
                            ) : (
                              <a href={trace_page(calibration.project_id, item.trace_id)}>
                                <code>{item.target_id.slice(0, 12)}</code>
                              </a>
                            )}
                            {item.is_held_out && <span class="tag">held out</span>}
                          </td>
                          <td>
                            <Visible text={item.human} />
                            {item.raters > 1 && <span class="faint"> by {item.raters}</span>}
                          </td>
                          <td>
                            <Visible text={verdict_text(item)} />
                          </td>
                          <td class="soft">
                            <Visible text={item.explanation || item.error} />
                          </td>
                        </tr>
                      ))}
                    </tbody>
                  </table>
                </div>
              )}
              {!all && items.length > shown.length && (
                <p>
                  <button type="button" onClick={() => set_all(true)}>
                    Show all {items.length}
                  </button>
                </p>
              )}
            </>
          );
        }}
      </Data>
    </Section>
  );
}

interface StartProps {
  evaluator: Evaluator;
  on_close: () => void;
}

function StartDialog({ evaluator, on_close }: StartProps) {
  const projects = use_load(`projects/${space.value?.id}`, (signal) =>
    api.list<Project>("/v1/projects", { space: space.value?.id }, signal),
  );
  const [project, set_project] = useState("");
  const [config, set_config] = useState("");
  const [target, set_target] = useState("trace");
  const [canary, set_canary] = useState(false);
  const chosen = project || projects.data?.[0]?.id || "";
  return (
    <Dialog title={`Calibrate ${evaluator.name}`} on_close={on_close}>
      <Form
        title="Calibrate"
        busy_title="Starting…"
        disabled={config.trim() === "" || chosen === ""}
        submit={async () => {
          await api.post(calibrations_route(evaluator.id), { project: chosen, config: config.trim(), target, canary });
          toast_done("Calibration started");
          await reload("calibrations/");
          on_close();
        }}
        on_cancel={on_close}
      >
        <Choice
          label="Project"
          value={chosen}
          on_change={set_project}
          options={(projects.data ?? []).map((one) => ({ value: one.id, title: one.name }))}
        />
        <Field
          label="Human evals"
          hint="Name of the annotation config that people label by."
          placeholder="correct"
          value={config}
          on_input={set_config}
          required
        />
        <Choice
          label="What is labelled"
          value={target}
          on_change={set_target}
          options={[
            { value: "trace", title: "traces" },
            { value: "span", title: "spans" },
            { value: "chat_session", title: "chat sessions" },
          ]}
        />
        <Check
          label="Check for drift every week"
          hint="Up to 50 of these targets are evaluated again; a notice is sent when the verdicts have changed."
          checked={canary}
          on_change={set_canary}
        />
      </Form>
    </Dialog>
  );
}

/** The calibration tab of an evaluator. */
export function CalibrationPart({ evaluator }: { evaluator: Evaluator }) {
  const key = calibrations_key(evaluator.id);
  const load = use_load(key, (signal) => list_calibrations(evaluator.id, signal));
  const [starting, set_starting] = useState(false);
  const moving = (load.data ?? []).some((one) => one.state === "queued" || one.state === "running");
  use_refresh(moving ? key : null, 1500);
  const start = can("eval_write") && (
    <button type="button" onClick={() => set_starting(true)}>
      <Icon name="scale" /> Calibrate…
    </button>
  );
  return (
    <>
      <Data load={load} retry={() => void reload(key)}>
        {(all) => {
          const newest = all.find((one) => one.canary_of === null && one.state === "done");
          if (all.length === 0)
            return (
              <Empty
                icon="scale"
                title="Not calibrated"
                text="Label at least 50 targets of both kinds in a queue, then compare the evaluator with these labels."
                command={`hone evaluator calibrate ${evaluator.name} --project PROJECT --config CONFIG`}
              >
                {start}
                <a href={queues_page()}>Open queues</a>
              </Empty>
            );
          return (
            <>
              <p>{start}</p>
              {newest && (
                <Section
                  title={`Version ${newest.number} against ${newest.config}`}
                  text={`${plural(newest.targets, "target")}, ${plural(newest.repetitions, "verdict")} each, without the cache`}
                >
                  <Numbers calibration={newest} />
                </Section>
              )}
              {newest && <Corrected calibration={newest} />}
              {newest && <Items calibration={newest} />}
              <Section title="History">
                <table class="checks">
                  <thead>
                    <tr>
                      <th scope="col">When</th>
                      <th scope="col">Version</th>
                      <th scope="col">State</th>
                      <th scope="col">Kappa</th>
                      <th scope="col">Drift</th>
                    </tr>
                  </thead>
                  <tbody>
                    {all.map((one) => (
                      <tr key={one.id}>
                        <td>
                          <Time time={one.created_at} /> {one.is_canary && <span class="tag">canary</span>}
                          {one.canary_of !== null && <span class="tag">check</span>}
                        </td>
                        <td>{one.number}</td>
                        <td>
                          <State
                            tone={state_tones[one.state] ?? "off"}
                            text={one.state === "running" ? `running ${one.evaluated}/${one.targets}` : one.state}
                          />
                          {one.reason !== "" && (
                            <p class="soft">
                              <Visible text={one.reason} />
                            </p>
                          )}
                        </td>
                        <td>{one.result.all.kappa === null ? "–" : decimals(one.result.all.kappa)}</td>
                        <td>{one.alarm === "" ? "" : <State tone="failed" text={one.alarm} />}</td>
                      </tr>
                    ))}
                  </tbody>
                </table>
              </Section>
            </>
          );
        }}
      </Data>
      {starting && <StartDialog evaluator={evaluator} on_close={() => set_starting(false)} />}
    </>
  );
}
