#include "evaluate/experiments/experiments.h"

#include "crypto/crypto.h"
#include "evaluate/datasets/dataset_rows.h"
#include "evaluate/experiments/experiment_rows.h"

#include <fmt/format.h>

namespace hone::evaluate {

using access::Caller, access::Page, access::PageRequest, access::Permission;

namespace {

Result<std::string> checked_experiment_text(std::string_view what, const std::string& text, size_t limit) {
    if (text.size() > limit || !is_valid_utf8(text) || text.find('\0') != std::string::npos)
        return invalid(fmt::format("{} must be UTF-8 text of at most {} bytes", what, limit));
    return text;
}

// Lower-case letters, digits, - and _, as Phoenix has it.
Result<std::string> checked_tag(const std::string& name) {
    const bool is_good = !name.empty() && name.size() <= 100 &&
                         name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_-") == std::string::npos &&
                         name.front() != '_' && name.front() != '-' && name.back() != '_' && name.back() != '-';
    if (!is_good)
        return invalid("the name of a tag has letters in lower case, digits, - and _, and begins and ends with a "
                       "letter or digit");
    return name;
}

} // namespace

Result<Experiment> Experiments::create(const Caller& caller, const DatasetId& dataset, const NewExperiment& wanted) {
    const Dataset of = TRY(m_datasets.find(caller, {}, dataset.text(), Permission::experiment_write));
    const DatasetVersion version = TRY(m_datasets.version(caller, dataset, wanted.version));
    if (wanted.repetitions < 1 || wanted.repetitions > most_repetitions)
        return invalid(fmt::format("repetitions must be between 1 and {}", most_repetitions));
    TRY(check_metadata("metadata", wanted.metadata));
    std::vector<SplitId> splits;
    for (const Split& split : TRY(m_datasets.find_splits(caller, dataset, wanted.splits))) splits.push_back(split.id);
    const ExperimentId id = make_id<ExperimentTag>(m_clock);
    const std::string name = wanted.name && !trim(*wanted.name).empty()
                                 ? TRY(checked_title("name", *wanted.name))
                                 : "experiment " + lowercase_ascii(id.text().substr(id.text().size() - 6));
    const std::string description = TRY(checked_experiment_text("description", wanted.description, 10'000));
    const auto project = TRY(
        m_access.projects.create_for_experiment(caller, of.space_id, "Experiment-" + to_hex(crypto::random_bytes(12))));
    const Time now = m_clock.now();
    const auto made = m_database.write([&](sql::Transaction& transaction) -> Result<> {
        // A dataset that is deleted meanwhile is noticed here, by its foreign key.
        TRY(transaction.execute(
            "INSERT INTO experiments (id, dataset_id, space_id, version, name, description, metadata, repetitions, "
            "project_id, project_name, example_count, created_by, created_by_name, created_at, updated_at) VALUES (?, "
            "?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?, ?, ?, ?)",
            id, dataset, of.space_id, version.number, name, description, json::print(wanted.metadata),
            wanted.repetitions, project.id, project.name, caller.actor(), caller.name, now, now));
        std::string sql = "INSERT INTO experiment_examples (experiment_id, example_id, revision, position) SELECT "
                          "CAST(? AS TEXT), r.example_id, r.version, r.position FROM dataset_revisions r WHERE "
                          "r.dataset_id = ? AND r.version <= ? AND r.replaced > ? AND r.kind <> 'delete'";
        std::vector<sql::Value> values{sql::to_value(id), sql::to_value(dataset), sql::to_value(version.number),
                                       sql::to_value(version.number)};
        if (!splits.empty()) {
            sql += " AND EXISTS (SELECT 1 FROM dataset_split_members m WHERE m.example_id = r.example_id AND "
                   "m.split_id IN (" +
                   sql::marks(splits.size()) + "))";
            for (const SplitId& split : splits) values.push_back(sql::to_value(split));
        }
        const int64_t count = TRY(transaction.run(sql, values)).affected;
        TRY(transaction.execute("UPDATE experiments SET example_count = ? WHERE id = ?", count, id));
        return m_access.audit.record(transaction, caller,
                                     {"experiment_create",
                                      of.space_id,
                                      id.text(),
                                      {{"name", name}, {"dataset", of.name}, {"version", version.number}}});
    });
    if (!made.ok()) {
        TRY(m_access.projects.remove_for_experiment(caller, project.id));
        return made.error();
    }
    return find(caller, id);
}

Result<Experiment> Experiments::find(const Caller& caller, const ExperimentId& id, Permission permission) const {
    const auto rows = TRY(m_database.query(select_experiment + " WHERE x.id = ?", id));
    const auto absent = [&] { return not_found("experiment " + id.text()); };
    if (rows.empty()) return absent();
    Experiment found = experiment_of(rows.front());
    const auto allowed = caller.require(permission, found.space_id);
    if (!allowed.ok()) return allowed.error().code == Code::not_found ? absent() : allowed.error();
    return found;
}

Result<Page<Experiment>> Experiments::list(const Caller& caller, const DatasetId& dataset,
                                           const PageRequest& page) const {
    TRY(m_datasets.find(caller, {}, dataset.text()));
    const std::string after = TRY(page.after());
    std::string sql = select_experiment + " WHERE x.dataset_id = ?";
    std::vector<sql::Value> values{sql::to_value(dataset)};
    if (!after.empty()) {
        sql += " AND x.id < ?";
        values.push_back(sql::to_value(after));
    }
    sql += " ORDER BY x.id DESC LIMIT ?";
    values.push_back(sql::to_value(page.limit + 1));
    std::vector<Experiment> found;
    for (const auto& row : TRY(m_database.run_query(sql, values))) found.push_back(experiment_of(row));
    return access::make_page(std::move(found), page, [](const Experiment& one) { return one.id.text(); });
}

Result<std::vector<Experiment>> Experiments::mentioning(const Caller& caller, const access::SpaceId& space,
                                                        const std::vector<std::string>& texts, int64_t limit) const {
    TRY(caller.require(Permission::dataset_read, space));
    std::vector<Experiment> found;
    if (texts.empty()) return found;
    std::string sql = select_experiment + " WHERE x.space_id = ? AND (";
    std::vector<sql::Value> values{sql::to_value(space)};
    for (const std::string& text : texts) {
        sql += values.size() == 1 ? "x.metadata LIKE ?" : " OR x.metadata LIKE ?";
        values.push_back(sql::to_value("%" + text + "%")); // ids have no %; the other letters make it unique
    }
    sql += ") ORDER BY x.id DESC LIMIT ?";
    values.push_back(sql::to_value(limit));
    for (const auto& row : TRY(m_database.run_query(sql, values))) found.push_back(experiment_of(row));
    return found;
}

Result<Experiment> Experiments::find_by_name(const Caller& caller, const DatasetId& dataset,
                                             std::string_view tag_or_name) const {
    TRY(m_datasets.find(caller, {}, dataset.text()));
    if (!is_valid_utf8(tag_or_name) || tag_or_name.find('\0') != tag_or_name.npos)
        return not_found("an experiment with this name");
    const auto tagged = TRY(m_database.query(
        "SELECT experiment_id FROM experiment_tags WHERE dataset_id = ? AND name = ?", dataset, tag_or_name));
    if (!tagged.empty()) return find(caller, tagged.front().id<ExperimentTag>(0));
    const auto named = TRY(m_database.query(
        "SELECT id FROM experiments WHERE dataset_id = ? AND name = ? ORDER BY id DESC LIMIT 1", dataset, tag_or_name));
    if (named.empty())
        return not_found("an experiment with the tag or name " + std::string(truncate_utf8(tag_or_name, 100)));
    return find(caller, named.front().id<ExperimentTag>(0));
}

Result<Experiment> Experiments::update(const Caller& caller, const ExperimentId& id, const ExperimentChange& change) {
    Experiment changed = TRY(find(caller, id, Permission::experiment_write));
    if (change.name) changed.name = TRY(checked_title("name", *change.name));
    if (change.description)
        changed.description = TRY(checked_experiment_text("description", *change.description, 10'000));
    if (change.metadata) {
        TRY(check_metadata("metadata", *change.metadata));
        changed.metadata = *change.metadata;
    }
    TRY(m_database.write([&](sql::Transaction& transaction) -> Result<> {
        TRY(transaction.execute(
            "UPDATE experiments SET name = ?, description = ?, metadata = ?, updated_at = ? WHERE id = ?", changed.name,
            changed.description, json::print(changed.metadata), m_clock.now(), id));
        return m_access.audit.record(transaction, caller,
                                     {"experiment_update", changed.space_id, id.text(), {{"name", changed.name}}});
    }));
    return find(caller, id);
}

Result<> Experiments::remove(const Caller& caller, const ExperimentId& id, bool with_project) {
    const Experiment gone = TRY(find(caller, id, Permission::experiment_write));
    TRY(m_database.write([&](sql::Transaction& transaction) -> Result<> {
        if (TRY(transaction.execute("DELETE FROM experiments WHERE id = ?", id)) == 0)
            return not_found("experiment " + id.text());
        return m_access.audit.record(transaction, caller,
                                     {"experiment_delete", gone.space_id, id.text(), {{"name", gone.name}}});
    }));
    if (!with_project) return {};
    return m_access.projects.remove_for_experiment(caller, gone.project_id);
}

Result<> Experiments::remove_dataset(const Caller& caller, const DatasetId& dataset) {
    const Dataset gone = TRY(m_datasets.find(caller, {}, dataset.text(), Permission::dataset_write));
    const auto projects = TRY(m_database.query("SELECT project_id FROM experiments WHERE dataset_id = ?", dataset));
    TRY(m_datasets.remove(caller, dataset));
    for (const auto& row : projects)
        TRY(m_access.projects.remove_for_experiment(caller, row.id<access::ProjectTag>(0)));
    return {};
}

Result<std::vector<ExperimentMark>> Experiments::tags(const Caller& caller, const ExperimentId& id) const {
    TRY(find(caller, id));
    std::vector<ExperimentMark> found;
    for (const auto& row : TRY(m_database.query(
             "SELECT id, name, description FROM experiment_tags WHERE experiment_id = ? ORDER BY name", id)))
        found.push_back({row.id<ExperimentMarkTag>(0), row.text(1), row.text(2)});
    return found;
}

Result<ExperimentMark> Experiments::set_tag(const Caller& caller, const ExperimentId& id, const std::string& name,
                                            const std::string& description) {
    const Experiment of = TRY(find(caller, id, Permission::experiment_write));
    ExperimentMark wanted;
    wanted.id = make_id<ExperimentMarkTag>(m_clock);
    wanted.name = TRY(checked_tag(name));
    wanted.description = TRY(checked_experiment_text("description", description, 2000));
    TRY(m_database.write([&](sql::Transaction& transaction) -> Result<> {
        TRY(transaction.execute(
            "INSERT INTO experiment_tags (id, dataset_id, experiment_id, name, description) VALUES (?, ?, ?, ?, ?) ON "
            "CONFLICT (dataset_id, name) DO UPDATE SET experiment_id = excluded.experiment_id, description = "
            "excluded.description",
            wanted.id, of.dataset_id, id, wanted.name, wanted.description));
        return m_access.audit.record(transaction, caller,
                                     {"experiment_tag", of.space_id, id.text(), {{"tag", wanted.name}}});
    }));
    for (const ExperimentMark& mark : TRY(tags(caller, id)))
        if (mark.name == wanted.name) return mark;
    return not_found("tag " + wanted.name);
}

Result<> Experiments::remove_tag(const Caller& caller, const ExperimentId& id, std::string_view name_or_id) {
    const Experiment of = TRY(find(caller, id, Permission::experiment_write));
    for (const ExperimentMark& mark : TRY(tags(caller, id)))
        if (mark.name == name_or_id || mark.id.text() == name_or_id)
            return m_database.write([&](sql::Transaction& transaction) -> Result<> {
                TRY(transaction.execute("DELETE FROM experiment_tags WHERE id = ?", mark.id));
                return m_access.audit.record(transaction, caller,
                                             {"experiment_untag", of.space_id, id.text(), {{"tag", mark.name}}});
            });
    return not_found("tag " + std::string(truncate_utf8(name_or_id, 100)) + " of this experiment");
}

} // namespace hone::evaluate
