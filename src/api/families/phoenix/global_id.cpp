#include "api/families/phoenix/global_id.h"

#include "api/families/phoenix/node_id.h"
#include "base/text.h"

namespace hone::api {

namespace {

std::string_view prefix_of(telemetry::EvalTarget target) {
    switch (target) {
    case telemetry::EvalTarget::span:
        return "Span:";
    case telemetry::EvalTarget::trace:
        return "Trace:";
    case telemetry::EvalTarget::chat_session:
        return "ProjectSession:";
    }
    return "";
}

} // namespace

std::string make_global_id(telemetry::EvalTarget target, std::string_view project, std::string_view id) {
    std::string plain(prefix_of(target));
    plain += project;
    plain += ':';
    plain += id;
    return to_base64(plain);
}

std::optional<GlobalId> parse_global_id(telemetry::EvalTarget target, std::string_view text) {
    const auto plain = from_any_base64(text);
    const std::string_view prefix = prefix_of(target);
    if (!plain || !plain->starts_with(prefix)) return std::nullopt;
    const std::string_view rest = std::string_view(*plain).substr(prefix.size());
    const size_t colon = rest.find(':');
    if (colon == rest.npos || !is_valid_utf8(rest)) return std::nullopt;
    return GlobalId{std::string(rest.substr(0, colon)), std::string(rest.substr(colon + 1))};
}

} // namespace hone::api
