// Starts the UI and picks the page for the address.

import { render } from "preact";
import { useEffect } from "preact/hooks";
import { start_carrying } from "./carried";
import { start_keyboard } from "./keyboard";
import { match_path, type Params } from "./lib/route";
import { load_me, me, me_state, named_space, remember_space, space } from "./login";
import { NoAccess, NotFound, ServerDown } from "./pages/login/not_found";
import { Frame } from "./parts/frame/frame";
import { current_address, navigate, path, start_router } from "./router";
import { allowed, type Route, routes } from "./routes";

function find_route(address: string): { route: Route | null; params: Params } {
  for (const route of routes) {
    const params = match_path(route.path, address);
    if (params) return { route, params };
  }
  return { route: null, params: {} };
}

/** The address to redirect to; null for an address that is a page. */
function redirect(route: Route | null): string | null {
  if (route?.guest) return me.value && route.path === "/login" ? "/" : null;
  if (!me.value) return path.value === "/" ? "/login" : `/login?next=${encodeURIComponent(current_address())}`;
  const home = space.value ? `/s/${encodeURIComponent(space.value.name)}` : null;
  if (path.value === "/") return home ?? "/account";
  // Mails and prompts contain page addresses without a space: "/runs/run_01…".
  if (route === null && home && routes.some((candidate) => match_path(candidate.path, home + path.value)))
    return home + current_address();
  return null;
}

function App() {
  const { route, params } = find_route(path.value);
  const ready = me_state.value === "ready" || route?.guest === true;
  const target = ready && me_state.value === "ready" ? redirect(route) : null;
  useEffect(() => {
    if (target !== null) navigate(target, { replace: true });
  }, [target]);
  useEffect(() => {
    remember_space();
    const where = [route?.title ?? "Not found", params.project, named_space.value?.name, "Hone"];
    document.title = where.filter((part) => part !== undefined).join(" · ");
  });

  if (me_state.value === "failed") return <ServerDown />;
  if (!ready || target !== null) return null;
  if (route?.guest) return <route.page params={params} />;
  // A space without access looks like one that does not exist.
  const visible = route !== null && named_space.value !== undefined;
  if (!visible) return <Frame route={null} params={params} page={NotFound} />;
  return <Frame route={route} params={params} page={allowed(route) ? route.page : NoAccess} />;
}

start_router();
start_carrying((opened) => find_route(opened).route?.range);
start_keyboard();
void load_me();
const root = document.getElementById("app");
if (root) render(<App />, root);
