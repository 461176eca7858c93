// The frame around every page after login: sidebar, top bar, palette, keys, messages.

import { useEffect, useErrorBoundary, useRef, useState } from "preact/hooks";
import { api, to_api_error } from "../../api";
import type { Project } from "../../api_types";
import { type KeyAction, use_keys } from "../../keyboard";
import { fill_path, type Params } from "../../lib/route";
import { use_load } from "../../load";
import { can, log_out, me, space, spaces } from "../../login";
import { is_phone } from "../../phone";
import { navigate, path } from "../../router";
import { allowed, nav_address, type Route, routes, settings_groups } from "../../routes";
import { theme, themes } from "../../theme";
import { copy_text } from "../copy";
import { ErrorNote, Note } from "../state";
import { Toasts, toast_done, toast_failed } from "../toast";
import { KeyHelp, key_help_open } from "./key_help";
import { type Command, Palette, palette_open } from "./palette";
import { folded, SidebarContent } from "./sidebar";
import { TopBar } from "./top_bar";

interface FrameProps {
  route: Route | null;
  params: Params;
  page: Route["page"];
}

function nav_group_title(route: Route): string {
  return settings_groups.find((candidate) => candidate.group === route.nav?.group)?.title ?? "Go to";
}

/** Pages that can be opened from here: allowed ones whose parameters are known. */
function reachable(params: Params): { route: Route; address: string }[] {
  const found: { route: Route; address: string }[] = [];
  for (const route of routes) {
    const address = nav_address(route, params);
    if (route.nav && address && allowed(route)) found.push({ route, address });
  }
  return found;
}

function commands(params: Params, projects: Project[]): Command[] {
  const list: Command[] = reachable(params).map(({ route, address }) => ({
    title: route.title,
    group: nav_group_title(route),
    icon: route.nav?.icon ?? "right",
    keys: route.nav?.keys,
    run: () => navigate(address),
  }));
  const at = (pattern: string) => fill_path(pattern, params) ?? "/";
  const action = (title: string, icon: Command["icon"], run: () => void, keys?: string, also?: string) =>
    list.push({ title, icon, run, keys, also, group: "Action" });
  for (const project of projects) {
    const address = fill_path("/s/:space/projects/:project", { ...params, project: project.name }) ?? "/";
    list.push({
      title: project.name,
      group: "Project",
      icon: "project",
      also: project.id,
      run: () => navigate(address),
    });
  }
  for (const other of spaces.value) {
    if (other.id === space.value?.id) continue;
    list.push({
      title: other.name,
      group: "Space",
      icon: "spaces",
      run: () => navigate(`/s/${encodeURIComponent(other.name)}`),
    });
  }
  if (can("run_start"))
    action("Start a session", "play", () => navigate(at("/s/:space/studio")), undefined, "new run worker agent task");
  if (can("run_start"))
    action(
      "Connect an application",
      "play",
      () => navigate(at("/s/:space/connect")),
      undefined,
      "first steps send trace model",
    );
  if (can("preset_write"))
    action("Create a preset", "plus", () => navigate(at("/s/:space/presets/new")), undefined, "new add worker");
  if (can("automation_write"))
    action("Create an automation", "plus", () => navigate(at("/s/:space/automations/new")), undefined, "new add cron");
  if (can("monitor_write") && params.project)
    action(
      "Create a monitor",
      "plus",
      () => navigate(at("/s/:space/projects/:project/monitors/new")),
      undefined,
      "new add alert",
    );
  if (can("repo_write"))
    action("Add a repository", "plus", () => navigate(`${at("/s/:space/repos")}?new=1`), undefined, "new git forge");
  if (can("project_create"))
    action("Create a project", "plus", () => navigate(`${at("/s/:space/projects")}?new=1`), undefined, "new add");
  if (can("key_create"))
    action(
      "Create an API key",
      "plus",
      () => navigate(`${at("/s/:space/settings/keys")}?new=1`),
      undefined,
      "new add token",
    );
  if (can("member_manage"))
    action(
      "Invite a teammate",
      "plus",
      () => navigate(`${at("/s/:space/settings/members")}?new=1`),
      undefined,
      "new add user member",
    );
  for (const choice of themes) {
    const title = choice === "system" ? "Theme: follow the system" : `Theme: ${choice}`;
    action(
      title,
      choice === "dark" ? "moon" : choice === "light" ? "sun" : "screen",
      () => {
        theme.value = choice;
      },
      undefined,
      "colour mode appearance",
    );
  }
  action(
    "Copy a link to this page",
    "link",
    () => void copy_text(window.location.href).then(() => toast_done("Link copied")),
  );
  action("Documentation", "info", () => navigate("/docs"), undefined, "docs help manual");
  action(
    "Keyboard shortcuts",
    "keyboard",
    () => {
      key_help_open.value = true;
    },
    "?",
  );
  action("Log out", "leave", () => void log_out().catch((error) => toast_failed("Could not log out", error)));
  return list;
}

