// What pairwise evaluators prefer: wins, losses and ties, the test, and whether the verdict depends on the order.

import { useState } from "preact/hooks";
import { api } from "../../api";
import type { Comparison, PairEval, PairSummary, PairTask } from "../../api_types";
import { plural } from "../../lib/format/number";
import { bias_sentence, pair_sentence } from "../../lib/sentences/comparison";
import { reload, use_load, use_refresh } from "../../load";
import { can, me, space } from "../../login";
import { use_action } from "../../parts/action";
import { Section } from "../../parts/page";
import { Data, Note, State, type Tone } from "../../parts/state";
import { list_evaluators } from "../evaluators/data";
import { Verdict } from "./compare_metrics";

const poll_interval = 2000;
const is_working = (state: string) => state === "queued" || state === "running";

const winners: Record<string, { tone: Tone; text: string }> = {
  base: { tone: "failed", text: "base is better" },
  other: { tone: "done", text: "other is better" },
  tie: { tone: "off", text: "tie" },
  inconsistent: { tone: "waiting", text: "changes with the order" },
  undecided: { tone: "off", text: "undecided" },
};

export function Winner({ winner }: { winner: string | null | undefined }) {
  const known = winner ? winners[winner] : undefined;
  return known ? <State {...known} /> : <span class="faint">–</span>;
}

const share = (value: number | null) => (value === null ? "–" : `${Math.round(value * 100)} %`);

function Row({ pair }: { pair: PairSummary }) {
  const { busy, attempt } = use_action();
  const act = (what: "stop" | "resume") =>
    attempt(`Could not ${what} the comparison`, async () => {
      await api.post<PairTask>(`/v1/pair_tasks/${pair.task_id}/${what}`, {});
      await reload("comparison/");
    });
  return (
    <tr>
      <th scope="row">
        {pair.name}@{pair.version}
      </th>
      <td class="right">{pair.wins}</td>
      <td class="right">{pair.losses}</td>
      <td class="right">{pair.ties}</td>
      <td class="right">{pair.inconsistent}</td>
      <td class="right wide-only" title={`p = ${pair.p}, exact sign test`}>
        {pair.q < 0.001 ? "< 0.001" : pair.q.toFixed(3)}
      </td>
      <td class="right wide-only" title={bias_sentence(pair)}>
        {share(pair.flip_rate)}
      </td>
      <td class="right wide-only" title={`${plural(pair.people.count, "pair")} with labels of people`}>
        {pair.people.kappa === null ? "–" : pair.people.kappa.toFixed(2)}
      </td>
      <td>
        {is_working(pair.state) ? (
          <State tone="running" text={`${pair.pairs} of ${plural(pair.expected_pairs, "pair")}`} />
        ) : (
          <Verdict metric={pair} />
        )}{" "}
        {can("experiment_write") && (is_working(pair.state) || pair.pairs < pair.expected_pairs) && (
          <button type="button" class="quiet" disabled={busy} onClick={act(is_working(pair.state) ? "stop" : "resume")}>
            {is_working(pair.state) ? "Stop" : "Resume"}
          </button>
        )}
      </td>
    </tr>
  );
}

function Start({ base, other }: { base: string; other: string }) {
  const [chosen, set_chosen] = useState("");
  const { busy, attempt } = use_action();
  const load = use_load(`judges_of_pairs/${space.value?.id}`, list_evaluators);
  const evaluators = (load.data ?? []).filter((one) => one.pairwise);
  if (!can("experiment_write") || !can("run_start")) return null;
  if (evaluators.length === 0)
    return (
      <p class="soft">
        A model can compare both outputs of each example: create an evaluator from the built-in <code>pairwise</code>.
      </p>
    );
  const evaluator = chosen || (evaluators[0]?.id ?? "");
  return (
    <div class="compare-picks">
      <label class="bar-choice">
        <span>Compare outputs with</span>
        <select value={evaluator} onChange={(event) => set_chosen(event.currentTarget.value)}>
          {evaluators.map((one) => (
            <option key={one.id} value={one.id}>
              {one.name}
            </option>
          ))}
        </select>
      </label>
      <button
        type="button"
        disabled={busy}
        onClick={attempt("Could not start the comparison", async () => {
          await api.post<PairTask>("/v1/pair_tasks", { base, other, evaluator });
          await reload("comparison/");
        })}
      >
        Compare outputs
      </button>
    </div>
  );
}

