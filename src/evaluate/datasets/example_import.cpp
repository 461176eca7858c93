#include "evaluate/datasets/example_import.h"

#include "base/log.h"
#include "crypto/crypto.h"
#include "evaluate/datasets/example_writes.h"

#include <algorithm>
#include <cstring>

namespace hone::evaluate {

using access::Caller, access::Permission, access::SpaceId;

namespace {

constexpr size_t examples_at_once = 1000;
// A revision with this version is not part of any: it is being imported.
constexpr int64_t not_yet = INT64_MAX;

int64_t new_marker() {
    const std::string random = crypto::random_bytes(8);
    uint64_t number = 0;
    std::memcpy(&number, random.data(), sizeof number);
    return -static_cast<int64_t>(number >> 2) - 1;
}

} // namespace

Result<std::unique_ptr<ExampleImport>> Datasets::begin_import(const Caller& caller, const SpaceId& space,
                                                              const std::string& name, UploadAction action) {
    // An empty dataset is there first, so that an import that ends early leaves nothing else.
    Upload empty;
    empty.action = action == UploadAction::create ? UploadAction::create : UploadAction::append;
    empty.name = name;
    empty.source = VersionSource::import;
    const Uploaded begun = TRY(upload(caller, space, std::move(empty)));
    const DatasetId id = begun.dataset;
    std::unique_ptr<ExampleImport> import(new ExampleImport(m_database, m_clock, m_access, caller, m_files));
    import->m_dataset = TRY(dataset(caller, id, Permission::dataset_write));
    import->m_action = action;
    import->m_is_new = begun.is_new;
    import->m_done.dataset = id;
    import->m_schema = TRY(stored_schema(m_database, space, import->m_dataset.name));
    TRY(import->load());
    return import;
}

ExampleImport::ExampleImport(sql::Database& database, const Clock& clock, access::Access& access, Caller caller,
                             ExampleFiles* files)
    : m_database(database),
      m_clock(clock),
      m_access(access),
      m_caller(std::move(caller)),
      m_source_files(files),
      m_marker(new_marker()) {}

ExampleImport::~ExampleImport() {
    if (m_is_over) return;
    if (const auto removed = remove_pending(); !removed.ok())
        log(Level::warning, "unfinished import not removed",
            {{"dataset", m_dataset.id.text()}, {"why", removed.error().message}});
}

ExampleImport::Hash ExampleImport::short_hash(const std::string& hash) {
    Hash bytes{};
    std::memcpy(bytes.data(), hash.data(), std::min(hash.size(), bytes.size()));
    return bytes;
}

Result<> ExampleImport::load() {
    TRY(m_database.write([&](sql::Transaction& transaction) { return remove_unpublished(transaction, m_dataset.id); }));
    for (int64_t after = -1;;) {
        const auto rows = TRY(m_database.query(
            "SELECT e.id, e.external_id, e.position, r.content_hash, r.kind FROM dataset_revisions r JOIN "
            "dataset_examples e ON e.id = r.example_id WHERE r.dataset_id = ? AND r.replaced = ? AND r.position > ? "
            "ORDER BY r.position LIMIT 10000",
            m_dataset.id, never_replaced, after));
        for (const auto& row : rows) {
            m_by_id.emplace(row.text(0), m_known.size());
            if (!row.is_null(1)) m_by_external.emplace(row.text(1), m_known.size());
            m_known.push_back(
                {row.id<ExampleTag>(0), row.integer(2), short_hash(row.text(3)), row.text(4) == "delete"});
            after = row.integer(2);
        }
        if (rows.size() < 10000) break;
    }
    for (size_t i = m_known.size(); i-- > 0;)
        if (!m_known[i].is_deleted) {
            const Hash& hash = m_known[i].hash;
            m_by_hash[std::string(hash.data(), hash.size())].push_back(i);
        }
    return {};
}

// The example of the dataset that this one replaces or equals; null: it is new.
Result<ExampleImport::Known*> ExampleImport::match(const NewExample& example, const std::string& hash) {
    const auto twice = [&] {
        return invalid(fmt::format("example {}: the id {} is given twice", m_number,
                                   truncate_utf8(example.example_id.value_or(""), 100)));
    };
    if (!example.example_id) {
        const Hash bytes = short_hash(hash);
        const auto found = m_by_hash.find(std::string(bytes.data(), bytes.size()));
        if (found == m_by_hash.end()) return static_cast<Known*>(nullptr);
        while (!found->second.empty()) {
            Known& known = m_known[found->second.back()];
            found->second.pop_back();
            if (known.is_matched) continue;
            known.is_matched = true;
            return &known;
        }
        return static_cast<Known*>(nullptr);
    }
    Known* known = nullptr;
    if (parse_id<ExampleTag>(*example.example_id).ok()) {
        const auto found = m_by_id.find(*example.example_id);
        if (found == m_by_id.end())
            return invalid(
                fmt::format("example {}: {} is not an example of this dataset", m_number, *example.example_id));
        known = &m_known[found->second];
    } else if (const auto found = m_by_external.find(*example.example_id); found != m_by_external.end()) {
        known = &m_known[found->second];
    }
    if (known == nullptr) return known;
    if (std::exchange(known->is_matched, true)) return twice();
    return known;
}

Result<> ExampleImport::add(NewExample example) {
    ++m_number;
    if (example.has_assigned_id && !m_by_id.contains(*example.example_id)) example.example_id.reset();
    Prepared ready = TRY(prepare(example, m_number, m_done.redacted, m_schema));
    if (!ready.files.empty()) {
        if (!m_files) m_files.emplace(m_source_files, m_caller, m_dataset.space_id);
        TRY(m_files->add(ready, m_number));
    }
    Known* known = TRY(match(example, ready.hash));
    Waiting waiting;
    if (known != nullptr) {
        waiting.id = known->id;
        waiting.position = known->position;
        if (known->is_deleted)
            waiting.kind = "create";
        else if (known->hash != short_hash(ready.hash))
            waiting.kind = "patch";
    } else {
        waiting.id = make_id<ExampleTag>(m_clock);
        waiting.kind = "create";
        waiting.external_id = std::move(example.example_id);
    }
    m_done.created += waiting.kind == "create";
    m_done.updated += waiting.kind == "patch";
    if (m_dataset.example_count + m_done.created > most_examples)
        return invalid(fmt::format("a dataset has at most {} examples", most_examples));
    waiting.hash = std::move(ready.hash);
    waiting.input = std::move(ready.input);
    waiting.output = std::move(ready.output);
    waiting.metadata = std::move(ready.metadata);
    waiting.splits = std::move(example.splits);
    m_waiting.push_back(std::move(waiting));
    return m_waiting.size() < examples_at_once ? Result<>() : flush();
}

Result<> ExampleImport::flush() {
    if (m_waiting.empty()) return {};
    TRY(m_database.write([&](sql::Transaction& transaction) { return store(transaction); }));
    m_waiting.clear();
    return {};
}

Result<> ExampleImport::store(sql::Transaction& transaction) {
    const Time now = m_clock.now();
    const auto count = static_cast<int64_t>(m_waiting.size());
    const auto place = TRY(
        transaction.query("UPDATE datasets SET next_position = next_position + ? WHERE id = ? RETURNING next_position",
                          count, m_dataset.id));
    if (place.empty()) return not_found("dataset " + m_dataset.name);
    const int64_t first = place.front().integer(0) - count;
    RowGroups examples(transaction,
                       "INSERT INTO dataset_examples (id, dataset_id, position, external_id, created_at) VALUES ", 5,
                       " ON CONFLICT (dataset_id, external_id) DO NOTHING");
    RowGroups revisions(transaction,
                        "INSERT INTO dataset_revisions (example_id, version, dataset_id, position, kind, replaced, "
                        "content_hash, input, output, metadata, created_at) VALUES ",
                        11);
    int64_t added = 0;
    for (size_t i = 0; i < m_waiting.size(); ++i) {
        const Waiting& one = m_waiting[i];
        if (one.position >= 0) continue;
        TRY(examples.add(one.id, m_dataset.id, first + static_cast<int64_t>(i), one.external_id, now));
        ++added;
    }
    TRY(examples.flush());
    if (examples.inserted() != added) return invalid("an id is given twice, or another import adds it now");
    for (size_t i = 0; i < m_waiting.size(); ++i) {
        const Waiting& one = m_waiting[i];
        if (one.kind.empty()) continue;
        TRY(revisions.add(one.id, not_yet, m_dataset.id,
                          one.position >= 0 ? one.position : first + static_cast<int64_t>(i), one.kind, m_marker,
                          one.hash, one.input, one.output, one.metadata, now));
    }
    TRY(revisions.flush());
    std::set<std::string> names;
    for (const Waiting& one : m_waiting) names.insert(one.splits.begin(), one.splits.end());
    if (names.empty()) return {};
    const auto ids = TRY(make_splits(transaction, m_clock, m_dataset.id, names));
    RowGroups members(transaction, "INSERT INTO dataset_split_members (split_id, example_id) VALUES ", 2,
                      " ON CONFLICT (split_id, example_id) DO NOTHING");
    for (const Waiting& one : m_waiting)
        for (const std::string& name : one.splits) TRY(members.add(ids.at(name), one.id));
    return members.flush();
}

Result<> ExampleImport::add_deletions() {
    for (const Known& known : m_known) {
        if (known.is_matched || known.is_deleted) continue;
        Waiting gone;
        gone.id = known.id;
        gone.position = known.position;
        gone.kind = "delete";
        gone.input = gone.output = gone.metadata = "null";
        m_waiting.push_back(std::move(gone));
        ++m_done.deleted;
        if (m_waiting.size() >= examples_at_once) TRY(flush());
    }
    return flush();
}

// In steps: a statement of SQLite needs memory for all that it changes.
Result<> ExampleImport::show_pending(sql::Transaction& transaction, int64_t version) {
    constexpr int64_t positions_at_once = 10'000;
    int64_t shown = 0;
    const auto range = TRY(transaction.query("SELECT COALESCE(MIN(position), 0), COALESCE(MAX(position), -1) FROM "
                                             "dataset_revisions WHERE dataset_id = ? AND replaced = ?",
                                             m_dataset.id, m_marker));
    for (int64_t from = range.front().integer(0); from <= range.front().integer(1); from += positions_at_once) {
        const int64_t to = from + positions_at_once;
        if (!m_known.empty())
            TRY(transaction.execute(
                "UPDATE dataset_revisions SET replaced = ? WHERE dataset_id = ? AND replaced = ? AND position >= ? AND "
                "position < ? AND example_id IN (SELECT n.example_id FROM dataset_revisions n WHERE n.dataset_id = ? "
                "AND n.replaced = ? AND n.position >= ? AND n.position < ?)",
                version, m_dataset.id, never_replaced, from, to, m_dataset.id, m_marker, from, to));
        shown += TRY(transaction.execute("UPDATE dataset_revisions SET version = ?, replaced = ? WHERE dataset_id = ? "
                                         "AND replaced = ? AND version = ? AND position >= ? AND position < ?",
                                         version, never_replaced, m_dataset.id, m_marker, not_yet, from, to));
    }
    if (shown != m_done.created + m_done.updated + m_done.deleted)
        return conflict("another import of this dataset began meanwhile; import the file again");
    return {};
}

Result<> ExampleImport::publish(sql::Transaction& transaction) {
    const Time now = m_clock.now();
    const auto rows = TRY(transaction.query("SELECT version, example_count FROM datasets WHERE id = ?", m_dataset.id));
    if (rows.empty()) return not_found("dataset " + m_dataset.name);
    if (rows.front().integer(0) != m_dataset.version)
        return conflict("the dataset was changed while the file was imported; import it again");
    const int64_t version = m_dataset.version + 1;
    const int64_t count = rows.front().integer(1) + m_done.created - m_done.deleted;
    TRY(show_pending(transaction, version));
    if (m_files) TRY(m_files->store(transaction, m_dataset.id));
    m_done.version = make_id<DatasetVersionTag>(m_clock);
    TRY(transaction.execute(
        "INSERT INTO dataset_versions (id, dataset_id, number, note, source, created, patched, deleted, example_count, "
        "created_by, created_by_name, created_at) VALUES (?, ?, ?, '', ?, ?, ?, ?, ?, ?, ?, ?)",
        m_done.version, m_dataset.id, version, name_of(VersionSource::import), m_done.created, m_done.updated,
        m_done.deleted, count, m_caller.actor(), m_caller.name, now));
    TRY(transaction.execute("UPDATE datasets SET version = ?, example_count = ?, updated_at = ? WHERE id = ?", version,
                            count, now, m_dataset.id));
    return m_access.audit.record(transaction, m_caller,
                                 {"dataset_import",
                                  m_dataset.space_id,
                                  m_dataset.id.text(),
                                  {{"name", m_dataset.name},
                                   {"created", m_done.created},
                                   {"changed", m_done.updated},
                                   {"deleted", m_done.deleted},
                                   {"redacted", m_done.redacted}}});
}

Result<Uploaded> ExampleImport::finish() {
    TRY(flush());
    if (m_action == UploadAction::update) TRY(add_deletions());
    if (m_done.created + m_done.updated + m_done.deleted > 0) {
        TRY(m_database.write([&](sql::Transaction& transaction) { return publish(transaction); }));
    } else {
        const auto newest = TRY(m_database.query("SELECT id FROM dataset_versions WHERE dataset_id = ? AND number = ?",
                                                 m_dataset.id, m_dataset.version));
        if (newest.empty()) return not_found("dataset " + m_dataset.name);
        m_done.version = newest.front().id<DatasetVersionTag>(0);
    }
    m_is_over = true;
    return m_done;
}

// A dataset that was made for this import goes with it, unless an experiment uses it already.
Result<> ExampleImport::remove_pending() {
    return m_database.write([&](sql::Transaction& transaction) -> Result<> {
        TRY(remove_unpublished(transaction, m_dataset.id));
        if (!m_is_new ||
            TRY(transaction.execute("DELETE FROM datasets WHERE id = ? AND version = ? AND NOT EXISTS (SELECT 1 FROM "
                                    "experiments e WHERE e.dataset_id = datasets.id)",
                                    m_dataset.id, m_dataset.version)) == 0)
            return {};
        return m_access.audit.record(
            transaction, m_caller,
            {"dataset_delete", m_dataset.space_id, m_dataset.id.text(), {{"name", m_dataset.name}, {"examples", 0}}});
    });
}

} // namespace hone::evaluate
