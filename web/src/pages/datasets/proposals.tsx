// Examples that workers propose for a dataset: a person accepts them into it or rejects them.

import { useState } from "preact/hooks";
import { api } from "../../api";
import type { DatasetView, Proposal } from "../../api_types";
import { plural } from "../../lib/format/number";
import { reload, use_pages } from "../../load";
import { can, space } from "../../login";
import { use_action } from "../../parts/action";
import { JsonValue } from "../../parts/json_view";
import { Data, Empty } from "../../parts/state";
import { Time } from "../../parts/time";
import { toast_done } from "../../parts/toast";
import { Visible } from "../../parts/visible";
import { run_page, trace_page } from "../addresses";
import { dataset_route, datasets_changed } from "./data";

async function decide(dataset: DatasetView, decision: "accept" | "reject", ids: string[]): Promise<void> {
  await api.post(dataset_route(dataset.id, `proposals/${decision}`), { ids }, { space: space.value?.id });
  await reload("proposals/");
  await datasets_changed();
  toast_done(
    decision === "accept" ? `${plural(ids.length, "example")} added` : `${plural(ids.length, "proposal")} rejected`,
  );
}

interface ProposalViewProps {
  proposal: Proposal;
  chosen: boolean;
  on_choose: (chosen: boolean) => void;
}

function ProposalView({ proposal, chosen, on_choose }: ProposalViewProps) {
  const title = `Select the proposal ${proposal.reason || proposal.id}`;
  return (
    <li class="proposal">
      {can("dataset_write") && (
        <input
          type="checkbox"
          aria-label={title}
          checked={chosen}
          onChange={(event) => on_choose(event.currentTarget.checked)}
        />
      )}
      <div class="proposal-body">
        <p>
          <b>
            <Visible text={proposal.reason || "No reason given"} />
          </b>{" "}
          <span class="soft">
            <Time time={proposal.created_at} />
            {proposal.run_id && (
              <>
                {" · "}
                <a href={run_page(proposal.run_id)}>run</a>
              </>
            )}
            {proposal.source_project && proposal.source_trace && (
              <>
                {" · "}
                <a href={trace_page(proposal.source_project, proposal.source_trace)}>trace</a>
              </>
            )}
          </span>
        </p>
        <div class="proposal-parts">
          <div>
            <p class="soft">Input</p>
            <JsonValue value={proposal.input} />
          </div>
          <div>
            <p class="soft">Reference output</p>
            <JsonValue value={proposal.output} />
          </div>
        </div>
      </div>
    </li>
  );
}

function ProposalList({ dataset, proposals }: { dataset: DatasetView; proposals: Proposal[] }) {
  const [left_out, set_left_out] = useState<ReadonlySet<string>>(new Set());
  const { busy, attempt } = use_action();
  const chosen = proposals.filter((one) => !left_out.has(one.id)).map((one) => one.id);
  const choose = (id: string, is_chosen: boolean) => {
    const next = new Set(left_out);
    if (is_chosen) next.delete(id);
    else next.add(id);
    set_left_out(next);
  };
  return (
    <>
      {can("dataset_write") && (
        <p class="button-row">
          <button
            type="button"
            class="primary"
            disabled={busy || chosen.length === 0}
            onClick={attempt("Could not add the examples", () => decide(dataset, "accept", chosen))}
          >
            Add {plural(chosen.length, "example")}
          </button>
          <button
            type="button"
            disabled={busy || chosen.length === 0}
            onClick={attempt("Could not reject the proposals", () => decide(dataset, "reject", chosen))}
          >
            Reject {chosen.length}
          </button>
        </p>
      )}
      <ol class="proposals" aria-label="Proposals">
        {proposals.map((proposal) => (
          <ProposalView
            key={proposal.id}
            proposal={proposal}
            chosen={!left_out.has(proposal.id)}
            on_choose={(is_chosen) => choose(proposal.id, is_chosen)}
          />
        ))}
      </ol>
    </>
  );
}

export function Proposals({ dataset }: { dataset: DatasetView }) {
  const load = use_pages<Proposal>(`proposals/${dataset.id}`, (cursor, signal) =>
    api.page<Proposal>(dataset_route(dataset.id, "proposals"), { space: space.value?.id, cursor, limit: 100 }, signal),
  );
  return (
    <Data load={load} retry={() => void reload("proposals/")}>
      {(proposals) =>
        proposals.length === 0 ? (
          <Empty
            icon="agent"
            title="No proposals"
            text="Workers propose examples with the tool propose_examples. They wait here until a person adds or rejects them."
          />
        ) : (
          <>
            <ProposalList key={proposals.map((one) => one.id).join()} dataset={dataset} proposals={proposals} />
            {load.more && (
              <button type="button" onClick={load.more}>
                More
              </button>
            )}
          </>
        )
      }
    </Data>
  );
}
