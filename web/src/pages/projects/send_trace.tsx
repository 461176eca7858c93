// How to send traces: the settings of any OpenTelemetry exporter, and a command that sends one span.

import { shell_quote } from "../../lib/format/text";
import { CodeBlock } from "../../parts/copy";

function exporter_settings(project: string): string {
  return [
    `export OTEL_EXPORTER_OTLP_ENDPOINT=${window.location.origin}`,
    "export OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf",
    `export OTEL_EXPORTER_OTLP_HEADERS="authorization=Bearer%20$HONE_API_KEY,x-project-name=${encodeURIComponent(project)}"`,
  ].join("\n");
}

function first_span(project: string): string {
  const span =
    '{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"\'$(openssl rand -hex 16)\'","spanId":"\'$(openssl rand -hex 8)\'","name":"hello",' +
    '"startTimeUnixNano":"\'$(date +%s)\'000000000","endTimeUnixNano":"\'$(date +%s)\'250000000"}]}]}]}';
  return [
    `curl ${shell_quote(`${window.location.origin}/v1/traces`)} -H "Authorization: Bearer $HONE_API_KEY" \\`,
    `  -H ${shell_quote(`x-project-name: ${project}`)} -H 'Content-Type: application/json' \\`,
    `  -d '${span}'`,
  ].join("\n");
}

export function SendTrace({ project }: { project: string }) {
  return (
    <div class="send-trace">
      <CodeBlock text={exporter_settings(project)} label="exporter settings" />
      <details>
        <summary>Or send one span with curl</summary>
        <CodeBlock text={first_span(project)} label="command that sends one span" />
      </details>
    </div>
  );
}
