// The evaluators of a project: rules that label each new span without a model.

import { useState } from "preact/hooks";
import { api, segment, to_api_error } from "../../api";
import type { Evaluator, EvaluatorChange, EvaluatorPreview, NewEvaluator, Project } from "../../api_types";
import { exact_count, plural, short_count } from "../../lib/format/number";
import type { Params } from "../../lib/route";
import { reload, use_load } from "../../load";
import { can, space } from "../../login";
import { Confirm } from "../../parts/confirm";
import { Dialog } from "../../parts/dialog";
import { Field, Form } from "../../parts/form";
import { Icon } from "../../parts/icon";
import { Menu } from "../../parts/menu";
import { PageHeader } from "../../parts/page";
import { SearchField } from "../../parts/search_field";
import { Data, Empty, State } from "../../parts/state";
import { type Column, Table } from "../../parts/table";
import { Time } from "../../parts/time";
import { toast_done, toast_failed } from "../../parts/toast";
import { navigate, query, set_query } from "../../router";
import { issue_page, traces_page } from "../addresses";
import { use_project } from "../projects/data";

const evaluators_key = (project: Project) => `evaluators/${project.id}`;
const evaluator_route = (id: string) => `/v1/evaluators/${segment(id)}`;

function RuleState({ rule }: { rule: Evaluator }) {
  if (!rule.enabled) return <State tone="off" text="off" />;
  if (rule.problem !== "")
    return (
      <span title={rule.problem}>
        <State tone="failed" text="failed" />
      </span>
    );
  return <State tone="done" text="on" />;
}

/** The matches of the rule in the last day, before it is saved. */
function Preview({ project, body }: { project: Project; body: Record<string, unknown> }) {
  const [seen, set_seen] = useState<EvaluatorPreview | null>(null);
  const [why, set_why] = useState("");
  async function look(): Promise<void> {
    try {
      const route = "/v1/evaluator_preview";
      set_seen(await api.post<EvaluatorPreview>(route, { ...body, project: project.id }, { space: project.space_id }));
      set_why("");
    } catch (error) {
      set_seen(null);
      set_why(to_api_error(error).message);
    }
  }
  return (
    <p class="hint" aria-live="polite">
      <button type="button" class="quiet" onClick={() => void look()}>
        <Icon name="search" /> Test on the last day
      </button>{" "}
      {seen && `${exact_count(seen.matched)} of ${plural(seen.spans, "span")} would match.`}
      {why !== "" && <State tone="failed" text={why} />}
    </p>
  );
}

function RuleDialog({ project, rule, on_close }: { project: Project; rule: Evaluator | null; on_close: () => void }) {
  const [name, set_name] = useState(rule?.name ?? "");
  const [filter, set_filter] = useState(rule?.filter ?? "");
  const [condition, set_condition] = useState(rule?.condition ?? "");
  const [label, set_label] = useState(rule?.label ?? "fail");
  const [other, set_other] = useState(rule?.other_label ?? "pass");
  const [sample, set_sample] = useState(String(rule?.sample_percent ?? 100));
  const body = {
    name: name.trim() || "preview",
    filter: filter.trim(),
    condition: condition.trim(),
    label: label.trim(),
    other_label: other.trim(),
    sample_percent: Number(sample),
  };
  async function save(): Promise<void> {
    const { name: _, ...change } = body;
    if (rule) await api.patch(evaluator_route(rule.id), change satisfies EvaluatorChange);
    else
      await api.post(
        "/v1/evaluators",
        { ...body, name: name.trim(), project: project.id, backfill_hours: 24 } satisfies NewEvaluator,
        { space: space.value?.id },
      );
    await reload(evaluators_key(project));
    toast_done(
      rule ? "Evaluator saved; it applies to new spans" : "Evaluator created; it evaluates the last day and new spans",
    );
    on_close();
  }
  return (
    <Dialog title={rule ? `Edit ${rule.name}` : "New evaluator"} wide on_close={on_close}>
      <Form
        title={rule ? "Save" : "Create evaluator"}
        disabled={(!rule && name.trim() === "") || condition.trim() === "" || label.trim() === ""}
        on_cancel={on_close}
        submit={save}
      >
        {!rule && (
          <Field
            label="Name"
            value={name}
            on_input={set_name}
            placeholder="slow_tools"
            hint="The name of its evals."
            first
          />
        )}
        <Field
          label="Applies to"
          value={filter}
          on_input={set_filter}
          placeholder="kind = tool"
          hint="A filter, as in the list of traces. Empty: every span."
        />
        <Field
          label="Matches when"
          value={condition}
          on_input={set_condition}
          placeholder="status = error or latency > 5s"
        />
        <div class="field-row">
          <Field label="Label for matches" value={label} on_input={set_label} />
          <Field
            label="Label for other spans"
            value={other}
            on_input={set_other}
            hint="Empty: other spans get no eval. With a label, a monitor can watch the share."
          />
          <Field label="Percent of traces" type="number" min={1} value={sample} on_input={set_sample} />
        </div>
        <Preview project={project} body={body} />
      </Form>
    </Dialog>
  );
}

