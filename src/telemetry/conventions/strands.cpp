// Strands Agents: GenAI's keys and events of 2024, or those of today; its time to the first token is in milliseconds.
#include "telemetry/span/convention.h"

namespace hone::telemetry {

namespace {

constexpr ConventionKey strands_keys[] = {
    {"event_loop.cycle_id", Fact::own},
    {"gen_ai.agent.tools", Fact::tools},
    {"gen_ai.usage.cache_write_input_tokens", Fact::cache_write_tokens},
};

constexpr std::string_view strands_scope = "strands.";

void complete_strands(const KnownAttributes& known, Draft& draft) {
    if (!draft.scope.starts_with(strands_scope)) return;
    const otlp::Value* first = known.get("gen_ai.server.time_to_first_token");
    const auto milliseconds = first ? to_real(*first) : std::nullopt;
    if (milliseconds && *milliseconds > 0 && *milliseconds < 1e9)
        draft.span.first_token_ns = static_cast<int64_t>(*milliseconds * 1e6);
}

} // namespace

const Convention strands_convention{"Strands Agents", strands_keys, complete_strands, strands_scope};

} // namespace hone::telemetry
