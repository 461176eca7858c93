// Works through a queue by keyboard: 1 to 9 choose, arrows move between configs, Enter or n saves, s skips, u takes back.

import { useEffect, useRef, useState } from "preact/hooks";
import { type ApiError, api, to_api_error } from "../../api";
import type { NextQueueItem, Queue, QueueConfig, QueueItem } from "../../api_types";
import { use_keys } from "../../keyboard";
import { can } from "../../login";
import { Icon } from "../../parts/icon";
import { Empty, ErrorNote } from "../../parts/state";
import { toast_done, toast_failed } from "../../parts/toast";
import { Visible } from "../../parts/visible";
import { type Choices, choices_of, evals_of } from "./choices";
import { TargetContext } from "./context";
import { queue_route, queues_changed } from "./data";

const digits = [1, 2, 3, 4, 5, 6, 7, 8, 9];

interface ConfigProps {
  config: QueueConfig;
  active: boolean;
  chosen: string;
  choose: (value: string) => void;
  activate: () => void;
}

function ConfigChoice({ config, active, chosen, choose, activate }: ConfigProps) {
  const id = `config-${config.id}`;
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the keys of the page do the same
    // biome-ignore lint/a11y/noStaticElementInteractions: a click anywhere in the group makes it the one the keys act on
    <div class={active ? "queue-config active" : "queue-config"} onClick={activate}>
      <h3 id={id}>
        <Visible text={config.name} /> {active && <span class="tag">keys 1–9</span>}
      </h3>
      {config.description !== "" && <p class="soft">{config.description}</p>}
      {config.type === "categorical" && (
        <div class="queue-labels" role="radiogroup" aria-labelledby={id}>
          {config.labels.map((one, index) => (
            <button
              type="button"
              key={one.label}
              role="radio"
              aria-checked={chosen === one.label}
              class={chosen === one.label ? "primary" : ""}
              onClick={() => choose(one.label)}
            >
              {index < 9 && <kbd>{index + 1}</kbd>} <Visible text={one.label} />
            </button>
          ))}
        </div>
      )}
      {config.type === "continuous" && (
        <input
          type="number"
          aria-labelledby={id}
          step="any"
          min={config.lower_bound ?? undefined}
          max={config.upper_bound ?? undefined}
          value={chosen}
          onFocus={activate}
          onInput={(event) => choose(event.currentTarget.value)}
        />
      )}
      {config.type === "freeform" && (
        <textarea
          aria-labelledby={id}
          rows={3}
          value={chosen}
          onFocus={activate}
          onInput={(event) => choose(event.currentTarget.value)}
        />
      )}
    </div>
  );
}

