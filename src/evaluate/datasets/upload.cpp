// Uploads: incoming examples are matched with those of the newest version, and the differences become one new version.
#include "access/names.h"
#include "evaluate/datasets/example_writes.h"

#include <fmt/format.h>
#include <set>
#include <unordered_map>

namespace hone::evaluate {

using access::Caller, access::Permission, access::SpaceId;

namespace {

// An example that the dataset has, or had.
struct Known {
    ExampleId id;
    int64_t position = 0;
    std::string hash;
    bool is_deleted = false;
    bool is_matched = false;
};

enum class Outcome { unchanged, create, patch };

struct Plan {
    std::vector<Known> known;
    std::vector<int64_t> match; // by incoming example: index in `known`, or -1
    std::vector<Outcome> outcomes;
    int64_t created = 0, patched = 0, deleted = 0;
};

Result<std::vector<Known>> known_examples(sql::Transaction& transaction, const DatasetId& dataset,
                                          std::unordered_map<std::string, size_t>& by_external) {
    std::vector<Known> known;
    int64_t after = -1;
    for (;;) {
        const auto rows = TRY(transaction.query(
            "SELECT e.id, e.external_id, e.position, r.content_hash, r.kind FROM dataset_revisions r JOIN "
            "dataset_examples e ON e.id = r.example_id WHERE r.dataset_id = ? AND r.replaced = ? AND r.position > ? "
            "ORDER BY r.position LIMIT 10000",
            dataset, never_replaced, after));
        for (const auto& row : rows) {
            if (!row.is_null(1)) by_external.emplace(row.text(1), known.size());
            known.push_back({row.id<ExampleTag>(0), row.integer(2), row.text(3), row.text(4) == "delete"});
            after = row.integer(2);
        }
        if (rows.size() < 10000) return known;
    }
}

// Matches by id first, then by equal content, each known example once.
Result<Plan> match(std::vector<Known> known, const std::unordered_map<std::string, size_t>& by_external,
                   const Upload& upload, const std::vector<Prepared>& ready) {
    Plan plan;
    plan.known = std::move(known);
    plan.match.assign(ready.size(), -1);
    plan.outcomes.assign(ready.size(), Outcome::create);
    std::unordered_map<std::string, size_t> by_id;
    for (size_t i = 0; i < plan.known.size(); ++i) by_id.emplace(plan.known[i].id.text(), i);
    std::set<std::string_view> given;
    for (size_t i = 0; i < ready.size(); ++i) {
        const auto& wanted = upload.examples[i].example_id;
        if (!wanted) continue;
        if (!given.insert(*wanted).second)
            return invalid(fmt::format("example {}: the id {} is given twice", i + 1, truncate_utf8(*wanted, 100)));
        if (parse_id<ExampleTag>(*wanted).ok()) {
            const auto found = by_id.find(*wanted);
            if (found == by_id.end())
                return invalid(fmt::format("example {}: {} is not an example of this dataset", i + 1, *wanted));
            plan.match[i] = static_cast<int64_t>(found->second);
        } else if (const auto found = by_external.find(*wanted); found != by_external.end()) {
            plan.match[i] = static_cast<int64_t>(found->second);
        }
        if (plan.match[i] < 0) continue;
        Known& one = plan.known[static_cast<size_t>(plan.match[i])];
        if (one.is_matched)
            return invalid(fmt::format("example {}: {} is given twice", i + 1, truncate_utf8(*wanted, 100)));
        one.is_matched = true;
    }
    std::unordered_map<std::string_view, std::vector<size_t>> by_hash;
    for (size_t i = plan.known.size(); i-- > 0;) // the first is taken first
        if (!plan.known[i].is_matched && !plan.known[i].is_deleted) by_hash[plan.known[i].hash].push_back(i);
    for (size_t i = 0; i < ready.size(); ++i) {
        if (upload.examples[i].example_id) continue;
        const auto found = by_hash.find(ready[i].hash);
        if (found == by_hash.end() || found->second.empty()) continue;
        plan.match[i] = static_cast<int64_t>(found->second.back());
        plan.known[found->second.back()].is_matched = true;
        found->second.pop_back();
    }
    for (size_t i = 0; i < ready.size(); ++i) {
        if (plan.match[i] >= 0) {
            const Known& one = plan.known[static_cast<size_t>(plan.match[i])];
            if (!one.is_deleted) plan.outcomes[i] = one.hash == ready[i].hash ? Outcome::unchanged : Outcome::patch;
        }
        plan.created += plan.outcomes[i] == Outcome::create;
        plan.patched += plan.outcomes[i] == Outcome::patch;
    }
    if (upload.action == UploadAction::update)
        for (const Known& one : plan.known) plan.deleted += !one.is_matched && !one.is_deleted;
    return plan;
}

Result<> replace_revisions(sql::Transaction& transaction, const std::vector<std::string>& examples, int64_t version) {
    for (size_t first = 0; first < examples.size(); first += rows_at_once) {
        const size_t count = std::min(rows_at_once, examples.size() - first);
        std::vector<sql::Value> values{sql::to_value(version), sql::to_value(never_replaced), sql::to_value(version)};
        for (size_t i = 0; i < count; ++i) values.push_back(sql::to_value(examples[first + i]));
        TRY(transaction.run("UPDATE dataset_revisions SET replaced = ? WHERE replaced = ? AND version < ? AND "
                            "example_id IN (" +
                                sql::marks(count) + ")",
                            values));
    }
    return {};
}

Result<> set_splits(sql::Transaction& transaction, const Clock& clock, const DatasetId& dataset, const Upload& upload,
                    const std::vector<std::string>& examples, const Plan& plan) {
    std::set<std::string> names;
    for (const NewExample& example : upload.examples) names.insert(example.splits.begin(), example.splits.end());
    const auto ids = TRY(make_splits(transaction, clock, dataset, names));
    if (upload.action == UploadAction::update) {
        TRY(transaction.execute("DELETE FROM dataset_split_members WHERE split_id IN (SELECT id FROM dataset_splits "
                                "WHERE dataset_id = ?)",
                                dataset));
    } else {
        for (size_t i = 0; i < examples.size(); ++i)
            if (plan.match[i] >= 0)
                TRY(transaction.execute("DELETE FROM dataset_split_members WHERE example_id = ?", examples[i]));
    }
    RowGroups members(transaction, "INSERT INTO dataset_split_members (split_id, example_id) VALUES ", 2);
    for (size_t i = 0; i < examples.size(); ++i) {
        std::set<std::string_view> of_example;
        for (const std::string& name : upload.examples[i].splits)
            if (of_example.insert(name).second) TRY(members.add(ids.at(name), examples[i]));
    }
    return members.flush();
}

} // namespace

Result<> Datasets::check_writer(const Caller& caller, const SpaceId& space) const {
    return caller.require(Permission::dataset_write, space);
}

Result<Uploaded> Datasets::upload(const Caller& caller, const SpaceId& space, Upload upload) {
    TRY(caller.require(Permission::dataset_write, space));
    upload.name = TRY(checked_title("name", upload.name));
    if (upload.description && (upload.description->size() > 10'000 || !is_valid_utf8(*upload.description) ||
                               upload.description->find('\0') != std::string::npos))
        return invalid("description must be UTF-8 text of at most 10000 bytes");
    Uploaded done;
    std::vector<Prepared> ready;
    ready.reserve(upload.examples.size());
    const auto schema = TRY(stored_schema(m_database, space, upload.name));
    NamedFiles files(m_files, caller, space);
    for (NewExample& example : upload.examples) {
        ready.push_back(TRY(prepare(example, ready.size() + 1, done.redacted, schema)));
        TRY(files.add(ready.back(), ready.size()));
    }
    const Time now = m_clock.now();
    const DatasetId new_id = make_id<DatasetTag>(m_clock);
    const DatasetVersionId new_version = make_id<DatasetVersionTag>(m_clock);
    // Made here, since the transaction may run twice.
    std::vector<ExampleId> new_ids;
    new_ids.reserve(ready.size());
    for (size_t i = 0; i < ready.size(); ++i) new_ids.push_back(make_id<ExampleTag>(m_clock));

    TRY(m_database.write([&](sql::Transaction& transaction) -> Result<> {
        const auto inserted = TRY(transaction.execute(
            "INSERT INTO datasets (id, space_id, name, description, metadata, version, example_count, next_position, "
            "created_by, created_by_name, created_at, updated_at) VALUES (?, ?, ?, ?, '{}', 0, 0, 0, ?, ?, ?, ?) ON "
            "CONFLICT (space_id, name) DO NOTHING",
            new_id, space, upload.name, upload.description.value_or(""), caller.actor(), caller.name, now, now));
        if (inserted == 0 && upload.action == UploadAction::create)
            return conflict("a dataset named " + upload.name + " exists already in this space");
        const auto rows = TRY(transaction.query(
            "SELECT id, version, example_count, next_position FROM datasets WHERE space_id = ? AND name = ?", space,
            upload.name));
        if (rows.empty()) return busy("the dataset is being changed by another request; try again");
        done.dataset = rows.front().id<DatasetTag>(0);
        done.is_new = inserted > 0;
        const int64_t old_version = rows.front().integer(1);
        int64_t position = rows.front().integer(3);
        std::unordered_map<std::string, size_t> by_external;
        std::vector<Known> known;
        if (old_version > 0) known = TRY(known_examples(transaction, done.dataset, by_external));
        const Plan plan = TRY(match(std::move(known), by_external, upload, ready));
        const int64_t count = rows.front().integer(2) + plan.created - plan.deleted;
        if (count > most_examples) return invalid(fmt::format("a dataset has at most {} examples", most_examples));
        done.created = plan.created;
        done.updated = plan.patched;
        done.deleted = plan.deleted;

        // Ids of examples are unique, also of those that an import left.
        if (plan.created > 0 && old_version > 0) TRY(remove_unpublished(transaction, done.dataset));
        const int64_t version = old_version + 1;
        std::vector<std::string> ids; // of the incoming examples
        std::vector<std::string> replaced;
        RowGroups examples(
            transaction,
            "INSERT INTO dataset_examples (id, dataset_id, position, external_id, source_project, source_trace, "
            "source_span, created_at) VALUES ",
            8);
        for (size_t i = 0; i < ready.size(); ++i) {
            if (plan.match[i] >= 0) {
                ids.push_back(plan.known[static_cast<size_t>(plan.match[i])].id.text());
                if (plan.outcomes[i] != Outcome::unchanged) replaced.push_back(ids.back());
                continue;
            }
            const NewExample& example = upload.examples[i];
            const auto& source = example.source;
            ids.push_back(new_ids[i].text());
            const auto or_null = [](const std::string& text) {
                return text.empty() ? std::optional<std::string>() : std::optional(text);
            };
            TRY(examples.add(new_ids[i], done.dataset, position + static_cast<int64_t>(i), example.example_id,
                             source ? or_null(source->project) : std::nullopt,
                             source ? or_null(source->trace) : std::nullopt,
                             source ? or_null(source->span) : std::nullopt, now));
        }
        TRY(examples.flush());
        if (upload.action == UploadAction::update)
            for (const Known& one : plan.known)
                if (!one.is_matched && !one.is_deleted) replaced.push_back(one.id.text());

        const bool changes = plan.created + plan.patched + plan.deleted > 0;
        if (changes || old_version == 0) {
            TRY(replace_revisions(transaction, replaced, version));
            RowGroups revisions(
                transaction,
                "INSERT INTO dataset_revisions (example_id, version, dataset_id, position, kind, replaced, "
                "content_hash, input, output, metadata, created_at) VALUES ",
                11);
            for (size_t i = 0; i < ready.size(); ++i) {
                if (plan.outcomes[i] == Outcome::unchanged) continue;
                const int64_t at = plan.match[i] >= 0 ? plan.known[static_cast<size_t>(plan.match[i])].position
                                                      : position + static_cast<int64_t>(i);
                TRY(revisions.add(ids[i], version, done.dataset, at,
                                  plan.outcomes[i] == Outcome::create ? "create" : "patch", never_replaced,
                                  ready[i].hash, ready[i].input, ready[i].output, ready[i].metadata, now));
            }
            if (upload.action == UploadAction::update)
                for (const Known& one : plan.known)
                    if (!one.is_matched && !one.is_deleted)
                        TRY(revisions.add(one.id, version, done.dataset, one.position, "delete", never_replaced, "",
                                          "null", "null", "null", now));
            TRY(revisions.flush());
            TRY(transaction.execute(
                "INSERT INTO dataset_versions (id, dataset_id, number, note, source, created, patched, deleted, "
                "example_count, created_by, created_by_name, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                new_version, done.dataset, version, upload.note, name_of(upload.source), plan.created, plan.patched,
                plan.deleted, count, caller.actor(), caller.name, now));
            position += static_cast<int64_t>(ready.size());
            TRY(transaction.execute("UPDATE datasets SET version = ?, example_count = ?, next_position = ?, updated_at "
                                    "= ? WHERE id = ?",
                                    version, count, position, now, done.dataset));
            done.version = new_version;
        } else {
            const auto newest = TRY(transaction.query(
                "SELECT id FROM dataset_versions WHERE dataset_id = ? AND number = ?", done.dataset, old_version));
            done.version = newest.front().id<DatasetVersionTag>(0);
        }
        TRY(files.store(transaction, done.dataset));
        if (upload.replaces_splits) TRY(set_splits(transaction, m_clock, done.dataset, upload, ids, plan));
        if (upload.description && inserted == 0)
            TRY(transaction.execute("UPDATE datasets SET description = ? WHERE id = ?", *upload.description,
                                    done.dataset));
        if (!changes && old_version > 0) return {};
        return m_access.audit.record(transaction, caller,
                                     {old_version == 0 ? "dataset_create" : "dataset_upload",
                                      space,
                                      done.dataset.text(),
                                      {{"name", upload.name},
                                       {"created", plan.created},
                                       {"changed", plan.patched},
                                       {"deleted", plan.deleted},
                                       {"redacted", done.redacted}}});
    }));
    return done;
}

} // namespace hone::evaluate
