// "Pin to a dashboard": a chart under a title on a dashboard that exists or is made with it.

import { useId, useState } from "preact/hooks";
import type { Project } from "../../api_types";
import { type ChartSettings, write_chart } from "../../lib/view/explore";
import { Dialog } from "../../parts/dialog";
import { Field, Form } from "../../parts/form";
import { toast_done } from "../../parts/toast";
import { save_chart, saved_chart_name, use_saved_charts } from "./data";

interface PinProps {
  project: Project;
  chart: ChartSettings;
  title: string;
  on_close: () => void;
}

export function PinDialog({ project, chart, title, on_close }: PinProps) {
  const charts = use_saved_charts(project).data ?? [];
  const boards = [...new Set(charts.map((one) => one.board))];
  const [chosen, set_board] = useState<string | null>(null);
  const [name, set_name] = useState(title);
  const list = useId();
  const board = chosen ?? boards[boards.length - 1] ?? "Overview";
  const whole = saved_chart_name(board.trim(), name.trim());
  const replaces = charts.some((one) => one.name === whole);
  const slashed = board.includes("/");
  return (
    <Dialog title="Pin to a dashboard" on_close={on_close}>
      <Form
        title={replaces ? "Replace" : "Pin"}
        disabled={board.trim() === "" || name.trim() === "" || whole.length > 100 || slashed}
        on_cancel={on_close}
        submit={async () => {
          await save_chart(project, whole, write_chart(chart));
          toast_done(`Pinned to ${board.trim()}`);
          on_close();
        }}
      >
        <Field
          label="Dashboard"
          value={board}
          on_input={set_board}
          max_length={60}
          list={list}
          hint={
            slashed ? "A name without a slash." : "One that exists, or a new name. All members of the project see it."
          }
          required
        />
        <datalist id={list}>
          {boards.map((one) => (
            <option key={one} value={one} />
          ))}
        </datalist>
        <Field
          label="Title"
          value={name}
          on_input={set_name}
          max_length={90}
          hint={replaces ? "A chart with this title is on the dashboard and is replaced." : undefined}
          first
          required
        />
      </Form>
    </Dialog>
  );
}
