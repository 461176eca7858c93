// Tabs are links: the selected one is in the address, so Back and pasted links work.

import { with_query } from "../lib/route";
import { current_address, query } from "../router";

export interface Tab {
  id: string;
  title: string;
}

/** The tab named in the address, or the first one. */
export function current_tab(tabs: Tab[]): string {
  const named = query.value.get("tab");
  return tabs.find((tab) => tab.id === named)?.id ?? tabs[0]?.id ?? "";
}

export function Tabs({ label, tabs }: { label: string; tabs: Tab[] }) {
  const chosen = current_tab(tabs);
  return (
    <nav class="tabs" aria-label={label}>
      {tabs.map((tab, index) => (
        <a
          key={tab.id}
          href={with_query(current_address(), { tab: index === 0 ? null : tab.id, open: null })}
          aria-current={tab.id === chosen ? "page" : undefined}
        >
          {tab.title}
        </a>
      ))}
    </nav>
  );
}
