#include "telemetry/messages/message_media.h"

#include "base/text.h"

#include <algorithm>
#include <cctype>

namespace hone::telemetry {

namespace {

namespace dom = simdjson::dom;

constexpr size_t longest_source = 8 << 20;
constexpr int deepest_part = 4;

struct FoundMedia {
    std::string_view mime;
    std::string_view source;
};

// The parts nest differently, but their members have few names.
void find_media(const dom::object& part, FoundMedia& found, int depth) {
    std::string_view text;
    for (const char* name :
         {"mime_type", "mimeType", "mediaType", "media_type", "contentType", "content_type", "format"})
        if (found.mime.empty() && part.at_key(name).get(text) == simdjson::SUCCESS) found.mime = text;
    for (const char* name : {"url", "uri", "file_uri", "fileUri", "image_url", "data", "file_data", "image", "content",
                             "bytes", "input_audio", "inline_data", "inlineData"})
        if (found.source.empty() && part.at_key(name).get(text) == simdjson::SUCCESS) found.source = text;
    if (depth >= deepest_part) return;
    for (const char* name : {"image_url", "source", "file", "input_audio", "audio", "image", "inline_data",
                             "inlineData", "file_data", "fileData", "media", "blob", "document"})
        if (dom::object inner; found.source.empty() && part.at_key(name).get(inner) == simdjson::SUCCESS)
            find_media(inner, found, depth + 1);
}

bool is_base64(std::string_view text) {
    return text.size() >= 16 && std::ranges::all_of(text, [](char letter) {
               return std::isalnum(static_cast<unsigned char>(letter)) || letter == '+' || letter == '/' ||
                      letter == '=' || letter == '\n' || letter == '\r';
           });
}

std::string media_mime(std::string_view kind, std::string_view mime) {
    if (mime.find('/') != std::string_view::npos) return std::string(mime);
    if (kind == "audio") return "audio/" + std::string(mime.empty() ? "wav" : mime); // OpenAI's format: wav, mp3
    if (kind == "image") return "image/" + std::string(mime.empty() ? "png" : mime);
    return "application/octet-stream";
}

std::string media_kind(std::string_view kind, std::string_view mime) {
    for (const std::string_view known : {"image", "audio", "video"})
        if (mime.starts_with(known)) return std::string(known);
    return kind.empty() ? "file" : std::string(kind);
}

} // namespace

MessageMedia media_from(std::string_view kind, std::string_view mime, std::string_view source) {
    MessageMedia media;
    if (source.starts_with("data:")) {
        const std::string_view head = source.substr(5, source.find_first_of(";,") - 5);
        if (head.find('/') != std::string_view::npos) mime = head;
    }
    media.kind = media_kind(kind, mime);
    media.mime = mime.empty() && source.empty() ? std::string() : media_mime(media.kind, mime);
    if (source.size() > longest_source) return media;
    if (source.starts_with("data:") || source.starts_with("https://") || source.starts_with("http://"))
        media.source = source;
    else if (is_base64(source))
        media.source = "data:" + media.mime + ";base64," + std::string(source);
    return media;
}

MessageMedia read_media(const dom::object& part, std::string_view kind) {
    FoundMedia found;
    find_media(part, found, 0);
    return media_from(kind, found.mime, found.source);
}

} // namespace hone::telemetry
