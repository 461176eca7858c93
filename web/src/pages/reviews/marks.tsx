// The summary of a review in a list: size, flags, verification, comments, pull request.

import type { ReviewItem } from "../../api_types";
import { plural } from "../../lib/format/number";
import { use_load } from "../../load";
import { Counts } from "../../parts/diff/file_list";
import { Icon } from "../../parts/icon";
import { State } from "../../parts/state";
import { list_reviews, pull_request_tones, pull_request_words, verification_tones, verification_words } from "./data";

export function Marks({ item }: { item: ReviewItem }) {
  return (
    <span class="inbox-marks">
      {item.diff_state === "pending" && <State tone="running" text="preparing diff" />}
      {item.diff_state === "failed" && <State tone="failed" text="diff failed" />}
      {item.files !== null && item.diff_state === "ready" && (
        <span class="soft">
          {plural(item.files, "file")}{" "}
          <Counts file={{ additions: item.additions ?? 0, deletions: item.deletions ?? 0 }} />
        </span>
      )}
      {(item.blocking_flags ?? 0) > 0 && <State tone="failed" text={plural(item.blocking_flags ?? 0, "flag")} />}
      {item.verification !== null && item.verification !== "none" && (
        <State tone={verification_tones[item.verification]} text={verification_words[item.verification]} />
      )}
      {item.open_comments > 0 && (
        <span class="tag">
          <Icon name="chat" />
          {item.open_comments}
        </span>
      )}
      {item.pull_request !== null && (
        <State tone={pull_request_tones[item.pull_request]} text={pull_request_words[item.pull_request]} />
      )}
    </span>
  );
}

/** The same on the page of the run that pushed the branch. */
export function BranchMarks({ run, artifact }: { run: string; artifact: string }) {
  const load = use_load(`reviews/run/${run}`, (signal) => list_reviews({ run, kind: "branch" }, signal));
  const item = load.data?.find((candidate) => candidate.artifact.id === artifact);
  return item ? <Marks item={item} /> : null;
}
