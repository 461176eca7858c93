// The permissions of each role, from the server.

import { api } from "../../api";
import type { ServerInfo } from "../../api_types";
import { reload, use_load } from "../../load";
import { can, space } from "../../login";
import { Icon } from "../../parts/icon";
import { PageHeader } from "../../parts/page";
import { Data } from "../../parts/state";
import { CustomRoles } from "./custom_roles";

function Matrix({ server }: { server: ServerInfo }) {
  const own = space.value?.custom_role ? undefined : space.value?.role;
  const permissions = server.permissions.filter((permission) => !permission.installation);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a wide table scrolls, so the keyboard must reach it
    <div class="matrix-scroll" role="group" aria-label="Roles and permissions" tabIndex={0}>
      <table class="matrix">
        <thead>
          <tr>
            <th scope="col">Permission</th>
            {server.roles.map((role) => (
              <th scope="col" key={role.role} title={role.doc} class={role.role === own ? "own" : undefined}>
                {role.role}
                {role.role === own && <span class="tag">you</span>}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {permissions.map((permission) => (
            <tr key={permission.name}>
              <th scope="row">
                <code>{permission.name}</code>
                <span class="soft">{permission.doc}</span>
              </th>
              {server.roles.map((role) => {
                const has = role.permissions.includes(permission.name);
                return (
                  <td key={role.role} class={role.role === own ? "own" : undefined}>
                    {has ? <Icon name="check" /> : <span aria-hidden="true">·</span>}
                    <span class="off-screen">{has ? "yes" : "no"}</span>
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

export function Roles() {
  const load = use_load("server", (signal) => api.get<ServerInfo>("/v1/server", {}, signal));
  return (
    <div class="page">
      <PageHeader
        title="Roles"
        text="Everything not listed is denied. In restricted projects only the project's bindings apply."
      />
      <Data load={load} retry={() => void reload("server")}>
        {(server) => (
          <>
            <dl class="role-list">
              {server.roles.map((role) => (
                <div key={role.role}>
                  <dt>{role.role}</dt>
                  <dd>{role.doc}</dd>
                </div>
              ))}
            </dl>
            <Matrix server={server} />
            {can("member_read") && <CustomRoles />}
          </>
        )}
      </Data>
    </div>
  );
}
