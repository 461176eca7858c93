#include "evaluate/datasets/datasets.h"

#include "access/names.h"
#include "base/text.h"
#include "evaluate/datasets/dataset_rows.h"

#include <fmt/format.h>
#include <map>

namespace hone::evaluate {

using access::Caller, access::Page, access::PageRequest, access::Permission, access::SpaceId;

Result<std::string> checked_title(std::string_view what, std::string_view name) {
    const std::string_view trimmed = trim(name);
    if (trimmed.empty()) return invalid(std::string(what) + " must not be empty");
    if (trimmed.size() > 300) return invalid(std::string(what) + " must be at most 300 bytes long");
    if (!is_valid_utf8(trimmed)) return invalid(std::string(what) + " must be valid UTF-8");
    for (const char letter : trimmed)
        if (static_cast<unsigned char>(letter) < 0x20 || letter == 0x7f)
            return invalid(std::string(what) + " must not contain control characters");
    return std::string(trimmed);
}

Result<> check_metadata(std::string_view what, const json::Value& metadata) {
    if (!metadata.is_object()) return invalid(std::string(what) + " must be an object");
    if (json::print(metadata).size() > largest_metadata)
        return invalid(fmt::format("{} must be at most {} bytes of JSON", what, largest_metadata));
    return {};
}

namespace {

const std::string select_dataset = "SELECT " + sql::names(dataset_columns) + " FROM datasets";
const std::string select_version = "SELECT " + sql::names(version_columns) + " FROM dataset_versions";

Dataset dataset_of(const sql::Row& row) {
    return sql::read<Dataset>(dataset_columns, row);
}

// A dataset of a space that the caller does not belong to must not be visible.
Result<Dataset> allowed_dataset(const Caller& caller, Dataset found, Permission permission, std::string_view what) {
    const auto allowed = caller.require(permission, found.space_id);
    if (allowed.ok()) return found;
    if (allowed.error().code == Code::not_found) return not_found("dataset " + std::string(truncate_utf8(what, 100)));
    return allowed.error();
}

Result<std::string> checked_text(std::string_view what, std::string_view text, size_t limit) {
    if (text.size() > limit) return invalid(fmt::format("{} must be at most {} bytes long", what, limit));
    if (!is_valid_utf8(text) || text.find('\0') != text.npos)
        return invalid(std::string(what) + " must be UTF-8 text without NUL");
    return std::string(text);
}

} // namespace

Result<Page<Dataset>> Datasets::list(const Caller& caller, const SpaceId& space, const std::optional<std::string>& name,
                                     const PageRequest& page) const {
    TRY(caller.require(Permission::dataset_read, space));
    const std::string after = TRY(page.after());
    std::string sql = select_dataset + " WHERE space_id = ?";
    std::vector<sql::Value> values{sql::to_value(space)};
    if (!after.empty()) {
        sql += " AND id < ?";
        values.push_back(sql::to_value(after));
    }
    if (name) {
        if (!is_valid_utf8(*name) || name->find('\0') != name->npos) return Page<Dataset>{};
        sql += " AND name = ?";
        values.push_back(sql::to_value(*name));
    }
    sql += " ORDER BY id DESC LIMIT ?";
    values.push_back(sql::to_value(page.limit + 1));
    std::vector<Dataset> found;
    for (const auto& row : TRY(m_database.run_query(sql, values))) found.push_back(dataset_of(row));
    return access::make_page(std::move(found), page, [](const Dataset& one) { return one.id.text(); });
}

Result<Dataset> Datasets::find(const Caller& caller, const SpaceId& space, std::string_view id_or_name,
                               Permission permission) const {
    if (caller.is_guest()) return unauthorized("log in, or send an API key as `Authorization: Bearer …`");
    const auto absent = [&] { return not_found("dataset " + std::string(truncate_utf8(id_or_name, 100))); };
    if (!is_valid_utf8(id_or_name) || id_or_name.find('\0') != id_or_name.npos) return absent();
    const auto rows = TRY(m_database.query(
        select_dataset + " WHERE id = ? OR (space_id = ? AND name = ?) ORDER BY CASE WHEN id = ? THEN 0 ELSE 1 END "
                         "LIMIT 1",
        id_or_name, space, id_or_name, id_or_name));
    if (rows.empty()) return absent();
    return allowed_dataset(caller, dataset_of(rows.front()), permission, id_or_name);
}

Result<Dataset> Datasets::dataset(const Caller& caller, const DatasetId& id, Permission permission) const {
    const auto rows = TRY(m_database.query(select_dataset + " WHERE id = ?", id));
    if (rows.empty()) return not_found("dataset " + id.text());
    return allowed_dataset(caller, dataset_of(rows.front()), permission, id.text());
}

Result<DocumentFiles> Datasets::read_files(const DatasetId& id, const std::vector<std::string>& files) const {
    DocumentFiles found;
    if (files.empty() || m_files == nullptr) return found;
    const Dataset of = TRY(dataset(Caller::system(), id, Permission::dataset_read));
    for (const std::string& file : files) {
        // A name that was not checked when an example was stored is data, such as in the output of an application.
        if (TRY(m_database.query("SELECT 1 FROM dataset_files WHERE artifact_id = ? AND dataset_id = ?", file, id))
                .empty())
            continue;
        ExampleFile about = TRY(m_files->find(Caller::system(), of.space_id, file));
        std::string content = TRY(m_files->content(of.space_id, file));
        found.emplace(file, GivenFile{std::move(about), std::move(content)});
    }
    return found;
}

Result<std::map<std::string, std::vector<std::string>>> Datasets::source_traces() const {
    std::map<std::string, std::vector<std::string>> traces;
    for (const auto& row :
         TRY(m_database.query("SELECT DISTINCT source_project, source_trace FROM dataset_examples WHERE source_trace "
                              "IS NOT NULL AND source_project IS NOT NULL")))
        traces[row.text(0)].push_back(row.text(1));
    return traces;
}

Result<Dataset> Datasets::update(const Caller& caller, const DatasetId& id, const DatasetChange& change) {
    Dataset changed = TRY(dataset(caller, id, Permission::dataset_write));
    if (change.name) changed.name = TRY(checked_title("name", *change.name));
    if (change.description) changed.description = TRY(checked_text("description", *change.description, 10'000));
    if (change.metadata) {
        TRY(check_metadata("metadata", *change.metadata));
        changed.metadata = *change.metadata;
    }
    changed.updated_at = m_clock.now();
    TRY(m_database.write([&](sql::Transaction& transaction) -> Result<> {
        const auto taken = TRY(transaction.query("SELECT id FROM datasets WHERE space_id = ? AND name = ? AND id <> ?",
                                                 changed.space_id, changed.name, id));
        if (!taken.empty()) return conflict("a dataset named " + changed.name + " exists already in this space");
        TRY(transaction.execute(
            "UPDATE datasets SET name = ?, description = ?, metadata = ?, updated_at = ? WHERE id = ?", changed.name,
            changed.description, json::print(changed.metadata), changed.updated_at, id));
        return m_access.audit.record(transaction, caller,
                                     {"dataset_update", changed.space_id, id.text(), {{"name", changed.name}}});
    }));
    return changed;
}

Result<> Datasets::remove(const Caller& caller, const DatasetId& id) {
    const Dataset gone = TRY(dataset(caller, id, Permission::dataset_write));
    return m_database.write([&](sql::Transaction& transaction) -> Result<> {
        if (TRY(transaction.execute("DELETE FROM datasets WHERE id = ?", id)) == 0)
            return not_found("dataset " + id.text());
        return m_access.audit.record(
            transaction, caller,
            {"dataset_delete", gone.space_id, id.text(), {{"name", gone.name}, {"examples", gone.example_count}}});
    });
}

Result<Page<DatasetVersion>> Datasets::versions(const Caller& caller, const DatasetId& id,
                                                const PageRequest& page) const {
    TRY(dataset(caller, id, Permission::dataset_read));
    const std::string after = TRY(page.after());
    int64_t below = INT64_MAX;
    if (!after.empty()) {
        const auto number = parse_integer(after);
        if (!number.ok()) return invalid("cursor is not valid for this list");
        below = number.value();
    }
    std::vector<DatasetVersion> found;
    for (const auto& row :
         TRY(m_database.query(select_version + " WHERE dataset_id = ? AND number < ? ORDER BY number DESC LIMIT ?", id,
                              below, page.limit + 1)))
        found.push_back(sql::read<DatasetVersion>(version_columns, row));
    return access::make_page(std::move(found), page,
                             [](const DatasetVersion& one) { return std::to_string(one.number); });
}

Result<DatasetVersion> Datasets::version(const Caller& caller, const DatasetId& id, int64_t number) const {
    const Dataset of = TRY(dataset(caller, id, Permission::dataset_read));
    if (number == newest_version) number = of.version;
    const auto rows = TRY(m_database.query(select_version + " WHERE dataset_id = ? AND number = ?", id, number));
    if (rows.empty()) return not_found("version " + std::to_string(number) + " of dataset " + of.name);
    return sql::read<DatasetVersion>(version_columns, rows.front());
}

Result<DatasetVersion> Datasets::version(const Caller& caller, const DatasetId& id,
                                         const DatasetVersionId& version) const {
    TRY(dataset(caller, id, Permission::dataset_read));
    const auto rows = TRY(m_database.query(select_version + " WHERE dataset_id = ? AND id = ?", id, version));
    if (rows.empty()) return not_found("version " + version.text() + " of this dataset");
    return sql::read<DatasetVersion>(version_columns, rows.front());
}

Result<std::vector<Example>> Datasets::examples(const Caller& caller, const DatasetId& id, int64_t version,
                                                const std::vector<SplitId>& splits, int64_t after_position,
                                                int64_t limit) const {
    TRY(dataset(caller, id, Permission::dataset_read));
    // The newest version has the revisions that nothing replaces.
    const int64_t at = version == newest_version ? never_replaced - 1 : version;
    std::string sql = "SELECT " + std::string(example_columns) +
                      " FROM dataset_revisions r JOIN dataset_examples e ON e.id = r.example_id WHERE r.dataset_id = ? "
                      "AND r.position > ? AND r.version <= ? AND r.replaced > ? AND r.kind <> 'delete'";
    std::vector<sql::Value> values{sql::to_value(id), sql::to_value(after_position), sql::to_value(at),
                                   sql::to_value(at)};
    if (!splits.empty()) {
        sql += " AND EXISTS (SELECT 1 FROM dataset_split_members m WHERE m.example_id = e.id AND m.split_id IN (" +
               sql::marks(splits.size()) + "))";
        for (const SplitId& split : splits) values.push_back(sql::to_value(split));
    }
    sql += " ORDER BY r.position LIMIT ?";
    values.push_back(sql::to_value(limit));
    std::vector<Example> found;
    const auto rows = TRY(m_database.run_query(sql, values));
    found.reserve(rows.size());
    for (const auto& row : rows) found.push_back(example_of(row));
    return found;
}

Result<> Datasets::add_split_names(const Caller& caller, const DatasetId& id, std::vector<Example>& examples) const {
    TRY(dataset(caller, id, Permission::dataset_read));
    if (examples.empty()) return {};
    std::map<ExampleId, Example*> by_id;
    for (Example& example : examples) by_id[example.id] = &example;
    const auto rows = TRY(m_database.query(
        "SELECT m.example_id, s.name FROM dataset_split_members m JOIN dataset_splits s ON s.id = m.split_id JOIN "
        "dataset_examples e ON e.id = m.example_id WHERE s.dataset_id = ? AND e.position >= ? AND e.position <= ? "
        "ORDER BY s.name",
        id, examples.front().position, examples.back().position));
    for (const auto& row : rows)
        if (const auto found = by_id.find(row.id<ExampleTag>(0)); found != by_id.end())
            found->second->splits.push_back(row.text(1));
    return {};
}

namespace {

json::Value content_of(const sql::Row& row, size_t first) {
    return json::Object{{"input", stored_json(row.text(first))},
                        {"output", stored_json(row.text(first + 1))},
                        {"metadata", stored_json(row.text(first + 2))}};
}

} // namespace

Result<Page<ExampleDifference>> Datasets::difference(const Caller& caller, const DatasetId& id, int64_t from,
                                                     int64_t to, const PageRequest& page) const {
    from = TRY(version(caller, id, from)).number;
    to = TRY(version(caller, id, to)).number;
    const std::string after = TRY(page.after());
    int64_t position = -1;
    if (!after.empty()) {
        const auto number = parse_integer(after);
        if (!number.ok()) return invalid("cursor is not valid for this list");
        position = number.value();
    }
    const auto changed = TRY(m_database.query(
        "SELECT DISTINCT r.position, r.example_id, e.external_id FROM dataset_revisions r JOIN dataset_examples e ON "
        "e.id = r.example_id WHERE r.dataset_id = ? AND r.version > ? AND r.version <= ? AND r.position > ? ORDER BY "
        "r.position LIMIT ?",
        id, std::min(from, to), std::max(from, to), position, page.limit + 1));
    Page<ExampleDifference> result;
    for (size_t i = 0; i < changed.size(); ++i) {
        if (i == static_cast<size_t>(page.limit)) {
            result.next_cursor = to_base64url(std::to_string(changed[i - 1].integer(0)));
            break;
        }
        const auto revisions = TRY(m_database.query(
            "SELECT version, replaced, kind, content_hash, input, output, metadata FROM dataset_revisions WHERE "
            "example_id = ?",
            changed[i].text(1)));
        ExampleDifference difference;
        difference.id = changed[i].id<ExampleTag>(1);
        difference.external_id = changed[i].optional_text(2);
        std::string before_hash, after_hash;
        for (const auto& row : revisions) {
            if (row.text(2) == "delete") continue;
            if (row.integer(0) <= from && row.integer(1) > from) {
                difference.before = content_of(row, 4);
                before_hash = row.text(3);
            }
            if (row.integer(0) <= to && row.integer(1) > to) {
                difference.after = content_of(row, 4);
                after_hash = row.text(3);
            }
        }
        if (before_hash == after_hash) continue;
        difference.change = !difference.before ? "added" : !difference.after ? "removed" : "changed";
        result.data.push_back(std::move(difference));
    }
    return result;
}

Result<DatasetVersion> Datasets::restore(const Caller& caller, const DatasetId& id, int64_t wanted) {
    const Dataset of = TRY(dataset(caller, id, Permission::dataset_write));
    const DatasetVersion old = TRY(version(caller, id, wanted));
    const DatasetVersionId made = make_id<DatasetVersionTag>(m_clock);
    const Time now = m_clock.now();
    const int64_t number = TRY(m_database.write([&](sql::Transaction& transaction) -> Result<int64_t> {
        const auto rows = TRY(transaction.query("SELECT version FROM datasets WHERE id = ?", id));
        if (rows.empty()) return not_found("dataset " + id.text());
        const int64_t next = rows.front().integer(0) + 1;
        constexpr std::string_view insert = "INSERT INTO dataset_revisions (example_id, version, dataset_id, position, "
                                            "kind, replaced, content_hash, input, output, metadata, created_at) ";
        const int64_t written = TRY(transaction.execute(
            std::string(insert) +
                "SELECT o.example_id, CAST(? AS BIGINT), o.dataset_id, o.position, CASE WHEN c.kind = 'delete' THEN "
                "'create' ELSE 'patch' END, CAST(? AS BIGINT), o.content_hash, o.input, o.output, o.metadata, CAST(? "
                "AS BIGINT) FROM dataset_revisions o JOIN dataset_revisions c ON c.example_id = o.example_id AND "
                "c.replaced = ? WHERE o.dataset_id = ? AND o.version <= ? AND o.replaced > ? AND o.kind <> 'delete' "
                "AND (c.kind = 'delete' OR c.content_hash <> o.content_hash)",
            next, never_replaced, now, never_replaced, id, old.number, old.number));
        const int64_t deleted = TRY(transaction.execute(
            std::string(insert) +
                "SELECT c.example_id, CAST(? AS BIGINT), c.dataset_id, c.position, 'delete', CAST(? AS BIGINT), '', "
                "'null', 'null', 'null', CAST(? AS BIGINT) FROM dataset_revisions c WHERE c.dataset_id = ? AND "
                "c.replaced = ? AND c.version < ? AND c.kind <> 'delete' AND NOT EXISTS (SELECT 1 FROM "
                "dataset_revisions o WHERE o.example_id = c.example_id AND o.version <= ? AND o.replaced > ? AND "
                "o.kind <> 'delete')",
            next, never_replaced, now, id, never_replaced, next, old.number, old.number));
        if (written + deleted == 0) return next - 1;
        TRY(transaction.execute(
            "UPDATE dataset_revisions SET replaced = ? WHERE dataset_id = ? AND replaced = ? AND version < ? AND "
            "EXISTS (SELECT 1 FROM dataset_revisions n WHERE n.example_id = dataset_revisions.example_id AND n.version "
            "= ?)",
            next, id, never_replaced, next, next));
        const auto kinds = TRY(transaction.query(
            "SELECT COALESCE(SUM(CASE WHEN kind = 'create' THEN 1 ELSE 0 END), 0) FROM dataset_revisions WHERE "
            "dataset_id = ? AND version = ?",
            id, next));
        const int64_t created = kinds.front().integer(0);
        TRY(transaction.execute(
            "INSERT INTO dataset_versions (id, dataset_id, number, note, source, created, patched, deleted, "
            "example_count, created_by, created_by_name, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            made, id, next, "Version " + std::to_string(old.number) + " restored.", name_of(VersionSource::restore),
            created, written - created, deleted, old.example_count, caller.actor(), caller.name, now));
        TRY(transaction.execute("UPDATE datasets SET version = ?, example_count = ?, updated_at = ? WHERE id = ?", next,
                                old.example_count, now, id));
        TRY(m_access.audit.record(
            transaction, caller,
            {"dataset_restore", of.space_id, id.text(), {{"name", of.name}, {"version", old.number}}}));
        return next;
    }));
    return version(caller, id, number);
}

} // namespace hone::evaluate
