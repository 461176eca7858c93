// Datasets of the space: examples with versions, to measure an application on.

import type { DatasetView } from "../../api_types";
import { exact_count, plural, short_count } from "../../lib/format/number";
import { reload, use_load } from "../../load";
import { can, space } from "../../login";
import { Icon } from "../../parts/icon";
import { PageHeader } from "../../parts/page";
import { SearchField } from "../../parts/search_field";
import { Data, Empty } from "../../parts/state";
import { type Column, Table } from "../../parts/table";
import { Time } from "../../parts/time";
import { Visible } from "../../parts/visible";
import { navigate, query, set_query } from "../../router";
import { dataset_page } from "../addresses";
import { list_datasets, plain_id } from "./data";
import { ImportDialog } from "./import_dialog";

const columns: Column<DatasetView>[] = [
  {
    id: "name",
    title: "Dataset",
    width: "42%",
    sort: (dataset) => dataset.name,
    cell: (dataset) => (
      <a class="cell-link" href={dataset_page(plain_id(dataset.id))}>
        <Visible text={dataset.name} />
      </a>
    ),
  },
  {
    id: "description",
    title: "Description",
    wide: true,
    cell: (dataset) => (
      <span class="soft" title={dataset.description ?? undefined}>
        {dataset.description}
      </span>
    ),
  },
  {
    id: "examples",
    title: "Examples",
    width: "96px",
    align: "right",
    sort: (dataset) => dataset.example_count,
    cell: (dataset) => <span title={exact_count(dataset.example_count)}>{short_count(dataset.example_count)}</span>,
  },
  {
    id: "version",
    title: "Version",
    width: "80px",
    align: "right",
    wide: true,
    sort: (dataset) => dataset.version,
    cell: (dataset) => dataset.version,
  },
  {
    id: "updated_at",
    title: "Changed",
    width: "104px",
    align: "right",
    sort: (dataset) => dataset.updated_at,
    cell: (dataset) => <Time time={dataset.updated_at} />,
  },
];

export function Datasets() {
  const load = use_load(`datasets/${space.value?.id}`, list_datasets);
  const importing = query.value.get("new") !== null && can("dataset_write");
  const text = (query.value.get("q") ?? "").toLowerCase();
  const fits = (dataset: DatasetView) => `${dataset.name} ${dataset.description ?? ""}`.toLowerCase().includes(text);
  return (
    <div class="page list-page">
      <PageHeader
        title="Datasets"
        text="Examples to measure your application on. Every change makes a version; experiments run on one version."
      >
        {can("dataset_write") && (
          <button type="button" class="primary" onClick={() => set_query({ new: "1" })}>
            <Icon name="plus" /> Import examples
          </button>
        )}
      </PageHeader>
      <Data load={load} retry={() => void reload("datasets/")}>
        {(datasets) =>
          datasets.length === 0 ? (
            <Empty
              icon="dataset"
              title="No datasets yet"
              text="Import a CSV or JSON lines file, add spans from the page of a trace, or create one with Phoenix' clients."
              command="hone dataset push shop-tickets tickets.csv"
            />
          ) : (
            <Table
              label="Datasets"
              rows={datasets.filter(fits)}
              columns={columns}
              row_id={(dataset) => dataset.id}
              row_title={(dataset) => dataset.name}
              order="-updated_at"
              on_open={(dataset) => navigate(dataset_page(plain_id(dataset.id)))}
              bar={<SearchField label="Filter datasets" />}
              foot={<p class="table-end">{plural(datasets.filter(fits).length, "dataset")}</p>}
            />
          )
        }
      </Data>
      {importing && <ImportDialog dataset={null} on_close={() => set_query({ new: null })} />}
    </div>
  );
}