function PaletteHost({ params }: { params: Params }) {
  const current = space.value;
  const load = use_load(current && can("project_read") ? `projects/${current.id}` : null, (signal) =>
    api.list<Project>("/v1/projects", { space: current?.id }, signal),
  );
  const projects = load.data ?? [];
  const objects = use_load(load.data && current ? `palette/${current.id}` : null, async (signal) => {
    const part = await import("./palette_objects");
    return { rows: await part.load_objects(projects, signal), typed: part.typed_commands };
  });
  return (
    <Palette
      commands={[...commands(params, projects), ...(objects.data?.rows ?? [])]}
      typed={(text) => objects.data?.typed(text, projects, params.project) ?? []}
      loading={objects.loading}
    />
  );
}

function page_keys(params: Params): KeyAction[] {
  const keys: KeyAction[] = [];
  for (const { route, address } of reachable(params)) {
    if (route.nav?.keys)
      keys.push({ keys: route.nav.keys, title: route.title, group: "Go to", run: () => navigate(address) });
  }
  return keys;
}

function Drawer({ route, params, on_close }: { route: Route | null; params: Params; on_close: () => void }) {
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => element.current?.showModal(), []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Esc is the dialog's own key; a click on a link or the backdrop closes
    <dialog
      ref={element}
      class="drawer"
      aria-label="Menu"
      onClose={on_close}
      onClick={(event) => {
        const target = event.target;
        if (target === element.current || (target instanceof Element && target.closest("a"))) element.current?.close();
      }}
    >
      <nav class="sidebar" aria-label="Main">
        <SidebarContent route={route} params={params} />
      </nav>
    </dialog>
  );
}

/** An error in one page must not break the frame. */
function Guarded({ page: Page, params }: { page: Route["page"]; params: Params }) {
  const [error, reset] = useErrorBoundary((failure) => console.error(failure));
  if (error) {
    return (
      <div class="page narrow">
        <h1>This page could not be displayed</h1>
        <ErrorNote error={to_api_error(error)} retry={reset} />
      </div>
    );
  }
  return <Page params={params} />;
}

export function Frame({ route, params, page }: FrameProps) {
  const [drawer, set_drawer] = useState(false);
  const main = useRef<HTMLElement>(null);
  const known: Params = space.value ? { ...params, space: space.value.name } : params;

  // A new page starts at the top and is announced to screen readers; query changes stay on the same page.
  const shown = useRef(path.value);
  useEffect(() => {
    if (shown.current === path.value) return;
    shown.current = path.value;
    main.current?.focus({ preventScroll: true });
    main.current?.scrollTo(0, 0);
  }, [path.value]);

  use_keys([
    {
      keys: "ctrl+k",
      title: "Search and commands",
      group: "Everywhere",
      everywhere: true,
      run: () => {
        palette_open.value = true;
      },
    },
    {
      keys: "?",
      title: "Keyboard shortcuts",
      group: "Everywhere",
      run: () => {
        key_help_open.value = true;
      },
    },
    {
      keys: "[",
      title: "Collapse or expand the sidebar",
      group: "Everywhere",
      run: () => {
        folded.value = folded.value === "folded" ? "open" : "folded";
      },
    },
    ...page_keys(known),
  ]);

  return (
    <div class={`frame ${folded.value === "folded" ? "folded" : ""}`}>
      <a class="skip" href="#main">
        Skip to content
      </a>
      {!is_phone.value && (
        <nav class="sidebar" aria-label="Main">
          <SidebarContent route={route} params={known} />
        </nav>
      )}
      <div class="frame-right">
        <TopBar route={route} params={params} on_menu={is_phone.value ? () => set_drawer(true) : null} />
        {me.value?.must_change_password && path.value !== "/account" && (
          <section aria-label="Your password">
            <Note kind="warning" icon="key">
              You still use your initial password. <a href="/account">Change it now</a>.
            </Note>
          </section>
        )}
        <main id="main" ref={main} tabIndex={-1}>
          <Guarded key={path.value} page={page} params={params} />
        </main>
      </div>
      {drawer && <Drawer route={route} params={known} on_close={() => set_drawer(false)} />}
      {palette_open.value && <PaletteHost params={known} />}
      {key_help_open.value && <KeyHelp />}
      <Toasts />
    </div>
  );
}