function RuleMenu({ project, rule, on_edit }: { project: Project; rule: Evaluator; on_edit: () => void }) {
  const [deleting, set_deleting] = useState(false);
  async function switch_rule(): Promise<void> {
    try {
      await api.patch(evaluator_route(rule.id), { enabled: !rule.enabled });
      await reload(evaluators_key(project));
      toast_done(rule.enabled ? `${rule.name} turned off` : `${rule.name} turned on`);
    } catch (error) {
      toast_failed("Could not save the evaluator", error);
    }
  }
  return (
    <>
      <Menu
        label={`Actions of ${rule.name}`}
        class="icon-only quiet"
        align="right"
        button={<Icon name="more" />}
        items={[
          { title: "Edit…", icon: "settings", run: on_edit },
          { title: rule.enabled ? "Turn off" : "Turn on", icon: "stop", run: () => void switch_rule() },
          ...(rule.issue_id
            ? [
                {
                  title: "Open issue",
                  icon: "signal" as const,
                  run: () => navigate(issue_page(project.name, rule.issue_id ?? "")),
                },
              ]
            : []),
          { title: "Delete…", icon: "trash", dangerous: true, run: () => set_deleting(true) },
        ]}
      />
      {deleting && (
        <Confirm
          title={`Delete ${rule.name}?`}
          consequence="New spans are no longer evaluated. Existing evals are kept."
          action="Delete evaluator"
          run={async () => {
            await api.delete(evaluator_route(rule.id));
            await reload(evaluators_key(project));
            toast_done(`${rule.name} deleted`);
          }}
          on_close={() => set_deleting(false)}
        />
      )}
    </>
  );
}

const found_by = (rule: Evaluator) => `eval["${rule.name}"].label = "${rule.label}"`;

const columns = (project: Project, edit: (rule: Evaluator) => void): Column<Evaluator>[] => [
  { id: "state", title: "State", width: "84px", cell: (rule) => <RuleState rule={rule} /> },
  {
    id: "name",
    title: "Evaluator",
    width: "22%",
    sort: (rule) => rule.name,
    cell: (rule) => (
      <a class="cell-link" href={traces_page(project.name, found_by(rule), "24h")} title="Show matching traces">
        {rule.name}
      </a>
    ),
  },
  {
    id: "condition",
    title: "Matches when",
    wide: true,
    cell: (rule) => (
      <span class="soft" title={rule.filter === "" ? rule.condition : `${rule.condition} (of ${rule.filter})`}>
        {rule.condition}
      </span>
    ),
  },
  {
    id: "label",
    title: "Labels",
    width: "116px",
    wide: true,
    cell: (rule) => (rule.other_label === "" ? rule.label : `${rule.label} / ${rule.other_label}`),
  },
  {
    id: "matched",
    title: "Matched",
    width: "104px",
    align: "right",
    sort: (rule) => rule.matched,
    cell: (rule) => (
      <span title={`${exact_count(rule.matched)} of ${exact_count(rule.judged)} evaluated spans`}>
        {short_count(rule.matched)} <span class="faint">of {short_count(rule.judged)}</span>
      </span>
    ),
  },
  {
    id: "last",
    title: "Last run",
    width: "96px",
    align: "right",
    wide: true,
    cell: (rule) => <Time time={rule.last_at} missing="not yet" />,
  },
  {
    id: "more",
    title: "",
    width: "44px",
    cell: (rule) => can("eval_write") && <RuleMenu project={project} rule={rule} on_edit={() => edit(rule)} />,
  },
];

function Rules({ project }: { project: Project }) {
  const [edited, set_edited] = useState<Evaluator | null>(null);
  const load = use_load(evaluators_key(project), (signal) =>
    api.list<Evaluator>("/v1/evaluators", { space: project.space_id, project: project.id }, signal),
  );
  const text = (query.value.get("q") ?? "").toLowerCase();
  const creating = query.value.get("new") === "1";
  return (
    <>
      <Data load={load} retry={() => void reload("evaluators/")}>
        {(rules) =>
          rules.length === 0 ? (
            <Empty
              icon="scale"
              title="No evaluators yet"
              text="An evaluator is a rule: spans that match a condition get one label, other spans another. It needs no model, evaluates each new span within a minute, and monitors can watch its labels. You can also create one from an issue of Signal."
              command="hone evaluator create --help"
            />
          ) : (
            <Table
              label="Evaluators"
              rows={rules.filter((rule) => `${rule.name} ${rule.condition}`.toLowerCase().includes(text))}
              columns={columns(project, set_edited)}
              row_id={(rule) => rule.id}
              row_title={(rule) => rule.name}
              order="name"
              on_open={(rule) => navigate(traces_page(project.name, found_by(rule), "24h"))}
              bar={<SearchField label="Filter evaluators" />}
            />
          )
        }
      </Data>
      {(creating || edited) && (
        <RuleDialog
          project={project}
          rule={edited}
          on_close={() => {
            set_edited(null);
            set_query({ new: null }, { replace: true });
          }}
        />
      )}
    </>
  );
}

export function EvaluatorsPage({ params }: { params: Params }) {
  const project = use_project(params);
  return (
    <div class="page list-page">
      <PageHeader title="Evaluators" text="Rules that label every new span, without a model.">
        {can("eval_write") && (
          <button type="button" class="primary" onClick={() => set_query({ new: "1" })}>
            <Icon name="plus" /> Create evaluator
          </button>
        )}
      </PageHeader>
      <Data load={project} retry={() => void reload("project/")}>
        {(known) => <Rules project={known} />}
      </Data>
    </div>
  );
}
