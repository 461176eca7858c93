#include "api/families/phoenix/phoenix.h"

#include "crypto/crypto.h"

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

std::string stored_id(std::string_view text, size_t digits) {
    const std::string lower = lowercase_ascii(text);
    if (lower.size() == digits && lower.find_first_not_of("0123456789abcdef") == std::string::npos) return lower;
    return to_hex(crypto::hash("id of another system: " + std::string(text))).substr(0, digits);
}

Result<telemetry::Places> find_places(const Call& call, const std::optional<std::string>& space_name, EvalTarget target,
                                      const std::vector<std::string>& texts, access::Permission permission) {
    const auto space = TRY(space_of(call, space_name));
    std::vector<telemetry::PlaceName> names;
    for (const std::string& text : texts) {
        if (const auto global = parse_global_id(target, text))
            names.push_back({text, global->id, global->project});
        else if (target == EvalTarget::chat_session)
            names.push_back({text, text});
        else
            names.push_back({text, stored_id(text, target == EvalTarget::span ? 16 : 32)});
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
