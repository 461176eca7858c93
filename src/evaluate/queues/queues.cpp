#include "evaluate/queues/queues.h"

#include "access/project_list.h"
#include "base/log.h"
#include "base/text.h"

#include <algorithm>
#include <fmt/format.h>

namespace hone::evaluate {

using access::Caller, access::Page, access::PageRequest, access::Permission, access::SpaceId;

namespace {

constexpr size_t most_queue_configs = 20;
constexpr int64_t most_queues = 1000;
constexpr int64_t most_queue_items = 100'000;
constexpr size_t longest_instructions = 20'000;
constexpr int64_t most_filled_at_once = 1000;

constexpr std::string_view queue_fields =
    "q.id, q.space_id, q.project_id, q.name, q.instructions, q.target, q.reviewers_per_item, q.shows_verdicts, "
    "q.dataset, q.fill_enabled, q.fill_filter, q.fill_ppm, q.filled_up_to, q.fill_problem, q.created_by_name, "
    "q.created_at, q.updated_at, (SELECT COUNT(*) FROM queue_items i WHERE i.queue_id = q.id AND i.state = 'pending'), "
    "(SELECT COUNT(*) FROM queue_items i WHERE i.queue_id = q.id AND i.state = 'done'), (SELECT COUNT(*) FROM "
    "queue_items i WHERE i.queue_id = q.id AND i.state = 'skipped'), q.fill_rule";

Queue queue_of(const sql::Row& row) {
    Queue queue;
    queue.id = row.id<QueueTag>(0);
    queue.space_id = row.id<access::SpaceTag>(1);
    queue.project_id = row.id<access::ProjectTag>(2);
    queue.name = row.text(3);
    queue.instructions = row.text(4);
    queue.target = parse_enum<telemetry::EvalTarget>(row.text(5)).value_or(telemetry::EvalTarget::trace);
    queue.reviewers_per_item = row.integer(6);
    queue.shows_verdicts = row.integer(7) != 0;
    queue.dataset = row.text(8);
    queue.fill_enabled = row.integer(9) != 0;
    queue.fill_filter = row.text(10);
    queue.fill_ppm = row.integer(11);
    queue.filled_up_to = row.time(12);
    queue.fill_problem = row.text(13);
    queue.created_by = row.text(14);
    queue.created_at = row.time(15);
    queue.updated_at = row.time(16);
    queue.pending = row.integer(17);
    queue.done = row.integer(18);
    queue.skipped = row.integer(19);
    queue.fill_rule = parse_enum<QueueFillRule>(row.text(20)).value_or(QueueFillRule::matching);
    return queue;
}

Result<> check_queue_text(std::string_view what, std::string_view text, size_t most) {
    if (text.size() > most || !is_valid_utf8(text) || text.find('\0') != std::string_view::npos)
        return invalid(fmt::format("{} must be UTF-8 text of at most {} bytes", what, most));
    return {};
}

Result<> check_queue(const Queue& queue) {
    if (trim(queue.name).empty()) return invalid("name is empty");
    TRY(check_queue_text("name", queue.name, 200));
    TRY(check_queue_text("instructions", queue.instructions, longest_instructions));
    TRY(check_queue_text("dataset", queue.dataset, 500));
    TRY(check_queue_text("fill_filter", queue.fill_filter, 10'000));
    if (queue.reviewers_per_item < 1 || queue.reviewers_per_item > 10)
        return invalid("reviewers_per_item must be between 1 and 10");
    if (queue.fill_ppm < 1 || queue.fill_ppm > 1'000'000) return invalid("fill_ppm must be between 1 and 1000000");
    return {};
}

} // namespace

bool is_sampled(std::string_view id, int64_t ppm) {
    if (ppm >= 1'000'000) return true;
    uint64_t hash = 14695981039346656037ULL; // FNV-1a, then mixed: similar ids differ in all bits
    for (const char c : id) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
    hash = (hash ^ (hash >> 30)) * 0xBF58476D1CE4E5B9ULL;
    hash = (hash ^ (hash >> 27)) * 0x94D049BB133111EBULL;
    return static_cast<int64_t>((hash ^ (hash >> 31)) % 1'000'000) < ppm;
}

Result<Queue> Queues::read(const std::string& condition, const std::string& value) const {
    const auto rows = TRY(m_database.query(
        "SELECT " + std::string(queue_fields) + " FROM annotation_queues q WHERE " + condition, value));
    if (rows.empty()) return not_found("queue " + std::string(truncate_utf8(value, 100)));
    Queue queue = queue_of(rows.front());
    for (const auto& row : TRY(m_database.query("SELECT c.config_id FROM queue_configs c WHERE c.queue_id = ? ORDER BY "
                                                "c.position",
                                                queue.id))) {
        // A config that was deleted is no longer labelled.
        const auto config = m_configs.find(Caller::system(), queue.space_id, row.text(0));
        if (!config.ok() && config.error().code == Code::not_found) continue;
        if (!config.ok()) return config.error();
        const AnnotationConfigContent& content = config.value().content;
        queue.configs.push_back({config.value().id, content.name, content.type, content.description, content.labels,
                                 content.lower_bound, content.upper_bound});
    }
    return queue;
}

Result<Queue> Queues::find(const Caller& caller, const SpaceId& space, std::string_view id_or_name,
                           Permission permission) const {
    const auto absent = [&] { return not_found("queue " + std::string(truncate_utf8(id_or_name, 100))); };
    if (!is_valid_utf8(id_or_name) || id_or_name.find('\0') != std::string_view::npos) return absent();
    const auto rows = TRY(m_database.query("SELECT id, space_id, project_id FROM annotation_queues WHERE id = ? OR "
                                           "(space_id = ? AND name = ?) ORDER BY CASE "
                                           "WHEN id = ? THEN 0 ELSE 1 END LIMIT 1",
                                           id_or_name, space, id_or_name, id_or_name));
    if (rows.empty()) return absent();
    // A queue is as visible as its project.
    const auto project =
        m_access.projects.find(caller, rows.front().id<access::SpaceTag>(1), rows.front().text(2), permission);
    if (!project.ok()) return project.error().code == Code::not_found ? absent() : project.error();
    return read("q.id = ?", rows.front().text(0));
}

Result<> Queues::check(const Caller& caller, const Queue& queue, Permission permission) const {
    TRY(m_access.projects.find(caller, queue.space_id, queue.project_id.text(), permission));
    return {};
}

Result<Page<Queue>> Queues::list(const Caller& caller, const SpaceId& space, const PageRequest& page) const {
    auto wanted =
        TRY(access::ProjectList::create(m_access.projects, caller, space, std::nullopt, Permission::queue_answer,
                                        "SELECT " + std::string(queue_fields) + " FROM annotation_queues q", "q."));
    std::vector<Queue> queues;
    for (const auto& row : TRY(wanted.newest_first(m_database, page))) queues.push_back(queue_of(row));
    return access::make_page(std::move(queues), page, [](const Queue& one) { return one.id.text(); });
}

Result<std::vector<AnnotationConfig>> Queues::configs_of(const SpaceId& space,
                                                         const std::vector<std::string>& names) const {
    if (names.empty() || names.size() > most_queue_configs)
        return invalid(fmt::format("configs has 1 to {} annotation configs", most_queue_configs));
    std::vector<AnnotationConfig> configs;
    for (const std::string& name : names) {
        AnnotationConfig config = TRY(m_configs.find(Caller::system(), space, name));
        if (config.space_id != space) return not_found("annotation config " + std::string(truncate_utf8(name, 100)));
        for (const AnnotationConfig& there : configs)
            if (there.id == config.id) return invalid("configs: " + config.content.name + " is there twice");
        configs.push_back(std::move(config));
    }
    return configs;
}

Result<> Queues::set_configs(sql::Transaction& transaction, const QueueId& id,
                             const std::vector<AnnotationConfig>& configs) const {
    TRY(transaction.execute("DELETE FROM queue_configs WHERE queue_id = ?", id));
    int64_t position = 0;
    for (const AnnotationConfig& config : configs)
        TRY(transaction.execute("INSERT INTO queue_configs (queue_id, position, config_id) VALUES (?, ?, ?)", id,
                                position++, config.id));
    return {};
}

Result<Queue> Queues::create(const Caller& caller, const SpaceId& space, const NewQueue& wanted) {
    const auto project = TRY(m_access.projects.find(caller, space, wanted.project, Permission::queue_manage));
    const auto configs = TRY(configs_of(space, wanted.configs));
    Queue queue;
    queue.id = make_id<QueueTag>(m_clock);
    queue.name = wanted.name;
    queue.instructions = *wanted.instructions;
    queue.target = *wanted.target;
    queue.reviewers_per_item = *wanted.reviewers_per_item;
    queue.dataset = *wanted.dataset;
    queue.fill_filter = *wanted.fill_filter;
    queue.fill_rule = *wanted.fill_rule;
    queue.fill_ppm = *wanted.fill_ppm;
    TRY(check_queue(queue));
    if (!queue.dataset.empty()) TRY(caller.require(Permission::dataset_write, space));
    const Time now = m_clock.now();
    TRY(m_database.write([&](sql::Transaction& transaction) -> Result<> {
        const auto there =
            TRY(transaction.query("SELECT COUNT(*), COALESCE(SUM(CASE WHEN name = ? THEN 1 ELSE 0 END), 0) FROM "
                                  "annotation_queues WHERE space_id = ?",
                                  queue.name, space));
        if (there.front().integer(1) > 0) return conflict("a queue named " + queue.name + " exists already");
        if (there.front().integer(0) >= most_queues)
            return too_large(fmt::format("a space has at most {} queues", most_queues));
        TRY(transaction.execute(
            "INSERT INTO annotation_queues (id, space_id, project_id, name, instructions, target, reviewers_per_item, "
            "shows_verdicts, dataset, fill_enabled, fill_filter, fill_ppm, filled_up_to, fill_problem, created_by, "
            "created_by_name, created_at, updated_at, fill_rule) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, '', ?, "
            "?, ?, ?, ?)",
            queue.id, space, project.id, queue.name, queue.instructions, name_of(queue.target),
            queue.reviewers_per_item, *wanted.shows_verdicts ? 1 : 0, queue.dataset, *wanted.fill_enabled ? 1 : 0,
            queue.fill_filter, queue.fill_ppm, now, caller.actor(), caller.name, now, now, name_of(queue.fill_rule)));
        TRY(set_configs(transaction, queue.id, configs));
        return m_access.audit.record(transaction, caller,
                                     {"queue_create", space, queue.id.text(), {{"name", queue.name}}});
    }));
    return read("q.id = ?", queue.id.text());
}

Result<Queue> Queues::update(const Caller& caller, const Queue& queue, const QueueChange& change) {
    TRY(check(caller, queue, Permission::queue_manage));
    Queue changed = queue;
    if (change.name) changed.name = *change.name;
    if (change.instructions) changed.instructions = *change.instructions;
    if (change.reviewers_per_item) changed.reviewers_per_item = *change.reviewers_per_item;
    if (change.shows_verdicts) changed.shows_verdicts = *change.shows_verdicts;
    if (change.dataset) changed.dataset = *change.dataset;
    if (change.fill_enabled) changed.fill_enabled = *change.fill_enabled;
    if (change.fill_filter) changed.fill_filter = *change.fill_filter;
    if (change.fill_rule) changed.fill_rule = *change.fill_rule;
    if (change.fill_ppm) changed.fill_ppm = *change.fill_ppm;
    TRY(check_queue(changed));
    if (change.dataset && !change.dataset->empty()) TRY(caller.require(Permission::dataset_write, queue.space_id));
    std::optional<std::vector<AnnotationConfig>> configs;
    if (change.configs) configs = TRY(configs_of(queue.space_id, *change.configs));
    // A rule that was off considers what comes from now on.
    const bool begins = changed.fill_enabled && !queue.fill_enabled;
    const Time now = m_clock.now();
    TRY(m_database.write([&](sql::Transaction& transaction) -> Result<> {
        const auto same =
            TRY(transaction.query("SELECT 1 FROM annotation_queues WHERE space_id = ? AND name = ? AND id "
                                  "<> ?",
                                  queue.space_id, changed.name, queue.id));
        if (!same.empty()) return conflict("a queue named " + changed.name + " exists already");
        TRY(transaction.execute(
            "UPDATE annotation_queues SET name = ?, instructions = ?, reviewers_per_item = ?, shows_verdicts = ?, "
            "dataset "
            "= ?, fill_enabled = ?, fill_filter = ?, fill_rule = ?, fill_ppm = ?, filled_up_to = ?, fill_problem = '', "
            "updated_at = ? WHERE id = ?",
            changed.name, changed.instructions, changed.reviewers_per_item, changed.shows_verdicts ? 1 : 0,
            changed.dataset, changed.fill_enabled ? 1 : 0, changed.fill_filter, name_of(changed.fill_rule),
            changed.fill_ppm, begins ? now : queue.filled_up_to, now, queue.id));
        if (configs) TRY(set_configs(transaction, queue.id, *configs));
        if (changed.reviewers_per_item != queue.reviewers_per_item)
            for (const auto& [state, of] : {std::pair("done", "done"), std::pair("pending", "done")}) {
                const std::string compared = std::string_view(state) == of ? ">=" : "<";
                TRY(transaction.execute(
                    "UPDATE queue_items SET state = '" + std::string(state) +
                        "' WHERE queue_id = ? AND state IN ('pending', 'done') AND (SELECT COUNT(*) "
                        "FROM queue_reviews r WHERE r.item_id = queue_items.id AND r.state = "
                        "'done') " +
                        compared + " ?",
                    queue.id, changed.reviewers_per_item));
            }
        return m_access.audit.record(transaction, caller,
                                     {"queue_update", queue.space_id, queue.id.text(), {{"name", changed.name}}});
    }));
    return read("q.id = ?", queue.id.text());
}

Result<> Queues::remove(const Caller& caller, const Queue& queue) {
    TRY(check(caller, queue, Permission::queue_manage));
    return m_database.write([&](sql::Transaction& transaction) -> Result<> {
        TRY(transaction.execute("DELETE FROM annotation_queues WHERE id = ?", queue.id));
        return m_access.audit.record(transaction, caller,
                                     {"queue_delete", queue.space_id, queue.id.text(), {{"name", queue.name}}});
    });
}

Result<int64_t> Queues::insert(const Queue& queue, const std::vector<std::pair<std::string, std::string>>& targets,
                               const std::string& by) {
    return m_database.write([&](sql::Transaction& transaction) -> Result<int64_t> {
        const auto counted = TRY(transaction.query("SELECT COUNT(*) FROM queue_items WHERE queue_id = ?", queue.id));
        const int64_t there = counted.front().integer(0);
        int64_t added = 0;
        for (const auto& [target, trace] : targets) {
            if (there + added >= most_queue_items)
                return too_large(fmt::format("a queue has at most {} items; make another one", most_queue_items));
            added += TRY(transaction.execute(
                "INSERT INTO queue_items (id, queue_id, target_id, trace_id, state, added_by_name, created_at) VALUES "
                "(?, ?, ?, ?, 'pending', ?, ?) ON CONFLICT (queue_id, target_id) DO NOTHING",
                make_id<QueueItemTag>(m_clock), queue.id, target, trace, by, m_clock.now()));
        }
        return added;
    });
}

Result<QueueFilled> Queues::add(const Caller& caller, const Queue& queue, const std::vector<std::string>& target_ids) {
    TRY(check(caller, queue, Permission::queue_manage));
    if (target_ids.empty() || target_ids.size() > static_cast<size_t>(most_filled_at_once))
        return invalid(fmt::format("target_ids has 1 to {} ids", most_filled_at_once));
    if (m_spans == nullptr) return unavailable("this server stores no spans");
    std::vector<telemetry::PlaceName> names;
    for (const std::string& id : target_ids) {
        if (id.empty() || id.size() > 1000 || !is_valid_utf8(id) || id.find('\0') != std::string::npos)
            return invalid("target_ids: an id is 1 to 1000 bytes of text");
        names.push_back({id, queue.target == telemetry::EvalTarget::chat_session ? id : lowercase_ascii(id),
                         queue.project_id.text()});
    }
    const auto places = TRY(m_spans->places(caller, queue.space_id, queue.target, names, Permission::project_read));
    std::vector<std::pair<std::string, std::string>> targets;
    for (const std::string& id : target_ids) {
        const auto place = places.find(id);
        if (place == places.end())
            return not_found(
                fmt::format("{} {} in the project of the queue", name_of(queue.target), truncate_utf8(id, 100)));
        const bool is_trace = queue.target == telemetry::EvalTarget::trace;
        targets.emplace_back(place->second.id, is_trace ? place->second.id : place->second.trace_id);
    }
    return QueueFilled{TRY(insert(queue, targets, caller.name)), static_cast<int64_t>(targets.size())};
}

Result<std::vector<std::pair<std::string, std::string>>> Queues::matching(const Queue& queue, int64_t from_ns,
                                                                          int64_t limit) const {
    if (m_spans == nullptr) return unavailable("this server stores no spans");
    TRY(m_spans->wait_until_loaded());
    telemetry::SpanStore& store = *TRY(m_spans->store());
    std::vector<std::pair<std::string, std::string>> found;
    const auto take = [&](const std::string& target, const std::string& trace) {
        if (!target.empty() && is_sampled(trace.empty() ? target : trace, queue.fill_ppm))
            found.emplace_back(target, trace);
    };
    if (queue.fill_rule != QueueFillRule::matching) {
        telemetry::FindUnsettled request;
        request.project = queue.project_id.text();
        request.target = queue.target;
        request.kind = queue.fill_rule == QueueFillRule::undecided ? telemetry::Unsettled::undecided
                       : queue.fill_rule == QueueFillRule::split   ? telemetry::Unsettled::split
                                                                   : telemetry::Unsettled::disputed;
        request.filter = queue.fill_filter;
        request.since_ns = from_ns;
        request.limit = static_cast<size_t>(limit);
        for (const auto& one : TRY(m_spans->evals.find_unsettled(request))) take(one.id, one.trace_id);
        return found;
    }
    telemetry::Scope scope;
    scope.project = queue.project_id.text();
    scope.filter = queue.fill_filter;
    scope.from_ns = from_ns;
    std::string cursor;
    do {
        if (queue.target == telemetry::EvalTarget::span) {
            telemetry::ListSpans request;
            request.scope = scope;
            request.limit = 1000;
            request.cursor = cursor;
            const auto page = TRY(store.list_spans(request));
            for (const auto& span : page.spans) take(span.span_id, span.trace_id);
            cursor = page.next_cursor;
        } else if (queue.target == telemetry::EvalTarget::trace) {
            telemetry::ListTraces request;
            request.scope = scope;
            request.limit = 1000;
            request.cursor = cursor;
            const auto page = TRY(store.list_traces(request));
            for (const auto& trace : page.traces) take(trace.trace_id, trace.trace_id);
            cursor = page.next_cursor;
        } else {
            telemetry::ListSpans request;
            request.scope = scope;
            request.limit = 1000;
            request.cursor = cursor;
            const auto page = TRY(store.list_spans(request));
            for (const auto& span : page.spans) take(span.chat_session, "");
            cursor = page.next_cursor;
        }
    } while (!cursor.empty() && static_cast<int64_t>(found.size()) < limit);
    std::ranges::sort(found);
    found.erase(std::unique(found.begin(), found.end()), found.end());
    if (static_cast<int64_t>(found.size()) > limit) found.resize(static_cast<size_t>(limit));
    return found;
}

Result<QueueFilled> Queues::fill(const Caller& caller, const Queue& queue, int64_t hours, int64_t limit) {
    TRY(check(caller, queue, Permission::queue_manage));
    if (hours < 1 || hours > 24 * 365) return invalid("hours must be between 1 and 8760");
    if (limit < 1 || limit > most_filled_at_once)
        return invalid(fmt::format("limit must be between 1 and {}", most_filled_at_once));
    const auto targets = TRY(matching(queue, to_ns(m_clock.now()) - hours * 3'600'000'000'000, limit));
    return QueueFilled{TRY(insert(queue, targets, caller.name)), static_cast<int64_t>(targets.size())};
}

Result<int64_t> Queues::fill_due() {
    // Spans arrive late: the last minutes are considered twice, and the unique key keeps items from being doubled.
    constexpr Duration overlap = std::chrono::minutes(10);
    const Time now = m_clock.now();
    int64_t added = 0;
    for (const auto& row :
         TRY(m_database.query("SELECT id FROM annotation_queues WHERE fill_enabled = 1 AND filled_up_to "
                              "< ? ORDER BY filled_up_to LIMIT 50",
                              now - fill_cadence))) {
        const Queue queue = TRY(read("q.id = ?", row.text(0)));
        // The server that moves the time on fills the queue.
        const auto claimed =
            TRY(m_database.execute("UPDATE annotation_queues SET filled_up_to = ? WHERE id = ? AND filled_up_to = ?",
                                   now, queue.id, queue.filled_up_to));
        if (claimed == 0) continue;
        const auto filled = [&]() -> Result<int64_t> {
            const auto targets = TRY(matching(queue, to_ns(queue.filled_up_to - overlap), most_filled_at_once));
            return insert(queue, targets, "fill rule");
        }();
        if (filled.ok()) added += filled.value();
        // What was not considered is considered at the next attempt.
        TRY(m_database.execute("UPDATE annotation_queues SET fill_problem = ?, filled_up_to = CASE WHEN ? = '' THEN "
                               "filled_up_to ELSE ? END WHERE id = ?",
                               filled.ok() ? "" : std::string(truncate_utf8(filled.error().message, 500)),
                               filled.ok() ? "" : "failed", queue.filled_up_to, queue.id));
        if (!filled.ok())
            log(Level::warning, "a queue was not filled",
                {{"queue", queue.id.text()}, {"why", filled.error().message}});
    }
    return added;
}

} // namespace hone::evaluate
