// Redaction rules of a project, applied to a span before anything of it touches the disk: credentials (by default),
// attributes by key, texts by regular expressions and by built-in patterns (keys and tokens, e-mail addresses). Linear
// time on hostile text.
// Made once per project and rule version, then shared read-only by all ingest threads.
#pragma once

#include "base/result.h"
#include "otlp/message.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace hone::telemetry {

struct RedactionRules {
    std::vector<std::string> keys;     // attribute keys whose values go; a '*' at the end matches any rest
    std::vector<std::string> patterns; // regular expressions (RE2)
    bool secrets = false;              // keys, tokens and private keys of known shapes
    bool emails = false;
    bool credentials = false; // Authorization headers, API keys, tokens: credentials.h; on where no rules are set
};

class Redactor {
public:
    static Result<std::shared_ptr<const Redactor>> make(const RedactionRules& rules);
    ~Redactor();

    // Replaces in name, status, attributes, events and links. Returns how many values were changed.
    int64_t apply(otlp::Batch& batch, otlp::Span& span) const;
    int64_t apply(otlp::Batch& batch, otlp::Attributes& attributes) const;

private:
    struct Compiled;
    explicit Redactor(std::unique_ptr<Compiled> compiled);
    int64_t apply(otlp::Batch& batch, otlp::Value& value, int depth) const;
    bool clean(otlp::Batch& batch, std::string_view& text) const;

    std::unique_ptr<Compiled> m_compiled;
};

inline constexpr std::string_view redacted_text = "[redacted]";

} // namespace hone::telemetry
