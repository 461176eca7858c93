// What a repository needs before its tests run: package mirrors, setup and the hosts that only setup reaches.

import { Check, Choice, Field } from "../../parts/form";
import { Note } from "../../parts/state";
import { type Draft, package_kinds } from "./draft";

/** Also of a session without a preset. */
export type DependencyDraft = Pick<Draft, "packages" | "setup" | "setup_hosts">;

interface DependencyProps {
  draft: DependencyDraft;
  change: (part: Partial<DependencyDraft>) => void;
}

const titles = { npm: "npm", pypi: "PyPI", debian: "Debian", crates: "crates.io", go: "Go", maven: "Maven" };

const setups = [
  { value: "", title: "nothing" },
  { value: "auto", title: "what the repository names" },
  { value: "script", title: "a script" },
];

export function dependency_summary(draft: DependencyDraft): string {
  const mirrors = draft.packages.map((kind) => titles[kind]).join(", ") || "no packages";
  if (draft.setup === "") return mirrors;
  return `${mirrors}; setup ${draft.setup.trim() === "auto" ? "by the repository" : "by a script"}`;
}

export function DependencyFields({ draft, change }: DependencyProps) {
  const kind = draft.setup === "" || draft.setup === "auto" ? draft.setup : "script";
  return (
    <>
      <fieldset class="field">
        <legend>Packages</legend>
        <p class="soft">Mirrors that can be read by the init script, setup, verification and the worker.</p>
        <div class="field-row">
          {package_kinds.map((name) => (
            <Check
              key={name}
              label={titles[name]}
              checked={draft.packages.includes(name)}
              on_change={(on) =>
                change({ packages: package_kinds.filter((one) => (one === name ? on : draft.packages.includes(one))) })
              }
            />
          ))}
        </div>
      </fieldset>
      <Choice
        label="Setup installs"
        value={kind}
        on_change={(setup) => change({ setup: setup === "script" ? "# a shell script\n" : setup })}
        options={setups}
      />
      {kind === "auto" && (
        <Note>
          The repository's .hone/setup.sh, the postCreateCommand of its devcontainer, or its lock files. It runs in a
          sandbox of its own and reaches only the packages above and the hosts below.
        </Note>
      )}
      {kind === "script" && (
        <Field
          label="Setup script"
          hint="Runs at the top of the repository once for each content of its lock files."
          rows={4}
          value={draft.setup}
          on_input={(setup) => change({ setup: setup === "" ? "\n" : setup })}
        />
      )}
      <Field
        label="Hosts of setup"
        hint="One per line. The init script, setup and verification can reach them, the worker cannot."
        rows={2}
        value={draft.setup_hosts}
        on_input={(setup_hosts) => change({ setup_hosts })}
      />
    </>
  );
}
