#include "telemetry/redaction/redact.h"

#include "telemetry/redaction/credentials.h"

#include <re2/re2.h>

namespace hone::telemetry {

namespace {

// Shapes that vendors publish for their keys.
constexpr std::string_view secret_patterns[] = {
    R"(\bsk-[A-Za-z0-9_-]{20,})",
    R"(\b(?:AKIA|ASIA)[0-9A-Z]{16}\b)",
    R"(\bgh[pousr]_[A-Za-z0-9]{30,})",
    R"(\bgithub_pat_[A-Za-z0-9_]{30,})",
    R"(\bglpat-[A-Za-z0-9_-]{20,})",
    R"(\bxox[abprs]-[A-Za-z0-9-]{10,})",
    R"(\bAIza[0-9A-Za-z_-]{35})",
    R"(\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,})",
    R"((?i)\bbearer\s+[A-Za-z0-9._~+/=-]{20,})",
    R"((?s)-----BEGIN [A-Z ]*PRIVATE KEY-----.*?-----END [A-Z ]*PRIVATE KEY-----)",
};
constexpr std::string_view email_pattern = R"([A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63})+)";

} // namespace

struct Redactor::Compiled {
    std::vector<std::string> keys;
    std::vector<std::string> key_prefixes;
    std::vector<std::unique_ptr<RE2>> patterns;
    bool credentials = false;

    bool has_key(std::string_view key) const {
        for (const auto& exact : keys)
            if (key == exact) return true;
        for (const auto& prefix : key_prefixes)
            if (key.starts_with(prefix)) return true;
        return credentials && names_credential(key);
    }
};

Redactor::Redactor(std::unique_ptr<Compiled> compiled) : m_compiled(std::move(compiled)) {}
Redactor::~Redactor() = default;

Result<std::shared_ptr<const Redactor>> Redactor::make(const RedactionRules& rules) {
    auto compiled = std::make_unique<Compiled>();
    for (const std::string& key : rules.keys) {
        if (key.ends_with('*'))
            compiled->key_prefixes.push_back(key.substr(0, key.size() - 1));
        else
            compiled->keys.push_back(key);
    }
    compiled->credentials = rules.credentials;
    std::vector<std::string> patterns = rules.patterns;
    if (rules.secrets) patterns.insert(patterns.end(), std::begin(secret_patterns), std::end(secret_patterns));
    if (rules.emails) patterns.emplace_back(email_pattern);
    RE2::Options options;
    options.set_log_errors(false);
    options.set_max_mem(8 << 20);
    for (const std::string& pattern : patterns) {
        auto expression = std::make_unique<RE2>(pattern, options);
        if (!expression->ok()) return invalid("not a regular expression: " + expression->error());
        if (RE2::FullMatch("", *expression))
            return invalid("a redaction pattern must not match the empty text: " + pattern);
        compiled->patterns.push_back(std::move(expression));
    }
    return std::shared_ptr<const Redactor>(new Redactor(std::move(compiled)));
}

bool Redactor::clean(otlp::Batch& batch, std::string_view& text) const {
    std::string copy;
    bool changed = false;
    if (m_compiled->credentials)
        if (auto made = without_credentials(text)) {
            copy = *std::move(made);
            changed = true;
        }
    for (const auto& pattern : m_compiled->patterns) {
        const std::string_view now = changed ? std::string_view(copy) : text;
        if (!RE2::PartialMatch(re2::StringPiece(now.data(), now.size()), *pattern)) continue;
        if (!changed) copy = text;
        changed = true;
        RE2::GlobalReplace(&copy, *pattern, re2::StringPiece(redacted_text.data(), redacted_text.size()));
    }
    if (changed) text = batch.keep(std::move(copy));
    return changed;
}

int64_t Redactor::apply(otlp::Batch& batch, otlp::Value& value, int depth) const {
    if (depth > 64) return 0;
    if (auto* text = std::get_if<std::string_view>(&value.data)) return clean(batch, *text);
    int64_t hits = 0;
    if (auto* list = std::get_if<std::vector<otlp::Value>>(&value.data))
        for (otlp::Value& entry : *list) hits += apply(batch, entry, depth + 1);
    if (auto* map = std::get_if<otlp::Attributes>(&value.data)) hits += apply(batch, *map);
    return hits;
}

int64_t Redactor::apply(otlp::Batch& batch, otlp::Attributes& attributes) const {
    int64_t hits = 0;
    for (otlp::KeyValue& attribute : attributes) {
        if (m_compiled->has_key(attribute.key)) {
            attribute.value.data = redacted_text;
            ++hits;
        } else
            hits += apply(batch, attribute.value, 0);
    }
    return hits;
}

int64_t Redactor::apply(otlp::Batch& batch, otlp::Span& span) const {
    int64_t hits = clean(batch, span.name) + clean(batch, span.status_message) + apply(batch, span.attributes);
    for (otlp::Event& event : span.events) hits += clean(batch, event.name) + apply(batch, event.attributes);
    for (otlp::Link& link : span.links) hits += apply(batch, link.attributes);
    return hits;
}

} // namespace hone::telemetry
