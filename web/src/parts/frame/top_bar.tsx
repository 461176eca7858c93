// The top bar: breadcrumbs, search, and the time range of pages that have one.

import { useState } from "preact/hooks";
import { api } from "../../api";
import type { Project } from "../../api_types";
import { fill_path, type Params } from "../../lib/route";
import { use_load } from "../../load";
import { space, spaces } from "../../login";
import { navigate } from "../../router";
import { nav_address, type Route, routes, settings_groups } from "../../routes";
import { Icon } from "../icon";
import { Menu } from "../menu";
import { Bell } from "./bell";
import { palette_open } from "./palette";
import { TimeRange } from "./time_range";

/** Switching the space keeps the page when the page exists in every space. */
function space_page(route: Route | null, name: string): string {
  return (route?.path.startsWith("/s/") && fill_path(route.path, { space: name })) || `/s/${encodeURIComponent(name)}`;
}

function SpaceSwitcher({ route }: { route: Route | null }) {
  return (
    <Menu
      label={`Space: ${space.value?.name ?? "none"}`}
      class="quiet crumb of-space"
      button={
        <>
          <span class="crumb-text">{space.value?.name}</span>
          <Icon name="down" />
        </>
      }
      items={spaces.value.map((candidate) => ({
        title: candidate.name,
        hint: candidate.role ?? undefined,
        checked: candidate.id === space.value?.id,
        run: () => navigate(space_page(route, candidate.name)),
      }))}
    />
  );
}

function ProjectSwitcher({ name }: { name: string }) {
  const [wanted, set_wanted] = useState(false);
  const current = space.value;
  const load = use_load(wanted && current ? `projects/${current.id}` : null, (signal) =>
    api.list<Project>("/v1/projects", { space: current?.id }, signal),
  );
  const names = load.data?.map((project) => project.name) ?? [name];
  return (
    <Menu
      label={`Project: ${name}`}
      class="quiet crumb of-project"
      on_open={() => set_wanted(true)}
      button={
        <>
          <span class="crumb-text">{name}</span>
          <Icon name="down" />
        </>
      }
      items={[
        ...names.map((title) => ({
          title,
          checked: title === name,
          run: () =>
            navigate(fill_path("/s/:space/projects/:project", { space: current?.name ?? "", project: title }) ?? "/"),
        })),
        {
          title: "All projects",
          icon: "project" as const,
          divided: true,
          run: () => navigate(fill_path("/s/:space/projects", { space: current?.name ?? "" }) ?? "/"),
        },
      ]}
    />
  );
}

interface TopBarProps {
  route: Route | null;
  params: Params;
  on_menu: (() => void) | null;
}

export function TopBar({ route, params, on_menu }: TopBarProps) {
  const group = route?.nav?.group;
  const settings = settings_groups.find((candidate) => candidate.group === group);
  const parent = routes.find((candidate) => candidate.path === route?.under);
  const of_space = group !== "installation" && group !== "you";
  return (
    <header class="top-bar">
      {on_menu && (
        <button type="button" class="quiet icon-only" aria-label="Open the menu" onClick={on_menu}>
          <Icon name="menu" />
        </button>
      )}
      <div class="crumbs">
        {of_space && spaces.value.length > 0 && <SpaceSwitcher route={route} />}
        {group === "installation" && <span class="crumb-plain">Installation</span>}
        {params.project && (
          <>
            <span class="slash">/</span>
            <ProjectSwitcher name={params.project} />
          </>
        )}
        {settings?.group === "space" && (
          <>
            <span class="slash">/</span>
            <span class="crumb-plain minor">Settings</span>
          </>
        )}
        {parent && (
          <>
            <span class="slash">/</span>
            <a class="crumb-plain" href={nav_address(parent, params) ?? "/"}>
              {parent.title}
            </a>
          </>
        )}
        {route && (
          <>
            {group !== "you" && <span class="slash">/</span>}
            <span class="crumb-plain here">{route.title}</span>
          </>
        )}
      </div>
      <button
        type="button"
        class="search-button"
        aria-keyshortcuts="Control+K"
        onClick={() => {
          palette_open.value = true;
        }}
      >
        <Icon name="search" />
        <span class="search-text">Search</span>
        <kbd>Ctrl K</kbd>
      </button>
      {route?.range && <TimeRange fallback={route.range} />}
      <Bell />
    </header>
  );
}
