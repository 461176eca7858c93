#include "evaluate/judges/judge_images.h"

#include "base/text.h"

#include <fmt/format.h>

namespace hone::evaluate {

namespace {

json::Value image_part(std::string_view protocol, const GivenFile& image) {
    const std::string& mime = image.about.media_type;
    const std::string data = to_base64(image.content);
    if (protocol == "anthropic")
        return json::Object{{"type", "image"},
                            {"source", json::Object{{"type", "base64"}, {"media_type", mime}, {"data", data}}}};
    if (protocol == "gemini") return json::Object{{"inlineData", json::Object{{"mimeType", mime}, {"data", data}}}};
    return json::Object{{"type", "image_url"},
                        {"image_url", json::Object{{"url", "data:" + mime + ";base64," + data}}}};
}

} // namespace

std::string refused_files(const std::vector<const GivenFile*>& files) {
    if (files.size() > most_judge_images)
        return fmt::format("the document names {} files; a model gets at most {} images", files.size(),
                           most_judge_images);
    for (const GivenFile* file : files) {
        const ExampleFile& about = file->about;
        if (!is_image(about.media_type))
            return fmt::format("the document names the file {} ({}), and models get images only", about.name,
                               about.media_type);
        if (about.bytes > largest_judge_image)
            return fmt::format("the image {} has more than {} MiB", about.name, largest_judge_image >> 20);
    }
    return {};
}

Result<std::string> with_images(std::string_view protocol, const std::string& body,
                                const std::vector<const GivenFile*>& images) {
    json::Value request = TRY(json::parse(body));
    const bool is_gemini = protocol == "gemini";
    json::Value* list =
        request.is_object() ? request.get_object().if_contains(is_gemini ? "contents" : "messages") : nullptr;
    if (list == nullptr || !list->is_array()) return internal("the request of the model has no messages");
    json::Array& messages = list->get_array();
    for (auto message = messages.rbegin(); message != messages.rend(); ++message) {
        json::Object& object = message->get_object();
        const json::Value* role = object.if_contains("role");
        if (role == nullptr || !role->is_string() || role->get_string() != "user") continue;
        json::Value& content = object[is_gemini ? "parts" : "content"];
        if (content.is_string()) {
            const json::Value text = content;
            content = json::Array{json::Object{{"type", "text"}, {"text", text}}};
        }
        if (!content.is_array()) continue;
        for (const GivenFile* image : images) content.get_array().push_back(image_part(protocol, *image));
        return json::print(request);
    }
    return internal("the request of the model has no message of a user");
}

} // namespace hone::evaluate
