#include "evaluate/content/canonical.h"

#include "crypto/crypto.h"
#include "telemetry/redaction/credentials.h"
#include "telemetry/redaction/redact.h"

#include <algorithm>

namespace hone::evaluate {

namespace {

void append_canonical(const json::Value& value, std::string& text) {
    if (value.is_array()) {
        text += '[';
        for (const json::Value& item : value.get_array()) {
            if (text.back() != '[') text += ',';
            append_canonical(item, text);
        }
        text += ']';
    } else if (value.is_object()) {
        std::vector<std::pair<std::string_view, const json::Value*>> sorted;
        for (const auto& entry : value.get_object()) sorted.emplace_back(entry.key(), &entry.value());
        std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
        text += '{';
        for (const auto& [key, item] : sorted) {
            if (text.back() != '{') text += ',';
            text += quote_json(key);
            text += ':';
            append_canonical(*item, text);
        }
        text += '}';
    } else {
        text += json::print(value);
    }
}

} // namespace

std::string canonical_text(const json::Value& value) {
    std::string text;
    append_canonical(value, text);
    return text;
}

std::string content_hash(const json::Value& input, const json::Value& output, const json::Value& metadata) {
    std::string text;
    for (const json::Value* part : {&input, &output, &metadata}) {
        append_canonical(*part, text);
        text += '\n'; // never inside a canonical text
    }
    return to_hex(crypto::hash(text));
}

json::Value span_part(const std::string& text, std::string_view name) {
    if (text.empty()) return json::Object{};
    auto value = json::parse(text);
    if (value.ok() && value.value().is_object()) return std::move(value).value();
    if (value.ok() && !value.value().is_string()) return json::Object{{name, value.value()}};
    return json::Object{{name, text}};
}

bool holds_conversation(const json::Value& input) {
    if (input.is_array()) {
        for (const json::Value& message : input.get_array()) {
            const json::Value* role = message.is_object() ? message.get_object().if_contains("role") : nullptr;
            const std::string_view name =
                role != nullptr && role->is_string() ? std::string_view(role->get_string()) : "";
            if (name == "assistant" || name == "ai" || name == "model") return true;
        }
    } else if (input.is_object()) {
        for (const auto& field : input.get_object())
            if (field.value().is_array() && holds_conversation(field.value())) return true;
    }
    return false;
}

int64_t remove_credentials(json::Value& value) {
    int64_t changed = 0;
    if (value.is_string()) {
        if (auto clean = telemetry::without_credentials(std::string_view(value.get_string()))) {
            value = json::Value(*clean);
            ++changed;
        }
    } else if (value.is_array()) {
        for (json::Value& item : value.get_array()) changed += remove_credentials(item);
    } else if (value.is_object()) {
        for (auto& entry : value.get_object()) {
            if (entry.value().is_string() && telemetry::names_credential(entry.key())) {
                entry.value() = json::Value(telemetry::redacted_text);
                ++changed;
            } else {
                changed += remove_credentials(entry.value());
            }
        }
    }
    return changed;
}

} // namespace hone::evaluate
