// Images, sounds and files of a message: found in the parts of any framework, as an address that a browser can show.
// Pure and bounded; any thread.
#pragma once

#include "base/fields.h"

#include <simdjson.h>
#include <string>
#include <string_view>
#include <tuple>

namespace hone::telemetry {

struct MessageMedia {
    std::string kind; // image, audio, video, file
    std::string mime;
    std::string source; // a data: or http address; empty when only the placeholder was recorded

    static constexpr std::tuple fields{
        Field{"kind", &MessageMedia::kind, "image, audio, video or file."},
        Field{"mime", &MessageMedia::mime, "Media type, such as image/png."},
        Field{"source", &MessageMedia::source, "A data: or http address; empty when it was not recorded."},
    };
};

// Of a part that holds media: OpenAI, Anthropic, Gemini, Genkit, Vercel's AI SDK and OpenTelemetry. `kind` is image,
// audio or file where the part's type states it; else it follows from the media type.
MessageMedia read_media(const simdjson::dom::object& part, std::string_view kind);

// Of an address or of base64 data without one.
MessageMedia media_from(std::string_view kind, std::string_view mime, std::string_view source);

} // namespace hone::telemetry
