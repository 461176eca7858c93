// One-key labels on the page of a trace: + gives the first label of the project's first config, - the last one,
// a 1 to a 9 each of them. Saving again replaces the label.

import { api } from "../../api";
import { use_keys } from "../../keyboard";
import { reload, use_load } from "../../load";
import { can } from "../../login";
import { toast_done, toast_failed } from "../../parts/toast";
import { project_route } from "../projects/data";

interface Config {
  id: string;
  name: string;
  type: string;
  values?: { label: string; score: number | null }[];
}

export function QuickLabels({ project, trace }: { project: { id: string }; trace: string }) {
  const load = use_load(can("eval_write") ? `project_configs/${project.id}` : null, (signal) =>
    api.get<Config[]>(project_route(project, "annotation_configs"), {}, signal),
  );
  const config = (load.data ?? []).find((one) => one.type === "CATEGORICAL" && (one.values ?? []).length > 0);
  const values = config?.values ?? [];
  async function give(index: number): Promise<void> {
    const value = values[index];
    if (!config || !value) return;
    try {
      const written = { target: "trace", target_id: trace, name: config.name, label: value.label, score: value.score };
      await api.post(project_route(project, "evals"), { data: [written] });
      toast_done(`${config.name}: ${value.label}`);
    } catch (error) {
      toast_failed("Not saved", error);
    }
    await reload("evals/");
  }
  const group = "Labels";
  use_keys([
    { keys: "+", title: "Give the first label", group, run: () => void give(0) },
    { keys: "-", title: "Give the last label", group, run: () => void give(values.length - 1) },
    ...[1, 2, 3, 4, 5, 6, 7, 8, 9].map((digit) => ({
      keys: `a ${digit}`,
      title: `Give label ${digit}`,
      group,
      run: () => void give(digit - 1),
    })),
  ]);
  if (!config) return null;
  return (
    <span class="quick-labels" role="group" aria-label={`Label ${config.name}`}>
      <span class="soft">{config.name}</span>
      {values.slice(0, 5).map((value, index) => (
        <button type="button" class="quiet" key={value.label} onClick={() => void give(index)}>
          {value.label} {index === 0 ? <kbd>+</kbd> : index === values.length - 1 ? <kbd>-</kbd> : null}
        </button>
      ))}
    </span>
  );
}
