// Hands spans straight to the unmodified OTLP exporter and tells what it made of the answer:
//   send_refused.mjs proto|http|grpc NAME [BYTES [HOURS]]
// one span called NAME, with a text of BYTES, that starts HOURS from now. Prints what the exporter says, then its result.
import { inspect } from "node:util";
import { diag, DiagLogLevel } from "@opentelemetry/api";
import { OTLPTraceExporter as GrpcExporter } from "@opentelemetry/exporter-trace-otlp-grpc";
import { OTLPTraceExporter as JsonExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { OTLPTraceExporter as ProtobufExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { resourceFromAttributes } from "@opentelemetry/resources";
import { InMemorySpanExporter, NodeTracerProvider, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-node";

const [kind, name, bytes = "10", hours = "0"] = process.argv.slice(2);
const say = (...words) => console.log(words.map((word) => (Array.isArray(word) ? "…" : inspect(word, { breakLength: Infinity }))).join(" "));
diag.setLogger({ error: say, warn: say, info: say, debug: say, verbose: say }, DiagLogLevel.ALL);
const made = new InMemorySpanExporter();
const provider = new NodeTracerProvider({
  resource: resourceFromAttributes({ "service.name": "pressed" }),
  spanProcessors: [new SimpleSpanProcessor(made)],
});
const startTime = Date.now() + Number(hours) * 3_600_000;
provider.getTracer("tests").startSpan(name, { startTime, attributes: { text: "x".repeat(Number(bytes)) } }).end(startTime + 1);
const spans = made.getFinishedSpans();
const exporter = new { proto: ProtobufExporter, http: JsonExporter, grpc: GrpcExporter }[kind]();
const result = await new Promise((resolve) => exporter.export(spans, resolve));
console.log("result", result.code, result.error?.message ?? "");
await exporter.shutdown();
