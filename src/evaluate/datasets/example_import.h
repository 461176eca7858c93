// An upload of any length: examples are stored while they arrive, invisible until finish() publishes them as one
// version. Memory grows with the examples that the dataset had before, not with those that arrive. Examples are added
// to the splits that they name. An import that is not finished is removed; what a killed server leaves is removed by
// the next import or upload. Of two imports of one dataset at the same time at most one is published. One thread.
#pragma once

#include "evaluate/datasets/datasets.h"
#include "evaluate/datasets/example_writes.h"

#include <array>
#include <unordered_map>

namespace hone::evaluate {

class ExampleImport {
public:
    ~ExampleImport();
    ExampleImport(const ExampleImport&) = delete;
    ExampleImport& operator=(const ExampleImport&) = delete;

    Result<> add(NewExample example);
    Result<Uploaded> finish();

private:
    friend class Datasets;
    using Hash = std::array<char, 16>;
    struct Known {
        ExampleId id;
        int64_t position = 0;
        Hash hash{};
        bool is_deleted = false;
        bool is_matched = false;
    };
    struct Waiting {
        ExampleId id;
        int64_t position = -1; // of a known example
        std::string kind;      // create, patch, delete; empty: unchanged
        std::optional<std::string> external_id{};
        std::string hash{}, input{}, output{}, metadata{};
        std::vector<std::string> splits{};
    };

    ExampleImport(sql::Database& database, const Clock& clock, access::Access& access, access::Caller caller,
                  ExampleFiles* files);
    Result<> load();
    Result<Known*> match(const NewExample& example, const std::string& hash);
    Result<> flush();
    Result<> store(sql::Transaction& transaction);
    Result<> add_deletions();
    Result<> show_pending(sql::Transaction& transaction, int64_t version);
    Result<> publish(sql::Transaction& transaction);
    Result<> remove_pending();
    static Hash short_hash(const std::string& hash);

    sql::Database& m_database;
    const Clock& m_clock;
    access::Access& m_access;
    const access::Caller m_caller;
    Dataset m_dataset;
    std::optional<ExampleSchema> m_schema;
    ExampleFiles* const m_source_files;
    std::optional<NamedFiles> m_files; // with the first example that names one
    UploadAction m_action = UploadAction::append;
    int64_t m_marker = 0; // `replaced` of its invisible revisions: negative
    std::vector<Known> m_known;
    std::unordered_map<std::string, size_t> m_by_id, m_by_external;
    std::unordered_map<std::string, std::vector<size_t>> m_by_hash; // the last is taken first
    std::vector<Waiting> m_waiting;
    size_t m_number = 0;
    Uploaded m_done;
    bool m_is_new = false; // the dataset was made for this import
    bool m_is_over = false;
};

} // namespace hone::evaluate
