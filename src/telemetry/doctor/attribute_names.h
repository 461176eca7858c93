// Which convention an attribute's key belongs to, and which keys of no convention look as if they describe a model
// call. Pure; any thread.
#pragma once

#include <string_view>

namespace hone::telemetry {

enum class KeyUse {
    read,    // fills a field of the span
    kept,    // belongs to a convention, but only shown and searchable
    unknown, // of no convention, and describes a model, a prompt, tokens, a tool, …
    general, // everything else: HTTP, databases, the application's own
};

struct KeyMeaning {
    KeyUse use = KeyUse::general;
    std::string_view convention{}; // its name; empty for keys that several conventions share
};

KeyMeaning meaning_of_key(std::string_view key);

} // namespace hone::telemetry
