// Splits of a dataset: named sets of its examples.
#include "evaluate/datasets/dataset_rows.h"
#include "evaluate/datasets/datasets.h"

#include <fmt/format.h>
#include <set>

namespace hone::evaluate {

using access::Caller, access::Permission;

namespace {

constexpr Pack split_columns{
    sql::Column{"id", &Split::id},
    sql::Column{"dataset_id", &Split::dataset_id},
    sql::Column{"name", &Split::name},
    sql::Column{"description", &Split::description},
    sql::Column{"color", &Split::color},
    sql::Column{"metadata", stored_metadata},
    sql::Column{"created_at", &Split::created_at},
    sql::Column{"updated_at", &Split::updated_at},
};
const std::string select_split =
    "SELECT " + sql::names(split_columns, "s.") +
    ", (SELECT COUNT(*) FROM dataset_split_members m JOIN dataset_revisions r ON r.example_id = m.example_id WHERE "
    "m.split_id = s.id AND r.replaced = 9223372036854775807 AND r.kind <> 'delete') FROM dataset_splits s";

Split split_of(const sql::Row& row) {
    Split split = sql::read<Split>(split_columns, row);
    split.example_count = row.integer(row.size() - 1);
    return split;
}

Result<std::string> checked_split_color(const std::string& color) {
    const bool is_color =
        color.size() == 7 && color[0] == '#' && color.find_first_not_of("0123456789abcdef", 1) == std::string::npos;
    if (!is_color) return invalid("color must be # and six hexadecimal digits in lower case, such as #4f7cac");
    return color;
}

Result<> apply_split(Split& split, const SplitChange& change) {
    if (change.name) split.name = TRY(checked_title("name", *change.name));
    if (change.description) {
        if (change.description->size() > 2000 || !is_valid_utf8(*change.description) ||
            change.description->find('\0') != std::string::npos)
            return invalid("description must be UTF-8 text of at most 2000 bytes");
        split.description = *change.description;
    }
    if (change.color) split.color = TRY(checked_split_color(*change.color));
    if (change.metadata) {
        TRY(check_metadata("metadata", *change.metadata));
        split.metadata = *change.metadata;
    }
    return {};
}

// By id of the example, or by the sender's id.
Result<std::set<std::string>> example_ids(sql::Transaction& transaction, const DatasetId& dataset,
                                          const std::vector<std::string>& wanted) {
    std::set<std::string> ids;
    for (const std::string& text : wanted) {
        const auto rows = TRY(
            transaction.query("SELECT id FROM dataset_examples WHERE dataset_id = ? AND (id = ? OR external_id = ?)",
                              dataset, text, text));
        if (rows.empty()) return not_found("example " + std::string(truncate_utf8(text, 100)) + " of this dataset");
        ids.insert(rows.front().text(0));
    }
    return ids;
}

Result<> change_members(sql::Transaction& transaction, const Split& split, const SplitChange& change) {
    auto added = TRY(example_ids(transaction, split.dataset_id, change.add));
    const auto removed = TRY(example_ids(transaction, split.dataset_id, change.remove));
    for (const std::string& id : removed) {
        added.erase(id);
        TRY(transaction.execute("DELETE FROM dataset_split_members WHERE split_id = ? AND example_id = ?", split.id,
                                id));
    }
    for (const std::string& id : added)
        TRY(transaction.execute("INSERT INTO dataset_split_members (split_id, example_id) VALUES (?, ?) ON CONFLICT "
                                "(split_id, example_id) DO NOTHING",
                                split.id, id));
    return {};
}

} // namespace

Result<std::vector<Split>> Datasets::splits(const Caller& caller, const DatasetId& id) const {
    TRY(dataset(caller, id, Permission::dataset_read));
    std::vector<Split> found;
    for (const auto& row : TRY(m_database.query(select_split + " WHERE s.dataset_id = ? ORDER BY s.name", id)))
        found.push_back(split_of(row));
    return found;
}

Result<std::vector<Split>> Datasets::find_splits(const Caller& caller, const DatasetId& id,
                                                 const std::vector<std::string>& names_or_ids) const {
    const auto all = TRY(splits(caller, id));
    std::vector<Split> found;
    for (const std::string& wanted : names_or_ids) {
        const auto one = std::find_if(all.begin(), all.end(), [&](const Split& split) {
            return split.id.text() == wanted || split.name == wanted;
        });
        if (one == all.end()) return not_found("split " + std::string(truncate_utf8(wanted, 100)));
        const bool is_there =
            std::any_of(found.begin(), found.end(), [&](const Split& split) { return split.id == one->id; });
        if (!is_there) found.push_back(*one);
    }
    return found;
}

Result<Split> Datasets::create_split(const Caller& caller, const DatasetId& id, const SplitChange& wanted) {
    const Dataset of = TRY(dataset(caller, id, Permission::dataset_write));
    Split split;
    split.id = make_id<SplitTag>(m_clock);
    split.dataset_id = id;
    split.color = "#4f7cac";
    if (!wanted.name) return invalid("name is missing");
    TRY(apply_split(split, wanted));
    const Time now = m_clock.now();
    TRY(m_database.write([&](sql::Transaction& transaction) -> Result<> {
        const auto there = TRY(transaction.query("SELECT COUNT(*) FROM dataset_splits WHERE dataset_id = ?", id));
        if (there.front().integer(0) >= most_splits)
            return conflict(fmt::format("a dataset has at most {} splits", most_splits));
        if (TRY(transaction.execute("INSERT INTO dataset_splits (id, dataset_id, name, description, color, metadata, "
                                    "created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (dataset_id, "
                                    "name) DO NOTHING",
                                    split.id, id, split.name, split.description, split.color,
                                    json::print(split.metadata), now, now)) == 0)
            return conflict("a split named " + split.name + " exists already in this dataset");
        TRY(change_members(transaction, split, wanted));
        return m_access.audit.record(transaction, caller,
                                     {"dataset_split", of.space_id, id.text(), {{"split", split.name}}});
    }));
    return TRY(find_splits(caller, id, {split.id.text()})).front();
}

Result<Split> Datasets::update_split(const Caller& caller, const DatasetId& id, std::string_view name_or_id,
                                     const SplitChange& change) {
    const Dataset of = TRY(dataset(caller, id, Permission::dataset_write));
    Split split = TRY(find_splits(caller, id, {std::string(name_or_id)})).front();
    TRY(apply_split(split, change));
    TRY(m_database.write([&](sql::Transaction& transaction) -> Result<> {
        const auto taken = TRY(transaction.query(
            "SELECT id FROM dataset_splits WHERE dataset_id = ? AND name = ? AND id <> ?", id, split.name, split.id));
        if (!taken.empty()) return conflict("a split named " + split.name + " exists already in this dataset");
        TRY(transaction.execute(
            "UPDATE dataset_splits SET name = ?, description = ?, color = ?, metadata = ?, updated_at = ? WHERE id = ?",
            split.name, split.description, split.color, json::print(split.metadata), m_clock.now(), split.id));
        TRY(change_members(transaction, split, change));
        return m_access.audit.record(transaction, caller,
                                     {"dataset_split", of.space_id, id.text(), {{"split", split.name}}});
    }));
    return TRY(find_splits(caller, id, {split.id.text()})).front();
}

Result<> Datasets::remove_split(const Caller& caller, const DatasetId& id, std::string_view name_or_id) {
    const Dataset of = TRY(dataset(caller, id, Permission::dataset_write));
    const Split split = TRY(find_splits(caller, id, {std::string(name_or_id)})).front();
    return m_database.write([&](sql::Transaction& transaction) -> Result<> {
        TRY(transaction.execute("DELETE FROM dataset_splits WHERE id = ?", split.id));
        return m_access.audit.record(transaction, caller,
                                     {"dataset_split_delete", of.space_id, id.text(), {{"split", split.name}}});
    });
}

} // namespace hone::evaluate
