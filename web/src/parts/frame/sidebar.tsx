// The sidebar: pages of the space and of the open project, or, inside settings, the settings pages.

import { use_counter } from "../../counters";
import { fill_path, type Params } from "../../lib/route";
import { log_out, user } from "../../login";
import { navigate } from "../../router";
import { listed, type NavGroup, nav_address, type Route, routes, settings_groups } from "../../routes";
import { stored_signal } from "../../stored";
import { theme, themes } from "../../theme";
import { Icon, type IconName, Mark } from "../icon";
import { Menu } from "../menu";
import { toast_failed } from "../toast";
import { Avatar } from "./avatar";
import { key_help_open } from "./key_help";

export const folded = stored_signal("sidebar", "open");

interface SidebarProps {
  route: Route | null;
  params: Params;
}

function NavLink({ route, params, current }: { route: Route; params: Params; current: boolean }) {
  const href = nav_address(route, params);
  const waiting = use_counter(route.nav?.counter, params);
  if (!href || !route.nav) return null;
  return (
    <a class="nav-link" href={href} aria-current={current ? "page" : undefined} title={route.title}>
      <Icon name={route.nav.icon} />
      <span class="nav-title">{route.title}</span>
      {waiting !== null && (
        <span class="counter">
          {waiting}
          <span class="off-screen"> open</span>
        </span>
      )}
    </a>
  );
}

function NavList({ group, route, params }: SidebarProps & { group: NavGroup }) {
  return (
    <>
      {routes
        .filter((candidate) => candidate.nav?.group === group && listed(candidate))
        .map((candidate) => (
          <NavLink
            key={candidate.path}
            route={candidate}
            params={params}
            current={candidate === route || candidate.path === route?.under}
          />
        ))}
    </>
  );
}

const theme_icons: Record<string, IconName> = { system: "screen", light: "sun", dark: "moon" };

function UserMenu() {
  const person = user.value;
  if (!person) return null;
  const name = person.name || person.email;
  return (
    <Menu
      label={`You: ${name}`}
      class="user-button"
      button={
        <>
          <Avatar name={name} />
          <span class="nav-title">{name}</span>
        </>
      }
      items={[
        { title: "Account", icon: "person", hint: person.email, run: () => navigate("/account") },
        ...themes.map((choice, index) => ({
          title: choice === "system" ? "System theme" : choice === "light" ? "Light theme" : "Dark theme",
          icon: theme_icons[choice],
          checked: theme.value === choice,
          divided: index === 0,
          run: () => {
            theme.value = choice;
          },
        })),
        { title: "Documentation", icon: "info", divided: true, run: () => navigate("/docs") },
        {
          title: "Keyboard shortcuts",
          icon: "keyboard",
          hint: "?",
          run: () => {
            key_help_open.value = true;
          },
        },
        {
          title: "Log out",
          icon: "leave",
          run: () => void log_out().catch((error) => toast_failed("Could not log out", error)),
        },
      ]}
    />
  );
}

export function SidebarContent({ route, params }: SidebarProps) {
  const group = route?.nav?.group;
  const in_settings = settings_groups.some((candidate) => candidate.group === group);
  const first_settings = routes.find((candidate) => candidate.nav?.group === "space" && listed(candidate));
  const home = fill_path("/s/:space", params) ?? "/";
  return (
    <>
      <a class="brand" href={home} aria-label="Hone, home">
        <Mark />
        <span class="nav-title">Hone</span>
      </a>
      <div class="nav">
        {in_settings ? (
          <>
            <a class="nav-link back" href={home} title="Back to the space">
              <Icon name="left" />
              <span class="nav-title">Settings</span>
            </a>
            {settings_groups.map((candidate) => (
              <div class="nav-group" key={candidate.group}>
                <h2 class="nav-head">{candidate.title}</h2>
                <NavList group={candidate.group} route={route} params={params} />
              </div>
            ))}
          </>
        ) : (
          <>
            <div class="nav-group">
              <NavList group="main" route={route} params={params} />
            </div>
            {params.project && (
              <div class="nav-group">
                <h2 class="nav-head">{params.project}</h2>
                <NavList group="project" route={route} params={params} />
              </div>
            )}
          </>
        )}
      </div>
      <div class="nav-foot">
        {!in_settings && first_settings && (
          <a class="nav-link" href={fill_path(first_settings.path, params) ?? "/"} title="Settings">
            <Icon name="settings" />
            <span class="nav-title">Settings</span>
          </a>
        )}
        <div class="nav-foot-row">
          <UserMenu />
          <button
            type="button"
            class="quiet icon-only fold"
            aria-label={folded.value === "folded" ? "Expand the sidebar" : "Collapse the sidebar"}
            title="Collapse the sidebar  ["
            onClick={() => {
              folded.value = folded.value === "folded" ? "open" : "folded";
            }}
          >
            <Icon name="sidebar" />
          </button>
        </div>
      </div>
    </>
  );
}
