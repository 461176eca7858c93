// Pages outside the first load: loaded when first opened, then kept.

import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { ApiError, to_api_error } from "./api";
import type { Params } from "./lib/route";
import { ErrorNote, Skeleton } from "./parts/state";

type PageComponent = ComponentType<{ params: Params }>;

/** The browser's own message names a file. After an upgrade the old file no longer exists: the page must be reloaded. */
function load_error(error: unknown): ApiError {
  const text = window.navigator.onLine
    ? "This page could not be loaded: the server is not reachable, or was upgraded. Reload to try again."
    : "You are offline. Reload when the connection is back.";
  return new ApiError(0, to_api_error(error).code, text, null, null);
}

export function lazy_page(load: () => Promise<Record<string, unknown>>, name: string): PageComponent {
  let known: PageComponent | null = null;
  return function LazyPage(props: { params: Params }) {
    const [page, set_page] = useState(() => known);
    const [error, set_error] = useState<unknown>(null);
    useEffect(() => {
      if (known) return;
      load().then((module) => {
        known = module[name] as PageComponent;
        set_page(() => known);
      }, set_error);
    }, []);
    if (error) return <ErrorNote error={load_error(error)} retry={() => window.location.reload()} />;
    const Page = page;
    return Page ? <Page {...props} /> : <Skeleton />;
  };
}
