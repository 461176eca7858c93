#include "telemetry/doctor/sender_fixes.h"

#include "base/text.h"

#include <algorithm>

namespace hone::telemetry {

namespace {

struct ScopeFix {
    Missing missing;
    std::string_view scope; // part of its name, lower case
    std::string_view line;
};

// The first that matches a scope counts.
constexpr ScopeFix scope_fixes[] = {
    {Missing::tokens, "langchain", "ChatOpenAI(…, stream_usage=True)  # JavaScript: streamUsage: true"},
    {Missing::tokens, "openai",
     "client.chat.completions.create(…, stream=True, stream_options={\"include_usage\": True})"},
    {Missing::tokens, "llama", "OpenAI(…, additional_kwargs={\"stream_options\": {\"include_usage\": True}})"},
    {Missing::tokens, "crewai", "OpenAIInstrumentor().instrument()  # CrewAI's own spans have no token counts"},
    {Missing::texts, "openai_v2", "export OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true"},
    {Missing::texts, "traceloop", "export TRACELOOP_TRACE_CONTENT=true"},
    {Missing::texts, "openinference", "export OPENINFERENCE_HIDE_INPUTS=false OPENINFERENCE_HIDE_OUTPUTS=false"},
    {Missing::texts, "pydantic", "InstrumentationSettings(include_content=True)"},
    {Missing::texts, "gcp.vertex.agent", "export ADK_CAPTURE_MESSAGE_CONTENT_IN_SPANS=true"},
    {Missing::texts, "claude_code", "export OTEL_LOG_USER_PROMPTS=1 OTEL_LOGS_EXPORTER=otlp"},
    {Missing::texts, "ai", "telemetry: { recordInputs: true, recordOutputs: true }"},
    {Missing::texts, "opentelemetry.instrumentation", "export OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true"},
};

constexpr std::string_view general_fix(Missing missing) {
    switch (missing) {
    case Missing::kind:
        return "span.set_attribute(\"openinference.span.kind\", \"CHAIN\")  # or LLM, TOOL, AGENT, RETRIEVER";
    case Missing::tokens:
        return "span.set_attribute(\"gen_ai.usage.input_tokens\", …); "
               "span.set_attribute(\"gen_ai.usage.output_tokens\", …)";
    case Missing::model:
        return "span.set_attribute(\"gen_ai.request.model\", \"…\")";
    case Missing::texts:
        return "span.set_attribute(\"input.value\", …); span.set_attribute(\"output.value\", …)";
    }
    return "";
}

bool matches(std::string_view scope, std::string_view part) {
    // "ai" is the whole name of the AI SDK's scope and a part of many others.
    return part.size() <= 2 ? scope == part : scope.find(part) != std::string_view::npos;
}

} // namespace

std::string fix_for(Missing missing, const std::vector<std::string>& scopes) {
    std::vector<std::string_view> lines;
    for (const std::string& name : scopes) {
        const std::string scope = lowercase_ascii(name);
        std::string_view line = general_fix(missing);
        for (const ScopeFix& fix : scope_fixes)
            if (fix.missing == missing && matches(scope, fix.scope)) {
                line = fix.line;
                break;
            }
        if (std::find(lines.begin(), lines.end(), line) == lines.end()) lines.push_back(line);
    }
    if (lines.empty()) lines.push_back(general_fix(missing));
    std::string text;
    for (const std::string_view line : lines) text += (text.empty() ? "" : "\n") + std::string(line);
    return text;
}

} // namespace hone::telemetry
