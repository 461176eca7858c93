// Prompts of the space: templates with model settings, in versions.

import type { PromptView } from "../../api_types";
import { plural } from "../../lib/format/number";
import { reload, use_load } from "../../load";
import { can, space } from "../../login";
import { Icon } from "../../parts/icon";
import { PageHeader } from "../../parts/page";
import { SearchField } from "../../parts/search_field";
import { Data, Empty } from "../../parts/state";
import { type Column, Table } from "../../parts/table";
import { navigate, query } from "../../router";
import { playground_page, prompt_page } from "../addresses";
import { plain_id } from "../datasets/data";
import { list_prompts } from "./data";
import { ProtectedTagsButton } from "./protected_tags";

const columns: Column<PromptView>[] = [
  {
    id: "name",
    title: "Prompt",
    width: "34%",
    sort: (prompt) => prompt.name,
    cell: (prompt) => (
      <a class="cell-link" href={prompt_page(plain_id(prompt.id))}>
        {prompt.name}
      </a>
    ),
  },
  { id: "description", title: "Description", cell: (prompt) => <span class="soft">{prompt.description}</span> },
];

export function Prompts() {
  const load = use_load(`prompts/${space.value?.id}`, list_prompts);
  const text = (query.value.get("q") ?? "").toLowerCase();
  const fits = (prompt: PromptView) => `${prompt.name} ${prompt.description ?? ""}`.toLowerCase().includes(text);
  return (
    <div class="page list-page">
      <PageHeader
        title="Prompts"
        text="Templates with model settings. Versions never change; tags such as production point at one of them."
      >
        <ProtectedTagsButton />
        {can("run_start") && (
          <a class="button primary" href={playground_page()}>
            <Icon name="play" /> Open the playground
          </a>
        )}
      </PageHeader>
      <Data load={load} retry={() => void reload("prompts/")}>
        {(prompts) =>
          prompts.length === 0 ? (
            <Empty
              icon="prompt"
              title="No prompts yet"
              text="Try one in the playground and save it there. Programs create them with createPrompt of Phoenix' JavaScript client, client.prompts.create in Python, or POST /v1/prompts."
            />
          ) : (
            <Table
              label="Prompts"
              rows={prompts.filter(fits)}
              columns={columns}
              row_id={(prompt) => prompt.id}
              row_title={(prompt) => prompt.name}
              order="name"
              on_open={(prompt) => navigate(prompt_page(plain_id(prompt.id)))}
              bar={<SearchField label="Filter prompts" />}
              foot={<p class="table-end">{plural(prompts.filter(fits).length, "prompt")}</p>}
            />
          )
        }
      </Data>
    </div>
  );
}
