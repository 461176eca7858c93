// A dataset and what belongs to it: versions, examples, splits, labels. Declared once for the API and the CLI. Values
// only; any thread.
#pragma once

#include "access/caller.h"
#include "json/json.h"

#include <optional>
#include <string>
#include <vector>

namespace hone::evaluate {

struct DatasetTag {
    static constexpr std::string_view kind = "dataset";
};
struct DatasetVersionTag {
    static constexpr std::string_view kind = "datasetversion";
};
struct ExampleTag {
    static constexpr std::string_view kind = "example";
};
struct SplitTag {
    static constexpr std::string_view kind = "split";
};
struct DatasetLabelTag {
    static constexpr std::string_view kind = "datasetlabel";
};
using DatasetId = Id<DatasetTag>;
using DatasetVersionId = Id<DatasetVersionTag>;
using ExampleId = Id<ExampleTag>;
using SplitId = Id<SplitTag>;
using DatasetLabelId = Id<DatasetLabelTag>;

struct Dataset {
    DatasetId id;
    access::SpaceId space_id;
    std::string name;
    std::string description;
    json::Value metadata = json::Object{};
    int64_t version = 0;       // number of the newest version
    int64_t example_count = 0; // of the newest version
    std::string created_by;
    Time created_at{};
    Time updated_at{};
};

// Where the examples of a version came from.
enum class VersionSource { upload, import, spans, ui, restore };
constexpr auto enum_names(VersionSource) {
    return std::array{EnumName{VersionSource::upload, "upload"}, EnumName{VersionSource::import, "import"},
                      EnumName{VersionSource::spans, "spans"}, EnumName{VersionSource::ui, "ui"},
                      EnumName{VersionSource::restore, "restore"}};
}

// Immutable. Numbered from 1.
struct DatasetVersion {
    DatasetVersionId id;
    DatasetId dataset_id;
    int64_t number = 0;
    std::string note;
    VersionSource source = VersionSource::upload;
    int64_t created = 0, patched = 0, deleted = 0; // compared with the version before
    int64_t example_count = 0;
    std::string created_by;
    Time created_at{};
};

// An example as one version has it. Input, output and metadata are JSON texts.
struct Example {
    ExampleId id;
    std::optional<std::string> external_id;
    int64_t position = 0;
    std::string input;
    std::string output;
    std::string metadata;
    std::optional<std::string> source_project;
    std::optional<std::string> source_trace;
    std::optional<std::string> source_span;
    Time updated_at{};
    std::vector<std::string> splits{}; // only where they are requested
};

struct ExampleSource {
    std::string project;
    std::string trace;
    std::string span;
};

struct NewExample {
    json::Value input;
    json::Value output = json::Object{};
    json::Value metadata = json::Object{};
    // Id of an example of the dataset, or the sender's own id.
    std::optional<std::string> example_id{};
    bool has_assigned_id = false; // by a server that exported it: of no meaning to another dataset
    std::vector<std::string> splits{};
    std::optional<ExampleSource> source{};
    bool names_files = true; // false: what it has was sent by an application, and "$file" in it is data
};

enum class UploadAction { create, append, update };
constexpr auto enum_names(UploadAction) {
    return std::array{EnumName{UploadAction::create, "create"}, EnumName{UploadAction::append, "append"},
                      EnumName{UploadAction::update, "update"}};
}

// `create`: the dataset must not exist. `append`: examples are added or changed, none is deleted. `update`: the dataset
// has exactly these examples afterwards. A new version is made only when something changes.
struct Upload {
    UploadAction action = UploadAction::create;
    std::string name;
    std::optional<std::string> description{};
    std::vector<NewExample> examples{};
    bool replaces_splits = false; // of all examples for update, of the uploaded ones for append
    VersionSource source = VersionSource::upload;
    std::string note{};
};

struct Uploaded {
    DatasetId dataset;
    DatasetVersionId version;
    int64_t created = 0, updated = 0, deleted = 0;
    int64_t redacted = 0; // texts from which a credential was removed
    bool is_new = false;  // the dataset was made
};

struct DatasetChange {
    std::optional<std::string> name{};
    std::optional<std::string> description{};
    std::optional<json::Value> metadata{};
};

struct Split {
    SplitId id;
    DatasetId dataset_id;
    std::string name;
    std::string description;
    std::string color;
    json::Value metadata = json::Object{};
    int64_t example_count = 0; // of the newest version
    Time created_at{};
    Time updated_at{};
};

struct SplitChange {
    std::optional<std::string> name{};
    std::optional<std::string> description{};
    std::optional<std::string> color{};
    std::optional<json::Value> metadata{};
    std::vector<std::string> add{};    // ids of examples
    std::vector<std::string> remove{}; // wins over add
};

struct DatasetLabel {
    DatasetLabelId id;
    access::SpaceId space_id;
    std::string name;
    std::string description;
    std::string color;
};

struct DatasetLabelChange {
    std::optional<std::string> name{};
    std::optional<std::string> description{};
    std::optional<std::string> color{};
};

// An example that two versions have differently.
struct ExampleDifference {
    ExampleId id;
    std::optional<std::string> external_id;
    std::string change; // added, removed, changed
    std::optional<json::Value> before;
    std::optional<json::Value> after;
    static constexpr Pack fields{
        Field{"id", &ExampleDifference::id, "Id of the example."},
        Field{"external_id", &ExampleDifference::external_id, "Id given by the sender."},
        Field{"change", &ExampleDifference::change, "added, removed or changed."},
        Field{"before", &ExampleDifference::before, "Input, output and metadata in the first version."},
        Field{"after", &ExampleDifference::after, "Input, output and metadata in the second version."},
    };
};

} // namespace hone::evaluate
