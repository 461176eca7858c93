// The dashboards of a project: charts that people pinned, on one time range.

import { useState } from "preact/hooks";
import type { Project } from "../../api_types";
import type { Params } from "../../lib/route";
import { read_chart } from "../../lib/view/explore";
import { reload } from "../../load";
import { can } from "../../login";
import { Confirm } from "../../parts/confirm";
import { Dialog } from "../../parts/dialog";
import { Field, Form } from "../../parts/form";
import { PageHeader } from "../../parts/page";
import { Data, Empty } from "../../parts/state";
import { toast_done } from "../../parts/toast";
import { query } from "../../router";
import { dashboards_page, explore_page } from "../addresses";
import { use_project } from "../projects/data";
import { ExploreChart } from "./chart";
import { remove_chart, type SavedChart, save_chart, saved_chart_name, use_saved_charts } from "./data";

function Rename({ project, chart, on_close }: { project: Project; chart: SavedChart; on_close: () => void }) {
  const [title, set_title] = useState(chart.title);
  const [board, set_board] = useState(chart.board);
  const name = saved_chart_name(board.trim(), title.trim());
  return (
    <Dialog title="Rename or move the chart" on_close={on_close}>
      <Form
        title="Save"
        on_cancel={on_close}
        disabled={title.trim() === "" || board.trim() === "" || board.includes("/") || name.length > 100}
        submit={async () => {
          if (name !== chart.name) {
            await save_chart(project, name, chart.query);
            await remove_chart(project, chart.name);
          }
          toast_done("Chart saved");
          on_close();
        }}
      >
        <Field label="Title" value={title} on_input={set_title} max_length={90} first required />
        <Field label="Dashboard" value={board} on_input={set_board} max_length={60} required />
      </Form>
    </Dialog>
  );
}

function Board({ project, charts }: { project: Project; charts: SavedChart[] }) {
  const [renamed, set_renamed] = useState<SavedChart | null>(null);
  const [removed, set_removed] = useState<SavedChart | null>(null);
  const more = (chart: SavedChart) =>
    can("project_update")
      ? [
          { title: "Rename or move…", divided: true, run: () => set_renamed(chart) },
          {
            title: "Remove from the dashboard",
            icon: "trash" as const,
            dangerous: true,
            run: () => set_removed(chart),
          },
        ]
      : [];
  return (
    <>
      <div class="charts">
        {charts.map((chart) => (
          <ExploreChart
            key={chart.name}
            project={project}
            chart={read_chart(new URLSearchParams(chart.query))}
            title={chart.title}
            height={190}
            more={more(chart)}
          />
        ))}
      </div>
      {renamed && <Rename project={project} chart={renamed} on_close={() => set_renamed(null)} />}
      {removed && (
        <Confirm
          title={`Remove ${removed.title}?`}
          consequence={`It disappears from the dashboard ${removed.board} for all members of ${project.name}. Traces are not changed.`}
          action="Remove chart"
          run={async () => {
            await remove_chart(project, removed.name);
            toast_done("Chart removed");
          }}
          on_close={() => set_removed(null)}
        />
      )}
    </>
  );
}

export function Dashboards({ params }: { params: Params }) {
  const project = use_project(params);
  const load = use_saved_charts(project.data);
  const name = params.project ?? "";
  const boards = [...new Set((load.data ?? []).map((chart) => chart.board))];
  const wanted = query.value.get("board");
  const board = wanted !== null && boards.includes(wanted) ? wanted : (boards[0] ?? "");
  return (
    <div class="page">
      <PageHeader title={board === "" ? "Dashboards" : board} text="Charts that were pinned here, on one time range.">
        {boards.length > 0 && (
          <a class="button" href={explore_page(name)}>
            Open Explore
          </a>
        )}
      </PageHeader>
      <Data load={project} retry={() => void reload("project/")}>
        {(one) => (
          <Data load={load} retry={() => void reload("views/")}>
            {(charts) =>
              charts.length === 0 ? (
                <Empty
                  icon="board"
                  title="No dashboards yet"
                  text="A dashboard has charts of this project on one time range. Open Explore, choose a chart, and pin it: the first chart makes the dashboard."
                >
                  <a class="button primary" href={explore_page(name)}>
                    Open Explore
                  </a>
                </Empty>
              ) : (
                <>
                  {boards.length > 1 && (
                    <nav class="ready-charts" aria-label="Dashboards">
                      {boards.map((title) => (
                        <a
                          key={title}
                          href={dashboards_page(name, title)}
                          aria-current={title === board ? "page" : undefined}
                        >
                          {title}
                        </a>
                      ))}
                    </nav>
                  )}
                  <Board project={one} charts={charts.filter((chart) => chart.board === board)} />
                </>
              )
            }
          </Data>
        )}
      </Data>
    </div>
  );
}
