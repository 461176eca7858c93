#include "evaluate/content/files.h"

#include "base/id.h"

#include <algorithm>

namespace hone::evaluate {

namespace {

// Nothing: it is no name of a file.
const json::Value* named_file(const json::Value& value) {
    if (!value.is_object() || value.get_object().size() != 1) return nullptr;
    return value.get_object().if_contains(file_key);
}

// "artifact_" and a ULID: nothing that could be a path.
bool is_artifact_id(std::string_view text) {
    constexpr std::string_view prefix = "artifact_";
    if (!text.starts_with(prefix) || text.size() != prefix.size() + 26) return false;
    return std::all_of(text.begin() + prefix.size(), text.end(),
                       [](char c) { return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z'); });
}

Result<> collect_files(const json::Value& value, std::vector<std::string>& found) {
    if (const json::Value* id = named_file(value)) {
        if (!id->is_string() || !is_artifact_id(id->get_string()))
            return invalid("\"$file\" must name an artifact, such as {\"$file\": \"artifact_01J…\"}");
        const std::string text(id->get_string());
        if (std::find(found.begin(), found.end(), text) == found.end()) found.push_back(text);
    } else if (value.is_object()) {
        for (const auto& field : value.get_object()) TRY(collect_files(field.value(), found));
    } else if (value.is_array()) {
        for (const json::Value& item : value.get_array()) TRY(collect_files(item, found));
    }
    return {};
}

template <class Value, class Visit>
void visit_files(Value& value, const DocumentFiles& files, const Visit& visit) {
    if (const json::Value* id = named_file(value)) {
        const auto file = id->is_string() ? files.find(std::string(id->get_string())) : files.end();
        if (file != files.end()) visit(value, file->second);
    } else if (value.is_object()) {
        for (auto& field : value.get_object()) visit_files(field.value(), files, visit);
    } else if (value.is_array()) {
        for (auto& item : value.get_array()) visit_files(item, files, visit);
    }
}

} // namespace

Result<std::vector<std::string>> files_in(const json::Value& value) {
    std::vector<std::string> found;
    TRY(collect_files(value, found));
    return found;
}

void add_file_paths(json::Value& value, const DocumentFiles& files, const std::string& folder) {
    visit_files(value, files, [&](json::Value& at, const GivenFile& file) {
        json::Object& object = at.get_object();
        object["name"] = file.about.name;
        object["media_type"] = file.about.media_type;
        object["bytes"] = file.about.bytes;
        object["path"] = folder + "/" + file.about.id;
    });
}

std::vector<const GivenFile*> given_files(const json::Value& value, const DocumentFiles& files) {
    std::vector<const GivenFile*> found;
    visit_files(value, files, [&](const json::Value&, const GivenFile& file) {
        if (std::find(found.begin(), found.end(), &file) == found.end()) found.push_back(&file);
    });
    return found;
}

bool is_image(std::string_view media_type) {
    return media_type == "image/png" || media_type == "image/jpeg" || media_type == "image/gif" ||
           media_type == "image/webp";
}

} // namespace hone::evaluate
