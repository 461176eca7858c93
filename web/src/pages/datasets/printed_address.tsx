// Addresses that Phoenix' clients print: /datasets/ID/examples, …/experiments, …/compare?experimentId=ID. They name no
// space; an id is found in any.

import { useEffect } from "preact/hooks";
import type { Params } from "../../lib/route";
import { Skeleton } from "../../parts/state";
import { navigate, query } from "../../router";
import { dataset_page, experiment_page } from "../addresses";
import { plain_id } from "./data";

export function PrintedAddress({ params }: { params: Params }) {
  const dataset = plain_id(params.dataset ?? "");
  const experiment = query.value.get("experimentId");
  useEffect(() => {
    if (params.view === "compare" && experiment) navigate(experiment_page(plain_id(experiment)), { replace: true });
    else navigate(dataset_page(dataset, params.view === "examples" ? "" : "experiments"), { replace: true });
  }, [params.view, dataset, experiment]);
  return <Skeleton />;
}
