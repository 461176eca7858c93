// The severity of an issue: a colour and the word.

import type { Severity } from "../../api_types";

export function SeverityMark({ severity }: { severity: Severity }) {
  return (
    <span class={`severity ${severity}`}>
      <i aria-hidden="true" />
      {severity}
    </span>
  );
}
