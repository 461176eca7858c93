// Everything that waits for a review, oldest first: branches, labels and other artifacts that require one. Enter opens,
// x selects; everything except branches can be approved here.

import { api } from "../../api";
import type { ReviewItem, ReviewState } from "../../api_types";
import { capital } from "../../lib/sentences/metric";
import { reload, use_load, use_refresh } from "../../load";
import { can, space } from "../../login";
import { Icon } from "../../parts/icon";
import { PageHeader } from "../../parts/page";
import { SearchField } from "../../parts/search_field";
import { Data, Empty, State } from "../../parts/state";
import { type Column, Table } from "../../parts/table";
import { Time } from "../../parts/time";
import { toast_done, toast_failed } from "../../parts/toast";
import { Visible } from "../../parts/visible";
import { navigate, query, set_query } from "../../router";
import { review_page } from "../addresses";
import { project_name, use_projects } from "../projects/data";
import {
  is_branch,
  kind_icons,
  list_reviews,
  review_route,
  review_title,
  review_tones,
  review_words,
  reviews_changed,
} from "./data";
import { Marks } from "./marks";

function columns(project_of: (id: string) => string): Column<ReviewItem>[] {
  return [
    {
      id: "name",
      title: "Item",
      sort: review_title,
      cell: (item) => (
        <span class="inbox-name">
          <Icon name={kind_icons[item.artifact.kind] ?? "dot"} />
          <a class="cell-link" href={review_page(item.artifact.id)} title={item.artifact.summary}>
            <Visible text={review_title(item)} />
          </a>
        </span>
      ),
    },
    {
      id: "kind",
      title: "Kind",
      width: "110px",
      wide: true,
      sort: (item) => item.artifact.kind,
      cell: (item) => item.artifact.kind,
    },
    {
      id: "where",
      title: "Project",
      width: "150px",
      wide: true,
      sort: (item) => item.repo_name ?? project_of(item.artifact.project_id),
      cell: (item) => item.repo_name ?? project_of(item.artifact.project_id),
    },
    { id: "marks", title: "Summary", wide: true, cell: (item) => <Marks item={item} /> },
    {
      id: "review",
      title: "Review",
      width: "150px",
      extra: true,
      sort: (item) => item.artifact.review,
      cell: (item) => <State tone={review_tones[item.artifact.review]} text={review_words[item.artifact.review]} />,
    },
    {
      id: "created_at",
      title: "Created",
      width: "96px",
      align: "right",
      sort: (item) => item.artifact.created_at,
      cell: (item) => <Time time={item.artifact.created_at} />,
    },
  ];
}

/** Branches are reviewed on their own page; other items can be approved together. */
async function approve(items: ReviewItem[]): Promise<void> {
  let count = 0;
  try {
    for (const item of items) {
      await api.post(`${review_route(item.artifact.id)}/approve`, { digest: item.artifact.digest });
      count++;
    }
  } catch (error) {
    toast_failed(`Could not approve all (${count} of ${items.length} done)`, error);
  }
  if (count > 0) toast_done(`${count} approved`);
  await reviews_changed();
}

function SelectionActions({ items, clear }: { items: ReviewItem[]; clear: () => void }) {
  const plain = items.filter((item) => !is_branch(item.artifact) && item.artifact.review === "pending");
  return (
    <button
      type="button"
      class="primary"
      disabled={plain.length === 0}
      title={plain.length < items.length ? "Branches are approved on their own page" : undefined}
      onClick={() => void approve(plain).then(clear)}
    >
      Approve {plain.length}
    </button>
  );
}

const states: { id: ReviewState; title: string }[] = [
  { id: "pending", title: "Pending" },
  { id: "changes_requested", title: "Changes requested" },
  { id: "approved", title: "Approved" },
  { id: "rejected", title: "Rejected" },
];

const empty_texts: Record<ReviewState, { title: string; text: string }> = {
  pending: {
    title: "No pending reviews",
    text: "Branches that workers push, labels, and other artifacts that require a review appear here.",
  },
  changes_requested: {
    title: "No requested changes",
    text: "Reviews with requested changes are listed here until the worker pushes again.",
  },
  approved: { title: "No approved reviews", text: "Approved reviews and their pull requests appear here." },
  rejected: { title: "No rejected reviews", text: "Rejected reviews appear here." },
};

const refresh = 10_000;

export function Inbox() {
  use_refresh("reviews/", refresh);
  const state = states.find((known) => known.id === query.value.get("review"))?.id ?? "pending";
  const kind = query.value.get("kind") ?? "";
  const text = (query.value.get("q") ?? "").toLowerCase();
  const projects = use_projects().data;
  const load = use_load(`reviews/${state}/${space.value?.id}`, (signal) => list_reviews({ review: state }, signal));
  const shown = (item: ReviewItem) =>
    (kind === "" || item.artifact.kind === kind) &&
    `${review_title(item)} ${item.repo_name ?? ""} ${item.branch ?? ""}`.toLowerCase().includes(text);
  return (
    <div class="page list-page">
      <PageHeader title="Inbox" text="Branches, labels and other artifacts of workers that need a review." />
      <nav class="tabs" aria-label="Review">
        {states.map((known) => (
          <a
            key={known.id}
            href={`?review=${known.id}`}
            aria-current={known.id === state ? "page" : undefined}
            onClick={(event) => {
              event.preventDefault();
              set_query({ review: known.id === "pending" ? null : known.id });
            }}
          >
            {known.title}
            {known.id === state && load.data ? ` ${load.data.length}` : ""}
          </a>
        ))}
      </nav>
      <Data load={load} retry={() => void reload("reviews/")}>
        {(items) =>
          items.length === 0 ? (
            <Empty icon={state === "pending" ? "check" : "mail"} {...empty_texts[state]} />
          ) : (
            <Table
              label="Reviews"
              rows={items.filter(shown)}
              columns={columns((id) => project_name(projects, id))}
              row_id={(item) => item.artifact.id}
              row_title={review_title}
              order="created_at"
              foot={items.some(shown) ? null : <p class="table-note">No rows match the filter.</p>}
              on_open={(item) => navigate(review_page(item.artifact.id))}
              selection_actions={
                state === "pending" && can("artifact_review")
                  ? (chosen, clear) => <SelectionActions items={chosen} clear={clear} />
                  : undefined
              }
              bar={
                <>
                  <SearchField label="Filter reviews" />
                  {["", "branch", "labels", "investigation", "file"].map((name) => (
                    <button
                      type="button"
                      class="quiet"
                      key={name}
                      aria-pressed={kind === name}
                      onClick={() => set_query({ kind: name || null }, { replace: true })}
                    >
                      {name === "" ? "All" : capital(name)}
                    </button>
                  ))}
                </>
              }
            />
          )
        }
      </Data>
    </div>
  );
}
