// Spring AI: GenAI's keys on model calls; its own on the chat client, advisors, tools and vector stores around them.
#include "telemetry/span/convention.h"

namespace hone::telemetry {

namespace {

constexpr ConventionKey spring_ai_keys[] = {
    {"spring.ai.kind", Fact::own},
    {"spring.ai.tool.definition.name", Fact::tool_name},
    {"spring.ai.tool.call.arguments", Fact::input},
    {"spring.ai.tool.call.result", Fact::output},
    {"spring.ai.chat.client.user.text", Fact::input},
    {"spring.ai.chat.client.system.text", Fact::system_text},
    {"spring.ai.chat.client.conversation.id", Fact::session},
    {"spring.ai.chat.client.tool.names", Fact::tools},
    {"db.vector.query.content", Fact::input},
    {"db.vector.query.response.documents", Fact::output},
};

SpanKind kind_of_spring(std::string_view kind, std::string_view operation) {
    if (kind == "tool_call") return SpanKind::tool;
    if (kind == "vector_store") return operation == "query" ? SpanKind::retriever : SpanKind::chain;
    return kind.empty() ? SpanKind::unknown : SpanKind::chain; // chat_client, advisor
}

void complete_spring_ai(const KnownAttributes& known, Draft& draft) {
    const SpanKind kind = kind_of_spring(known.text_of("spring.ai.kind"), known.text_of("db.operation.name"));
    if (kind != SpanKind::unknown) draft.span.kind = kind;
}

} // namespace

const Convention spring_ai_convention{"Spring AI", spring_ai_keys, complete_spring_ai};

} // namespace hone::telemetry
