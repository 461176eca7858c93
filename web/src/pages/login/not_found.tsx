// The pages nobody asks for.

import { Mark } from "../../parts/icon";
import { Empty, ErrorNote } from "../../parts/state";
import { me_error, space } from "../../session";

export function NotFound() {
  return (
    <div class="page">
      <Empty
        whole_page
        icon="search"
        title="There is nothing at this address"
        text="It may have been renamed or deleted, or it belongs to a space or project that you cannot see."
      >
        <a class="button" href="/">
          Go home
        </a>
      </Empty>
    </div>
  );
}

/** The page exists; the caller's role does not reach it. */
export function NotYours() {
  const role = space.value?.role;
  return (
    <div class="page">
      <Empty
        whole_page
        icon="lock"
        title="Your role does not reach this page"
        text={`You are ${role ? `${role} in ${space.value?.name}` : "not a member here"}. Whoever manages the members can give you another role.`}
      >
        <a class="button" href="/">
          Go home
        </a>
      </Empty>
    </div>
  );
}

/** Not even the question "who am I" was answered. */
export function ServerDown() {
  const error = me_error.value;
  return (
    <main class="guest">
      <div class="guest-box">
        <Mark />
        <h1>Hone does not answer</h1>
        {error && <ErrorNote error={error} retry={() => window.location.reload()} />}
      </div>
    </main>
  );
}
