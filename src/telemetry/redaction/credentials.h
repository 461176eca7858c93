// Finds credentials in attributes and texts: Authorization headers, API keys and tokens of known shapes. Fast enough to
// scan every text of every span: one pass that stops only at letters which such a text must contain. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace hone::telemetry {

// Whether an attribute of this name holds a credential: "http.request.header.authorization", "x-api-key".
bool names_credential(std::string_view key);

// The text with "[redacted]" in place of each credential; nothing when it holds none.
std::optional<std::string> without_credentials(std::string_view text);

} // namespace hone::telemetry
