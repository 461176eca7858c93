// Datasets of spaces: examples with immutable versions, splits and labels. A change of examples is one transaction that
// makes one version; a version is made only when something changes. Everything here checks the caller's permission in
// the space of the dataset. Thread-safe.
#pragma once

#include "access/access.h"
#include "access/page.h"
#include "evaluate/content/files.h"
#include "evaluate/datasets/dataset.h"

#include <map>
#include <memory>

namespace hone::evaluate {

// Limits; what is larger is refused with its number.
constexpr int64_t most_examples = 2'000'000;  // of a dataset
constexpr size_t largest_example = 4 << 20;   // bytes of input, output and metadata together
constexpr int64_t most_splits = 1000;         // of a dataset
constexpr int64_t newest_version = INT64_MAX; // instead of a number
constexpr size_t largest_metadata = 64 << 10; // of a dataset, a split, an experiment
Result<std::string> checked_title(std::string_view what, std::string_view name);
Result<> check_metadata(std::string_view what, const json::Value& metadata);

class ExampleImport;

class Datasets {
public:
    // `files`: null where examples cannot name files.
    Datasets(sql::Database& database, const Clock& clock, access::Access& access, ExampleFiles* files = nullptr)
        : m_database(database),
          m_clock(clock),
          m_access(access),
          m_files(files) {}

    // Newest first. `name`: only the one with exactly this name. `limit` of the page up to 1000.
    Result<access::Page<Dataset>> list(const access::Caller& caller, const access::SpaceId& space,
                                       const std::optional<std::string>& name, const access::PageRequest& page) const;
    // By id, or by name within `space`. not_found when the caller may not see it.
    Result<Dataset> find(const access::Caller& caller, const access::SpaceId& space, std::string_view id_or_name,
                         access::Permission permission = access::Permission::dataset_read) const;
    // Whether the caller may upload to the space; for callers that read much before they upload.
    Result<> check_writer(const access::Caller& caller, const access::SpaceId& space) const;
    Result<Uploaded> upload(const access::Caller& caller, const access::SpaceId& space, Upload upload);
    // An upload of any length that is added piece by piece (example_import.h).
    Result<std::unique_ptr<ExampleImport>> begin_import(const access::Caller& caller, const access::SpaceId& space,
                                                        const std::string& name, UploadAction action);
    Result<Dataset> update(const access::Caller& caller, const DatasetId& id, const DatasetChange& change);
    // What examples must look like: {"input": …, "output": …, "metadata": …}, each a JSON Schema; nothing: anything.
    Result<std::optional<json::Value>> schema(const access::Caller& caller, const DatasetId& id) const;
    // Conflict when an example of the newest version does not fit.
    Result<> set_schema(const access::Caller& caller, const DatasetId& id, const std::optional<json::Value>& schema);
    // With its experiments.
    Result<> remove(const access::Caller& caller, const DatasetId& id);

    // Newest first.
    Result<access::Page<DatasetVersion>> versions(const access::Caller& caller, const DatasetId& id,
                                                  const access::PageRequest& page) const;
    // By its id or its number; `newest_version` is the newest one.
    Result<DatasetVersion> version(const access::Caller& caller, const DatasetId& id, int64_t number) const;
    Result<DatasetVersion> version(const access::Caller& caller, const DatasetId& id,
                                   const DatasetVersionId& version) const;

    // The examples of a version in order, up to `limit` after `position`; `splits` (ids) narrows them to members of
    // any of these.
    Result<std::vector<Example>> examples(const access::Caller& caller, const DatasetId& id, int64_t version,
                                          const std::vector<SplitId>& splits, int64_t after_position,
                                          int64_t limit) const;
    // Adds the names of splits to examples.
    Result<> add_split_names(const access::Caller& caller, const DatasetId& id, std::vector<Example>& examples) const;

    // The artifacts of these ids that examples of the dataset name, with their contents; others are left out.
    // not_found: one is gone.
    Result<DocumentFiles> read_files(const DatasetId& id, const std::vector<std::string>& files) const;

    // By project: the traces that examples came from, of any version. For retention, which keeps them.
    Result<std::map<std::string, std::vector<std::string>>> source_traces() const;

    // What changed from one version to another, in the order of the examples, up to `limit` after `position`.
    Result<access::Page<ExampleDifference>> difference(const access::Caller& caller, const DatasetId& id, int64_t from,
                                                       int64_t to, const access::PageRequest& page) const;
    // Makes a new version with the examples of an old one. The newest version when both are equal.
    Result<DatasetVersion> restore(const access::Caller& caller, const DatasetId& id, int64_t version);

    // Splits, by name. `names_or_ids` must exist: not_found names the first that does not.
    Result<std::vector<Split>> splits(const access::Caller& caller, const DatasetId& id) const;
    Result<std::vector<Split>> find_splits(const access::Caller& caller, const DatasetId& id,
                                           const std::vector<std::string>& names_or_ids) const;
    Result<Split> create_split(const access::Caller& caller, const DatasetId& id, const SplitChange& wanted);
    Result<Split> update_split(const access::Caller& caller, const DatasetId& id, std::string_view name_or_id,
                               const SplitChange& change);
    Result<> remove_split(const access::Caller& caller, const DatasetId& id, std::string_view name_or_id);

    // Labels of a space, and those of a dataset.
    Result<access::Page<DatasetLabel>> labels(const access::Caller& caller, const access::SpaceId& space,
                                              const access::PageRequest& page) const;
    Result<DatasetLabel> label(const access::Caller& caller, const DatasetLabelId& id,
                               access::Permission permission = access::Permission::dataset_read) const;
    Result<DatasetLabel> create_label(const access::Caller& caller, const access::SpaceId& space,
                                      const DatasetLabelChange& wanted);
    Result<DatasetLabel> update_label(const access::Caller& caller, const DatasetLabelId& id,
                                      const DatasetLabelChange& change);
    Result<> remove_label(const access::Caller& caller, const DatasetLabelId& id);
    Result<std::vector<DatasetLabel>> labels_of(const access::Caller& caller, const DatasetId& id) const;
    // Replaces them.
    Result<std::vector<DatasetLabel>> set_labels(const access::Caller& caller, const DatasetId& id,
                                                 const std::vector<DatasetLabelId>& labels);
    Result<DatasetLabel> add_label(const access::Caller& caller, const DatasetId& id, const DatasetLabelId& label);
    Result<> drop_label(const access::Caller& caller, const DatasetId& id, const DatasetLabelId& label);

private:
    Result<Dataset> dataset(const access::Caller& caller, const DatasetId& id, access::Permission permission) const;

    sql::Database& m_database;
    const Clock& m_clock;
    access::Access& m_access;
    ExampleFiles* const m_files;
};

} // namespace hone::evaluate
