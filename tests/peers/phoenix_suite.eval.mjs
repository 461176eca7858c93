// A suite of an application that is measured with the vitest plugin of Phoenix' client; phoenix_server.py runs it. With WRONG=1
// one of its cases fails.
import * as px from "@arizeai/phoenix-client/vitest";
import { expect } from "vitest";

const add = (a, b) => a + b + (a === 3 && process.env.WRONG ? 1 : 0);
const cases = [
  { id: "small", input: { a: 1, b: 1 }, expected: { sum: 2 } },
  { id: "middle", input: { a: 2, b: 5 }, expected: { sum: 7 } },
  { id: "large", input: { a: 3, b: 4 }, expected: { sum: 7 } },
];

px.describe(
  "sums / of vitest",
  () => {
    px.test.each(cases)("sum %i", async ({ input, expected }) => {
      const found = add(input.a, input.b);
      px.logOutput({ found });
      px.logAnnotation({ name: "close", score: 1 / (1 + Math.abs(found - expected.sum)) });
      expect(found).toBe(expected.sum);
    });
  },
  { repetitions: 2, description: "sums", metadata: { by: "vitest" } },
);
