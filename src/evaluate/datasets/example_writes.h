// What uploads and imports share: examples checked and made ready, rows inserted in groups, splits made by name. For
// the files of this folder.
#pragma once

#include "evaluate/content/canonical.h"
#include "evaluate/datasets/dataset_rows.h"
#include "evaluate/datasets/datasets.h"
#include "evaluate/datasets/example_schema.h"

#include <fmt/format.h>
#include <map>
#include <set>
#include <unordered_map>

namespace hone::evaluate {

constexpr size_t rows_at_once = 50;

// An incoming example, checked and ready to be stored.
struct Prepared {
    std::string input, output, metadata; // JSON
    std::string hash;
    std::vector<std::string> files; // artifacts that it names
};

// The schema of a dataset; nothing when it has none.
Result<std::optional<ExampleSchema>> stored_schema(sql::Database& database, const access::SpaceId& space,
                                                   const std::string& name);

// `number` is for messages.
inline Result<Prepared> prepare(NewExample& example, size_t number, int64_t& redacted,
                                const std::optional<ExampleSchema>& schema) {
    const auto wrong = [&](std::string_view why) { return invalid(fmt::format("example {}: {}", number, why)); };
    if (!example.input.is_object()) return wrong("input must be an object");
    if (!example.output.is_object()) return wrong("output must be an object");
    if (!example.metadata.is_object()) return wrong("metadata must be an object");
    if (example.example_id) {
        if (example.example_id->empty() || example.example_id->size() > 500)
            return wrong("its id must have 1 to 500 bytes");
        if (!is_valid_utf8(*example.example_id) || example.example_id->find('\0') != std::string::npos)
            return wrong("its id must be UTF-8 text without NUL");
    }
    if (schema)
        if (const auto fits = schema->check(example); !fits.ok()) return wrong(fits.error().message);
    for (json::Value* part : {&example.input, &example.output, &example.metadata})
        redacted += remove_credentials(*part);
    Prepared ready{json::print(example.input),
                   json::print(example.output),
                   json::print(example.metadata),
                   content_hash(example.input, example.output, example.metadata),
                   {}};
    if (example.names_files) {
        auto files = files_in(json::Array{example.input, example.output});
        if (!files.ok()) return wrong(files.error().message);
        ready.files = std::move(files).value();
        if (ready.files.size() > most_files) return wrong(fmt::format("it names more than {} files", most_files));
    }
    if (ready.input.size() + ready.output.size() + ready.metadata.size() > largest_example)
        return wrong(fmt::format("it has more than {} MiB of JSON", largest_example >> 20));
    return ready;
}

// The files that the examples of one upload name.
class NamedFiles {
public:
    NamedFiles(ExampleFiles* files, const access::Caller& caller, access::SpaceId space)
        : m_files(files),
          m_caller(caller),
          m_space(std::move(space)) {}
    // Whether the caller may read what an example names.
    Result<> add(const Prepared& example, size_t number) {
        for (const std::string& id : example.files) {
            if (m_ids.contains(id)) continue;
            if (m_files == nullptr) return unavailable("this server has no artifacts that an example could name");
            const auto found = m_files->find(m_caller, m_space, id);
            if (!found.ok() && found.error().code != Code::not_found && found.error().code != Code::forbidden)
                return found.error();
            if (!found.ok()) return invalid(gone(number, id));
            m_ids.emplace(id, number);
        }
        return {};
    }
    // Within the transaction that stores the examples: from now on the artifacts are kept.
    Result<> store(sql::Transaction& transaction, const DatasetId& dataset) const {
        for (const auto& [id, number] : m_ids) {
            if (TRY(transaction.query("SELECT 1 FROM artifacts WHERE id = ?", id)).empty())
                return invalid(gone(number, id));
            TRY(transaction.execute("INSERT INTO dataset_files (dataset_id, artifact_id) VALUES (?, ?) ON CONFLICT "
                                    "(artifact_id, dataset_id) DO NOTHING",
                                    dataset, id));
        }
        return {};
    }

private:
    static std::string gone(size_t number, const std::string& id) {
        return fmt::format("example {}: the file {} is not in this space, or you cannot read it", number, id);
    }

    ExampleFiles* const m_files;
    const access::Caller& m_caller;
    const access::SpaceId m_space;
    std::map<std::string, size_t> m_ids; // with the first example that names it
};

// Inserts rows in groups: one statement each.
class RowGroups {
public:
    // `insert` ends with VALUES; `end` follows the rows, such as ON CONFLICT.
    RowGroups(sql::Transaction& transaction, std::string insert, size_t columns, std::string end = {})
        : m_transaction(transaction),
          m_insert(std::move(insert)),
          m_end(std::move(end)),
          m_columns(columns) {}
    template <class... Values>
    Result<> add(const Values&... values) {
        (m_values.push_back(sql::to_value(values)), ...);
        if (m_values.size() >= rows_at_once * m_columns) TRY(flush());
        return {};
    }
    Result<> flush() {
        if (m_values.empty()) return {};
        std::string sql = m_insert;
        for (size_t row = 0; row < m_values.size() / m_columns; ++row)
            sql += (row == 0 ? "(" : ", (") + sql::marks(m_columns) + ")";
        sql += m_end;
        m_inserted += TRY(m_transaction.run(sql, m_values)).affected;
        m_values.clear();
        return {};
    }
    int64_t inserted() const { return m_inserted; }

private:
    sql::Transaction& m_transaction;
    const std::string m_insert;
    const std::string m_end;
    const size_t m_columns;
    std::vector<sql::Value> m_values;
    int64_t m_inserted = 0;
};

// Takes away what an import of the dataset stored and has not published: it ended with its server, or it will fail when
// it is published.
inline Result<> remove_unpublished(sql::Transaction& transaction, const DatasetId& dataset) {
    if (TRY(transaction.execute("DELETE FROM dataset_revisions WHERE dataset_id = ? AND replaced < 0", dataset)) == 0)
        return {};
    TRY(transaction.execute("DELETE FROM dataset_examples WHERE dataset_id = ? AND NOT EXISTS (SELECT 1 FROM "
                            "dataset_revisions r WHERE r.example_id = dataset_examples.id)",
                            dataset));
    return {};
}

// The ids of splits by name; those that are missing are made.
inline Result<std::unordered_map<std::string, SplitId>> make_splits(sql::Transaction& transaction, const Clock& clock,
                                                                    const DatasetId& dataset,
                                                                    const std::set<std::string>& names) {
    std::unordered_map<std::string, SplitId> ids;
    for (const auto& row : TRY(transaction.query("SELECT name, id FROM dataset_splits WHERE dataset_id = ?", dataset)))
        ids.emplace(row.text(0), row.id<SplitTag>(1));
    for (const std::string& name : names) {
        if (ids.contains(name)) continue;
        const std::string checked = TRY(checked_title("the name of a split", name));
        if (checked != name) return invalid("the name of a split must not begin or end with a space");
        if (static_cast<int64_t>(ids.size()) >= most_splits)
            return invalid(fmt::format("a dataset has at most {} splits", most_splits));
        const SplitId id = make_id<SplitTag>(clock);
        TRY(transaction.execute("INSERT INTO dataset_splits (id, dataset_id, name, description, color, metadata, "
                                "created_at, updated_at) VALUES (?, ?, ?, '', '#4f7cac', '{}', ?, ?)",
                                id, dataset, name, clock.now(), clock.now()));
        ids.emplace(name, id);
    }
    return ids;
}

} // namespace hone::evaluate
