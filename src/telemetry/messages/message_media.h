// Images, sounds and files of a message: found in the parts of any framework, as an address that a browser can show.
// Pure and bounded; any thread.
#pragma once

#include "telemetry/messages/message.h"

#include <simdjson.h>
#include <string_view>

namespace hone::telemetry {

// Of a part that holds media: OpenAI, Anthropic, Gemini, Genkit, Vercel's AI SDK and OpenTelemetry. `kind` is image,
// audio or file where the part's type states it; else it follows from the media type.
MessageMedia read_media(const simdjson::dom::object& part, std::string_view kind);

// Of an address or of base64 data without one.
MessageMedia media_from(std::string_view kind, std::string_view mime, std::string_view source);

} // namespace hone::telemetry
