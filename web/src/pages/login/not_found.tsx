// Pages for errors: not found, no permission, server not reachable.

import { me_error, space } from "../../login";
import { Mark } from "../../parts/icon";
import { Empty, ErrorNote } from "../../parts/state";

export function NotFound() {
  return (
    <div class="page">
      <Empty
        whole_page
        icon="search"
        title="Page not found"
        text="It was renamed or deleted, or it belongs to a space or project that you cannot access."
      >
        <a class="button" href="/">
          Go to Home
        </a>
      </Empty>
    </div>
  );
}

/** The page exists, but the user's role does not include it. */
export function NoAccess() {
  const role = space.value?.role;
  return (
    <div class="page">
      <Empty
        whole_page
        icon="lock"
        title="You do not have access to this page"
        text={`${role ? `Your role in the space ${space.value?.name} is ${role}` : "You are not a member of this space"}. Ask an owner or admin of the space for access.`}
      >
        <a class="button" href="/">
          Go to Home
        </a>
      </Empty>
    </div>
  );
}

/** The first request failed. */
export function ServerDown() {
  const error = me_error.value;
  return (
    <main class="guest">
      <div class="guest-box">
        <Mark />
        <h1>Could not reach the server</h1>
        {error && <ErrorNote error={error} retry={() => window.location.reload()} />}
      </div>
    </main>
  );
}
