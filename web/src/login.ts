// The login: the user, the space in the address and the user's permissions there.

import { computed, signal } from "@preact/signals";
import { type ApiError, api, set_csrf_token, to_api_error, when_unauthorized } from "./api";
import type { LoggedOut, Me, Space, User } from "./api_types";
import { match_path, safe_next } from "./lib/route";
import { forget_everything } from "./load";
import { current_address, navigate, path, query } from "./router";
import { stored_signal } from "./stored";

export const me = signal<Me | null>(null);
/** Nothing is drawn before the first response: neither a login form nor a page. */
export const me_state = signal<"loading" | "ready" | "failed">("loading");
export const me_error = signal<ApiError | null>(null);

const last_space = stored_signal("last_space", "");

export const spaces = computed<Space[]>(() => me.value?.spaces ?? []);
export const user = computed<User | null>(() => me.value?.user ?? null);

function find_space(name: string): Space | undefined {
  return spaces.value.find((space) => space.name === name || space.id === name);
}

/** The space in the address; undefined when the user has no access to it. */
export const named_space = computed(() => {
  const name = /^\/s\/([^/]+)/.exec(path.value)?.[1];
  return name === undefined ? null : find_space(match_path("/:name", `/${name}`)?.name ?? "");
});

/** The space for pages whose address has none: the one that was used last. */
export const space = computed<Space | null>(
  () => named_space.value ?? find_space(last_space.value) ?? spaces.value[0] ?? null,
);

export function remember_space(): void {
  if (named_space.value) last_space.value = named_space.value.name;
}

export const can = (permission: string) => space.value?.permissions.includes(permission) ?? false;
export const can_install = (permission: string) => me.value?.installation_permissions.includes(permission) ?? false;

export function set_me(value: Me): void {
  set_csrf_token(value.csrf_token);
  me.value = value;
  me_state.value = "ready";
}

export async function load_me(): Promise<void> {
  try {
    set_me(await api.get<Me>("/v1/me"));
  } catch (error) {
    const failure = to_api_error(error);
    me_error.value = failure;
    me_state.value = failure.status === 401 ? "ready" : "failed";
  }
}

function forget_login(): void {
  set_csrf_token(null);
  me.value = null;
  forget_everything();
}

export async function log_in(email: string, password: string, code: string): Promise<void> {
  set_me(await api.post<Me>("/v1/login", code === "" ? { email, password } : { email, password, code }));
  navigate(safe_next(query.value.get("next")), { replace: true });
}

export async function log_out(): Promise<void> {
  const ended = await api.post<LoggedOut>("/v1/logout", {});
  forget_login();
  // The login at the provider of single sign-on ends on a page of its own.
  if (ended.end_session_url) window.location.assign(ended.end_session_url);
  else navigate("/login");
}

when_unauthorized(() => {
  if (me.value === null) return;
  const next = current_address();
  forget_login();
  navigate(`/login?next=${encodeURIComponent(next)}`);
});