export function Pairwise({ comparison }: { comparison: Comparison }) {
  const { pairwise } = comparison;
  const working = pairwise.some((pair) => is_working(pair.state));
  use_refresh(working ? "comparison/" : null, poll_interval);
  return (
    <Section title="Outputs side by side">
      {pairwise.length > 0 && (
        <>
          <ul class="sentences" aria-label="Pairwise in words">
            {pairwise.map((pair) => (
              <li key={pair.task_id}>{pair_sentence(pair)}</li>
            ))}
          </ul>
          {pairwise
            .filter((pair) => pair.favours !== "none")
            .map((pair) => (
              <Note key={pair.task_id} kind="failed" icon="warning">
                {bias_sentence(pair)}
              </Note>
            ))}
          {pairwise
            .filter((pair) => pair.reason !== "")
            .map((pair) => (
              <Note key={pair.task_id}>
                {pair.name}: {pair.state.replace("_", " ")}: {pair.reason}
              </Note>
            ))}
          <div class="matrix-scroll">
            <table class="plain-table" aria-label="Pairwise">
              <thead>
                <tr>
                  <th scope="col">Evaluator</th>
                  <th scope="col" class="right">
                    Better
                  </th>
                  <th scope="col" class="right">
                    Worse
                  </th>
                  <th scope="col" class="right">
                    Ties
                  </th>
                  <th scope="col" class="right">
                    Inconsistent
                  </th>
                  <th scope="col" class="right wide-only">
                    q
                  </th>
                  <th scope="col" class="right wide-only">
                    Changes with the order
                  </th>
                  <th scope="col" class="right wide-only">
                    Kappa with people
                  </th>
                  <th scope="col">Verdict</th>
                </tr>
              </thead>
              <tbody>
                {pairwise.map((pair) => (
                  <Row key={pair.task_id} pair={pair} />
                ))}
              </tbody>
            </table>
          </div>
        </>
      )}
      <Start base={comparison.base} other={comparison.other} />
    </Section>
  );
}

/** The verdicts about one example, and what the reader prefers. The comparison may have been started from the other side. */
export function ExamplePairs({ comparison, example }: { comparison: Comparison; example: string }) {
  return (
    <>
      {comparison.pairwise.map((pair) => (
        <ExamplePair key={pair.task_id} pair={pair} base={comparison.base} example={example} />
      ))}
    </>
  );
}

function ExamplePair({ pair, base, example }: { pair: PairSummary; base: string; example: string }) {
  const key = `pairs/${pair.task_id}/${example}`;
  const { busy, attempt } = use_action();
  const load = use_load(key, async (signal) => {
    const [task, pairs] = await Promise.all([
      api.get<PairTask>(`/v1/pair_tasks/${pair.task_id}`, {}, signal),
      api.get<PairEval[]>(`/v1/pair_tasks/${pair.task_id}/pairs`, { example, limit: 1000 }, signal),
    ]);
    return { is_mirrored: task.base !== base, pairs };
  });
  const mine = me.value?.user?.email ?? "";
  return (
    <section aria-label={`Verdicts of ${pair.name}`}>
      <h3>{pair.name}</h3>
      <Data load={load} retry={() => void reload("pairs/")}>
        {({ is_mirrored, pairs }) => {
          const seen = (winner: string | null) =>
            !is_mirrored || (winner !== "base" && winner !== "other") ? winner : winner === "base" ? "other" : "base";
          return (
            <>
              {pairs.map((one) => (
                <div key={one.repetition}>
                  <p>
                    <Winner winner={seen(one.winner)} /> {one.error !== "" && <span class="soft">{one.error}</span>}
                  </p>
                  {one.explanation !== "" && <p class="soft">{one.explanation}</p>}
                  {one.winner === "inconsistent" && <p class="soft">{one.swapped_explanation}</p>}
                  {can("queue_answer") && (
                    <fieldset class="segments">
                      <legend class="visually-hidden">I prefer</legend>
                      {["base", "tie", "other"].map((winner) => (
                        <button
                          type="button"
                          key={winner}
                          disabled={busy}
                          aria-pressed={seen(one.people[mine] ?? null) === winner}
                          onClick={attempt("Could not store what you prefer", async () => {
                            await api.post(`/v1/pair_tasks/${pair.task_id}/labels`, {
                              example,
                              repetition: one.repetition,
                              winner: seen(winner),
                            });
                            await Promise.all([reload(key), reload("comparison/")]);
                          })}
                        >
                          {winner === "tie" ? "I see a tie" : `I prefer ${winner}`}
                        </button>
                      ))}
                    </fieldset>
                  )}
                </div>
              ))}
              {pairs.length === 0 && <p class="faint">Not compared.</p>}
            </>
          );
        }}
      </Data>
    </section>
  );
}
