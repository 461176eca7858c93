import { expect, test } from "@playwright/test";
import { issue_metric } from "./issue_metric";

test("the filter of a slow span loses its limit, so that the time before is seen", () => {
  expect(issue_metric("latency_regression", 'name = "rank" and latency > 900ms')).toMatchObject({
    main: "latency_p50",
    filter: 'name = "rank"',
  });
  expect(issue_metric("latency_regression", 'name = "a and latency > 2ms" and first_token > 80ms')).toMatchObject({
    main: "first_token_p50",
    filter: 'name = "a and latency > 2ms"',
  });
});

test("an issue about errors has no curve", () => {
  expect(issue_metric("error_cluster", "status = error")).toBeNull();
  expect(issue_metric("version_regression", 'version = "2" and status = error')).toBeNull();
});
