// Sends traces with the OpenTelemetry SDK as an application would: send_traces.mjs proto|http|grpc COUNT
// Where to and with which key say the SDK's own OTEL_EXPORTER_OTLP_… variables.
import { context, trace } from "@opentelemetry/api";
import { OTLPTraceExporter as GrpcExporter } from "@opentelemetry/exporter-trace-otlp-grpc";
import { OTLPTraceExporter as JsonExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { OTLPTraceExporter as ProtobufExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { resourceFromAttributes } from "@opentelemetry/resources";
import { BatchSpanProcessor, NodeTracerProvider } from "@opentelemetry/sdk-trace-node";

const [kind, count] = process.argv.slice(2);
const exporters = { proto: ProtobufExporter, http: JsonExporter, grpc: GrpcExporter };
const exporter = new exporters[kind]();
const provider = new NodeTracerProvider({
  resource: resourceFromAttributes({ "service.name": process.env.OTEL_SERVICE_NAME }),
  spanProcessors: [new BatchSpanProcessor(exporter)],
});
const tracer = provider.getTracer("tests");
for (let number = 0; number < Number(count); ++number) {
  const root = tracer.startSpan("answer a question", { attributes: { "session.id": `chat ${number % 5}` } });
  const inside = trace.setSpan(context.active(), root);
  const attributes = {
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": "openai",
    "gen_ai.request.model": "gpt-4o-mini",
    "gen_ai.usage.input_tokens": 20,
    "gen_ai.usage.output_tokens": 10,
  };
  tracer.startSpan("chat", { attributes }, inside).end();
  root.end();
}
await provider.forceFlush();
await provider.shutdown();
