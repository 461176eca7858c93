// Commands that the operator runs on the server, with its data directory if the user may see it.

import { api } from "../../api";
import type { ServerInfo } from "../../api_types";
import { shell_quote } from "../../lib/format/text";
import { use_load } from "../../load";

/** "/var/lib/hone"; "DIR" for users who cannot see the settings of the installation. */
export function use_data_directory(): string {
  const load = use_load("server", (signal) => api.get<ServerInfo>("/v1/server", {}, signal));
  const found = load.data?.settings.find((setting) => setting.name === "data_dir")?.value;
  return found ? shell_quote(found) : "DIR";
}

export const harness_command = (verb: "install" | "upgrade", name: string, directory: string) =>
  `hone harness ${verb} ${name} --data-dir ${directory}`;
