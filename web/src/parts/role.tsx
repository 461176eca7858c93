// The five roles as choices.

import type { Member } from "../api_types";

export type RoleName = Member["role"];

const role_names: RoleName[] = ["owner", "admin", "member", "annotator", "viewer"];

export const role_options = role_names.map((role) => ({ value: role as string, title: role as string }));
