#include "api/families/phoenix/phoenix.h"

namespace hone::api {

std::string uppercase(std::string_view text) {
    std::string upper(text);
    for (char& letter : upper)
        if (letter >= 'a' && letter <= 'z') letter = static_cast<char>(letter - 'a' + 'A');
    return upper;
}

std::string_view plain_name(EvalTarget target) {
    return target == EvalTarget::chat_session ? "session" : name_of(target);
}

Result<telemetry::Places> find_places(const Call& call, const std::optional<std::string>& space_name, EvalTarget target,
                                      const std::vector<std::string>& texts, access::Permission permission) {
    const auto space = TRY(space_of(call, space_name));
    std::vector<telemetry::PlaceName> names;
    for (const std::string& text : texts) {
        const auto global = parse_global_id(target, text);
        names.push_back(global ? telemetry::PlaceName{text, global->id, global->project}
                               : telemetry::PlaceName{text, text});
    }
    return call.services.spans.places(call.caller, space, target, names, permission);
}

Result<telemetry::Place> find_place(const Call& call, const std::optional<std::string>& space, EvalTarget target,
                                    const std::string& text, access::Permission permission) {
    auto places = TRY(find_places(call, space, target, {text}, permission));
    if (places.empty()) return not_found(std::string(plain_name(target)) + " " + std::string(truncate_utf8(text, 100)));
    return std::move(places.begin()->second);
}

} // namespace hone::api