function Verdicts({ item }: { item: QueueItem }) {
  if (item.verdicts_hidden) return <p class="faint">Verdicts of evaluators are shown after your labels.</p>;
  if (item.verdicts.length === 0) return null;
  return (
    <section aria-label="Verdicts of evaluators">
      <h3>Verdicts of evaluators</h3>
      <ul class="plain-list">
        {item.verdicts.map((verdict, index) => (
          <li key={index}>
            <b>
              <Visible text={verdict.name} />
            </b>{" "}
            <span class="tag">{verdict.label || verdict.score}</span>{" "}
            <span class="soft">
              <Visible text={verdict.explanation} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

interface WorkProps {
  queue: Queue;
  item: QueueItem;
  show: (item: QueueItem | null) => void;
  next: () => Promise<void>;
}

function Work({ queue, item, show, next }: WorkProps) {
  const [choices, set_choices] = useState<Choices>(choices_of(item.my_evals));
  const [reason, set_reason] = useState("");
  const [reference, set_reference] = useState("");
  const [active, set_active] = useState(0);
  const [busy, set_busy] = useState(false);
  const began = useRef(Date.now());
  const { evals, missing } = evals_of(queue.configs, choices, reason);
  const config = queue.configs[active];
  const choose = (name: string, value: string) => set_choices((known) => ({ ...known, [name]: value }));

  async function act(run: () => Promise<void>, failed: string): Promise<void> {
    if (busy) return;
    set_busy(true);
    try {
      await run();
    } catch (error) {
      toast_failed(failed, error);
    }
    set_busy(false);
  }
  const save = () =>
    act(async () => {
      if (missing.length > 0) {
        toast_failed(`Choose ${missing.join(", ")} first`, new Error("nothing was saved"));
        return;
      }
      await api.post<QueueItem>(queue_route(queue.id, `items/${item.id}/evals`), {
        evals,
        ms_spent: Math.min(Date.now() - began.current, 86_400_000),
        ...(reference.trim() === "" ? {} : { reference: parsed(reference) }),
      });
      toast_done("Labelled");
      await next();
    }, "Not saved");
  const skip = () =>
    act(async () => {
      await api.post(queue_route(queue.id, `items/${item.id}/skip`), { reason });
      toast_done("Skipped");
      await next();
    }, "Not skipped");
  const undo = () =>
    act(async () => {
      show(await api.post<QueueItem>(queue_route(queue.id, "undo"), {}));
      toast_done("Taken back");
      await queues_changed();
    }, "Nothing to take back");
  const move = (step: number) => set_active((at) => Math.max(0, Math.min(queue.configs.length - 1, at + step)));
  const group = "Queue";
  use_keys([
    ...digits.map((digit) => ({
      keys: String(digit),
      title: `Choose label ${digit}`,
      group,
      run: () => {
        const label = config?.labels[digit - 1]?.label;
        if (!config || label === undefined) return;
        choose(config.name, label);
        if (active < queue.configs.length - 1) move(1);
      },
    })),
    { keys: "ArrowDown", title: "Next config", group, run: () => move(1) },
    { keys: "ArrowUp", title: "Previous config", group, run: () => move(-1) },
    { keys: "n", title: "Save, and the next item", group, run: () => void save() },
    { keys: "Enter", title: "Save, and the next item", group, run: () => void save() },
    { keys: "s", title: "Skip the item", group, run: () => void skip() },
    { keys: "u", title: "Take back the last item", group, run: () => void undo() },
  ]);
  return (
    <div class="queue-work">
      <div class="queue-context">
        <TargetContext queue={queue} item={item} />
      </div>
      <section class="queue-form" aria-label="Labels">
        {queue.instructions !== "" && <p class="queue-instructions">{queue.instructions}</p>}
        {queue.configs.map((one, index) => (
          <ConfigChoice
            key={one.id}
            config={one}
            active={index === active}
            chosen={choices[one.name] ?? ""}
            choose={(value) => choose(one.name, value)}
            activate={() => set_active(index)}
          />
        ))}
        <details>
          <summary>Reason{queue.dataset !== "" && ", corrected output"}</summary>
          <label>
            Reason
            <textarea rows={2} value={reason} onInput={(event) => set_reason(event.currentTarget.value)} />
          </label>
          {queue.dataset !== "" && (
            <label>
              Correct output, for {queue.dataset}
              <textarea rows={3} value={reference} onInput={(event) => set_reference(event.currentTarget.value)} />
            </label>
          )}
        </details>
        <div class="queue-actions">
          <button type="button" class="primary" disabled={busy || missing.length > 0} onClick={() => void save()}>
            <kbd>n</kbd> Save and next
          </button>
          <button type="button" disabled={busy} onClick={() => void skip()}>
            <kbd>s</kbd> Skip
          </button>
          <button type="button" class="quiet" disabled={busy} onClick={() => void undo()}>
            <kbd>u</kbd> Undo
          </button>
        </div>
        <Verdicts item={item} />
      </section>
    </div>
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

export function LabelItems({ queue }: { queue: Queue }) {
  const [item, set_item] = useState<QueueItem | null | undefined>(undefined);
  const [error, set_error] = useState<ApiError | null>(null);
  async function next(): Promise<void> {
    try {
      const found = await api.post<NextQueueItem>(queue_route(queue.id, "next"), {});
      set_item(found.item);
      set_error(null);
    } catch (failure) {
      set_error(to_api_error(failure));
    }
    await queues_changed();
  }
  useEffect(() => void next(), [queue.id]);
  if (error) return <ErrorNote error={error} retry={() => void next()} />;
  if (item === undefined) return null;
  if (item === null)
    return (
      <Empty
        icon="check"
        title="Nothing left for you"
        text="Every item is labelled, skipped, or reserved by others for the next 15 minutes."
      >
        <p>
          <button type="button" onClick={() => void next()}>
            <Icon name="rotate" /> Check again
          </button>{" "}
          {can("queue_manage") && <FillButton queue={queue} done={next} />}
        </p>
      </Empty>
    );
  return <Work key={`${item.id}/${item.my_state}`} queue={queue} item={item} show={set_item} next={next} />;
}

export function FillButton({ queue, done }: { queue: Queue; done: () => Promise<void> }) {
  const [busy, set_busy] = useState(false);
  return (
    <button
      type="button"
      disabled={busy}
      onClick={async () => {
        set_busy(true);
        try {
          const filled = await api.post<{ added: number; seen: number }>(queue_route(queue.id, "fill"), {
            hours: 168,
            limit: 200,
          });
          toast_done(`${filled.added} added of ${filled.seen} that match`);
          await done();
        } catch (error) {
          toast_failed("Not filled", error);
        }
        set_busy(false);
      }}
    >
      <Icon name="plus" /> Fill from the last week
    </button>
  );
}
