// Pages outside the first load: loaded when first opened, then kept.

import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { to_api_error } from "./api";
import type { Params } from "./lib/route";
import { ErrorNote, Skeleton } from "./parts/state";

type PageComponent = ComponentType<{ params: Params }>;

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
    // After an upgrade the old file no longer exists: the page must be reloaded.
    if (error) return <ErrorNote error={to_api_error(error)} retry={() => window.location.reload()} />;
    const Page = page;
    return Page ? <Page {...props} /> : <Skeleton />;
  };
}
