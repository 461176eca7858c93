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
    const std::string hash = to_hex(crypto::hash("id of another system: " + std::string(text)));
    if (digits == 16) return hash.substr(0, 16);
    return std::string(derived_trace) + hash.substr(0, digits - derived_trace.size());
}

namespace {

const std::string& sent_or_stored(const std::map<std::string, std::string, std::less<>>& sent,
                                  const std::string& stored) {
    const auto found = sent.find(stored);
    return found == sent.end() ? stored : found->second;
}

} // namespace

const std::string& SentIds::trace(const std::string& stored) const {
    return sent_or_stored(traces, stored);
}

const std::string& SentIds::span(const std::string& stored) const {
    return sent_or_stored(spans, stored);
}

Result<SentIds> sent_ids(const Call& call, const std::string& project, EvalTarget target,
                         const std::vector<std::string>& ids) {
    SentIds sent;
    std::vector<std::string> wanted;
    for (const std::string& id : ids)
        if (target == EvalTarget::span || id.starts_with(derived_trace)) wanted.push_back(id);
    if (wanted.empty()) return sent;
    auto& lookup = call.services.spans.lookup;
    const auto found = target == EvalTarget::span
                           ? TRY(lookup.attributes_of_spans(project, wanted, {sent_span_id, sent_trace_id}))
                           : TRY(lookup.attributes_of_traces(project, wanted, {sent_span_id, sent_trace_id}));
    for (const auto& span : found) {
        if (!span.values[0].empty()) sent.spans.emplace(span.span_id, span.values[0]);
        if (!span.values[1].empty()) sent.traces.emplace(span.trace_id, span.values[1]);
    }
    return sent;
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
