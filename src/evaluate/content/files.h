// Files of examples: {"$file": "artifact_…"} inside an input or an output names an artifact of the space. Which ids are
// named, and the interface through which names are checked and contents are read. Any thread.
#pragma once

#include "access/caller.h"
#include "json/json.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace hone::evaluate {

struct ExampleFile {
    std::string id;
    std::string name;
    std::string media_type;
    int64_t bytes = 0;
};

// Implemented by server/.
class ExampleFiles {
public:
    virtual ~ExampleFiles() = default;
    // not_found: it is not in the space, or the caller cannot read it.
    virtual Result<ExampleFile> find(const access::Caller& caller, const access::SpaceId& space,
                                     const std::string& id) = 0;
    virtual Result<std::string> content(const access::SpaceId& space, const std::string& id) = 0;
};

// A file that an evaluator gets with a document.
struct GivenFile {
    ExampleFile about;
    std::string content;
};
using DocumentFiles = std::map<std::string, GivenFile>; // by id

constexpr std::string_view file_key = "$file";
constexpr size_t most_files = 20; // of an example
constexpr int64_t largest_document_files = int64_t{32} << 20;

// The ids that a value names, each once. An object whose only key is "$file" is a name: invalid when it is not an id.
Result<std::vector<std::string>> files_in(const json::Value& value);

// The same value in which each name of a file of `files` also has what is known of it, and its path in `folder`.
void add_file_paths(json::Value& value, const DocumentFiles& files, const std::string& folder);

// The files of `files` that the value names.
std::vector<const GivenFile*> given_files(const json::Value& value, const DocumentFiles& files);

// What models take as images.
bool is_image(std::string_view media_type);

} // namespace hone::evaluate
