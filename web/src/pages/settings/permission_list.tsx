// The caller's own permissions in the space, as check boxes: only these can be given.

import { api } from "../../api";
import type { ServerInfo } from "../../api_types";
import { use_load } from "../../load";
import { can } from "../../login";
import { Check } from "../../parts/form";

interface PermissionListProps {
  chosen: string[];
  on_change: (permissions: string[]) => void;
  /** Chosen in any case, and not shown. */
  without?: string;
}

export function PermissionList({ chosen, on_change, without }: PermissionListProps) {
  const load = use_load("server", (signal) => api.get<ServerInfo>("/v1/server", {}, signal));
  const own =
    load.data?.permissions.filter(
      (permission) => !permission.installation && permission.name !== without && can(permission.name),
    ) ?? [];
  return (
    <fieldset class="scope-list">
      <legend>Permissions</legend>
      {own.map((permission) => (
        <Check
          key={permission.name}
          label={<code>{permission.name}</code>}
          hint={permission.doc}
          checked={chosen.includes(permission.name)}
          on_change={(checked) =>
            on_change(checked ? [...chosen, permission.name] : chosen.filter((name) => name !== permission.name))
          }
        />
      ))}
    </fieldset>
  );
}
