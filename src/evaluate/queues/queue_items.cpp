// The items of a queue as people work through them.
#include "base/text.h"
#include "evaluate/content/canonical.h"
#include "evaluate/queues/queues.h"

#include <cmath>
#include <fmt/format.h>
#include <set>

namespace hone::evaluate {

using access::Caller, access::Page, access::PageRequest, access::Permission;

namespace {

constexpr int64_t longest_label_ms = 24 * 3'600'000;
constexpr size_t longest_queue_text = 20'000;

constexpr std::string_view item_fields =
    "i.id, i.queue_id, i.target_id, i.trace_id, i.state, i.added_by_name, i.created_at, (SELECT COUNT(*) FROM "
    "queue_reviews d WHERE d.item_id = i.id AND d.state = 'done'), r.state, r.reserved_until";

QueueItem item_of(const Queue& queue, const sql::Row& row, Time now) {
    QueueItem item;
    item.id = row.id<QueueItemTag>(0);
    item.queue_id = row.id<QueueTag>(1);
    item.target = queue.target;
    item.target_id = row.text(2);
    item.trace_id = row.text(3);
    item.state = parse_enum<QueueItemState>(row.text(4)).value_or(QueueItemState::pending);
    item.added_by = row.text(5);
    item.created_at = row.time(6);
    item.labelled_by = row.integer(7);
    item.my_state = row.optional_text(8).value_or("");
    if (item.my_state == "reserved") {
        const auto until = row.optional_time(9);
        if (until && *until > now)
            item.reserved_until = until;
        else
            item.my_state.clear();
    }
    return item;
}

struct CheckedEval {
    const QueueConfig* config = nullptr;
    std::string label;
    std::optional<double> score;
    std::string explanation;
};

Result<CheckedEval> check_eval(const Queue& queue, const QueueEval& given) {
    CheckedEval checked;
    for (const QueueConfig& config : queue.configs)
        if (config.id.text() == given.config || config.name == given.config) checked.config = &config;
    if (checked.config == nullptr)
        return invalid("config " + std::string(truncate_utf8(given.config, 100)) + " does not belong to the queue");
    const QueueConfig& config = *checked.config;
    checked.explanation = given.explanation.value_or("");
    if (checked.explanation.size() > longest_queue_text || !is_valid_utf8(checked.explanation) ||
        checked.explanation.find('\0') != std::string::npos)
        return invalid(fmt::format("explanation must be UTF-8 text of at most {} bytes", longest_queue_text));
    switch (config.type) {
    case AnnotationConfigType::categorical: {
        if (given.score) return invalid("score: " + config.name + " takes one of its labels");
        for (const AnnotationLabel& one : config.labels)
            if (given.label == one.label) {
                checked.label = one.label;
                checked.score = one.score;
                return checked;
            }
        return invalid("label: " + config.name + " has no label " +
                       std::string(truncate_utf8(given.label.value_or("(none)"), 100)));
    }
    case AnnotationConfigType::continuous:
        if (given.label) return invalid("label: " + config.name + " takes a score");
        if (!given.score || !std::isfinite(*given.score)) return invalid("score: " + config.name + " takes a number");
        if ((config.lower_bound && *given.score < *config.lower_bound) ||
            (config.upper_bound && *given.score > *config.upper_bound))
            return invalid("score is outside of the bounds of " + config.name);
        checked.score = given.score;
        return checked;
    case AnnotationConfigType::freeform:
        if (given.label || given.score) return invalid("explanation: " + config.name + " takes text only");
        if (trim(checked.explanation).empty()) return invalid("explanation: " + config.name + " takes text");
        return checked;
    }
    return invalid("the type of the config is not supported");
}

Result<std::vector<CheckedEval>> check_evals(const Queue& queue, const LabelQueueItem& wanted) {
    if (wanted.evals.empty() || wanted.evals.size() > queue.configs.size())
        return invalid("evals has one eval for each config, and at least one");
    if (*wanted.ms_spent < 0 || *wanted.ms_spent > longest_label_ms)
        return invalid("ms_spent must be between 0 and 86400000");
    std::vector<CheckedEval> checked;
    std::set<std::string> names;
    for (const QueueEval& given : wanted.evals) {
        checked.push_back(TRY(check_eval(queue, given)));
        if (!names.insert(checked.back().config->name).second)
            return invalid("evals: " + checked.back().config->name + " is there twice");
    }
    return checked;
}

std::string eval_identifier(const std::string& item, const std::string& user) {
    return item + ":" + user;
}

} // namespace

Result<std::string> Queues::reviewer(const Caller& caller, const Queue& queue) const {
    TRY(check(caller, queue, Permission::queue_answer));
    if (!caller.run.empty() || caller.user.empty())
        return forbidden("labels are given by people: log in, or use a personal key");
    return caller.user.text();
}

Result<Page<QueueItem>> Queues::items(const Caller& caller, const Queue& queue, std::optional<QueueItemState> state,
                                      const PageRequest& page) const {
    TRY(check(caller, queue, Permission::queue_answer));
    const std::string after = TRY(page.after());
    std::vector<QueueItem> found;
    for (const auto& row : TRY(m_database.query("SELECT " + std::string(item_fields) +
                                                    " FROM queue_items i LEFT JOIN queue_reviews r ON r.item_id = i.id "
                                                    "AND r.user_id = ? WHERE i.queue_id = "
                                                    "? AND (? = '' OR i.state = ?) AND i.id > ? ORDER BY i.id LIMIT ?",
                                                caller.user, queue.id, state ? name_of(*state) : std::string_view(),
                                                state ? name_of(*state) : "", after, page.limit + 1)))
        found.push_back(item_of(queue, row, m_clock.now()));
    return access::make_page(std::move(found), page, [](const QueueItem& one) { return one.id.text(); });
}

Result<std::vector<QueueVerdict>> Queues::verdicts_of(const Queue& queue, const QueueItem& item) const {
    std::vector<QueueVerdict> verdicts;
    if (m_spans == nullptr) return verdicts;
    TRY(m_spans->store());
    telemetry::ListEvals request;
    request.project = queue.project_id.text();
    request.target = queue.target;
    request.target_ids = {item.target_id};
    request.limit = 200;
    for (auto& eval : TRY(m_spans->evals.list(request)).evals)
        if (eval.kind != telemetry::EvalKind::human)
            verdicts.push_back({std::move(eval.name), std::string(name_of(eval.kind)), std::move(eval.label),
                                eval.score, std::move(eval.explanation)});
    return verdicts;
}

Result<QueueItem> Queues::item(const Caller& caller, const Queue& queue, const QueueItemId& id) const {
    TRY(check(caller, queue, Permission::queue_answer));
    const auto rows = TRY(m_database.query(
        "SELECT " + std::string(item_fields) +
            " FROM queue_items i LEFT JOIN queue_reviews r ON r.item_id = i.id AND r.user_id = ? WHERE i.id = ? AND "
            "i.queue_id = ?",
        caller.user, id, queue.id));
    if (rows.empty()) return not_found("item " + id.text());
    QueueItem found = item_of(queue, rows.front(), m_clock.now());
    for (const auto& row :
         TRY(m_database.query("SELECT name, label, score, explanation FROM queue_evals WHERE item_id = "
                              "? AND user_id = ? AND withdrawn = 0 ORDER BY name",
                              id, caller.user))) {
        QueueEval eval;
        eval.config = row.text(0);
        if (!row.text(1).empty()) eval.label = row.text(1);
        eval.score = row.optional_real(2);
        if (eval.label) eval.score.reset();
        if (!row.text(3).empty()) eval.explanation = row.text(3);
        found.my_evals.push_back(std::move(eval));
    }
    const bool may_see = queue.shows_verdicts || found.my_state == "done" || found.my_state == "skipped";
    found.verdicts_hidden = !may_see;
    if (may_see) found.verdicts = TRY(verdicts_of(queue, found));
    return found;
}

Result<std::optional<QueueItem>> Queues::next(const Caller& caller, const Queue& queue) {
    const std::string user = TRY(reviewer(caller, queue));
    const Time now = m_clock.now();
    const auto reserved = TRY(m_database.write([&](sql::Transaction& transaction) -> Result<std::string> {
        // The one that the person has, else the oldest with a place that is neither taken nor reserved.
        auto rows = TRY(transaction.query(
            "SELECT r.item_id FROM queue_reviews r JOIN queue_items i ON i.id = r.item_id WHERE r.queue_id = ? AND "
            "r.user_id = ? AND r.state = 'reserved' AND r.reserved_until > ? AND i.state = 'pending' ORDER BY "
            "r.item_id "
            "LIMIT 1",
            queue.id, user, now));
        if (rows.empty())
            rows = TRY(transaction.query(
                "SELECT i.id FROM queue_items i WHERE i.queue_id = ? AND i.state = 'pending' AND NOT EXISTS (SELECT 1 "
                "FROM queue_reviews m WHERE m.item_id = i.id AND m.user_id = ? AND m.state <> 'reserved') AND (SELECT "
                "COUNT(*) FROM queue_reviews o WHERE o.item_id = i.id AND o.user_id <> ? AND (o.state = 'done' OR "
                "(o.state = 'reserved' AND o.reserved_until > ?))) < ? ORDER BY i.id LIMIT 1",
                queue.id, user, user, now, queue.reviewers_per_item));
        if (rows.empty()) return std::string();
        TRY(transaction.execute(
            "INSERT INTO queue_reviews (item_id, queue_id, user_id, user_name, state, reserved_until, ms_spent, "
            "saw_verdicts, reason, updated_at) VALUES (?, ?, ?, ?, 'reserved', ?, 0, 0, '', ?) ON CONFLICT (item_id, "
            "user_id) DO UPDATE SET state = 'reserved', reserved_until = excluded.reserved_until",
            rows.front().text(0), queue.id, user, caller.name, now + reservation, now));
        return rows.front().text(0);
    }));
    if (reserved.empty()) return std::optional<QueueItem>();
    return std::optional(TRY(item(caller, queue, QueueItemId(reserved))));
}

// Counts again who has labelled and skipped the item.
Result<> Queues::settle(sql::Transaction& transaction, const Queue& queue, const QueueItemId& id) const {
    TRY(transaction.execute(
        "UPDATE queue_items SET state = CASE WHEN (SELECT COUNT(*) FROM queue_reviews r WHERE r.item_id = "
        "queue_items.id "
        "AND r.state = 'done') >= ? THEN 'done' WHEN (SELECT COUNT(*) FROM queue_reviews r WHERE r.item_id = "
        "queue_items.id AND r.state = 'skipped') >= ? THEN 'skipped' ELSE 'pending' END WHERE id = ?",
        queue.reviewers_per_item, queue.reviewers_per_item, id));
    return {};
}

Result<QueueItem> Queues::label(const Caller& caller, const Queue& queue, const QueueItemId& id,
                                const LabelQueueItem& wanted) {
    const std::string user = TRY(reviewer(caller, queue));
    const auto evals = TRY(check_evals(queue, wanted));
    if (wanted.reference && queue.dataset.empty())
        return invalid("reference: the queue has no dataset for corrected outputs");
    const QueueItem before = TRY(item(caller, queue, id));
    const Time now = m_clock.now();
    TRY(m_database.write([&](sql::Transaction& transaction) -> Result<> {
        const auto others = TRY(transaction.query(
            "SELECT COUNT(*) FROM queue_reviews WHERE item_id = ? AND user_id <> ? AND state = 'done'", id, user));
        if (others.front().integer(0) >= queue.reviewers_per_item)
            return conflict("others have labelled this item meanwhile; continue with the next one");
        TRY(transaction.execute(
            "INSERT INTO queue_reviews (item_id, queue_id, user_id, user_name, state, reserved_until, ms_spent, "
            "saw_verdicts, reason, updated_at) VALUES (?, ?, ?, ?, 'done', 0, ?, ?, '', ?) ON CONFLICT (item_id, "
            "user_id) DO UPDATE SET state = 'done', reserved_until = 0, ms_spent = excluded.ms_spent, saw_verdicts = "
            "CASE WHEN queue_reviews.saw_verdicts = 1 THEN 1 ELSE excluded.saw_verdicts END, reason = '', updated_at = "
            "excluded.updated_at",
            id, queue.id, user, caller.name, *wanted.ms_spent, before.verdicts_hidden ? 0 : 1, now));
        // A config that is not among them any more has no eval of this person.
        TRY(transaction.execute(
            "UPDATE queue_evals SET withdrawn = 1, published = 0, updated_at = ? WHERE item_id = ? AND "
            "user_id = ?",
            now, id, user));
        for (const CheckedEval& eval : evals)
            TRY(transaction.execute(
                "INSERT INTO queue_evals (item_id, user_id, config_id, queue_id, name, label, score, explanation, "
                "withdrawn, published, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0, 0, ?) ON CONFLICT (item_id, "
                "user_id, config_id) DO UPDATE SET name = excluded.name, label = excluded.label, score = "
                "excluded.score, explanation = excluded.explanation, withdrawn = 0, published = 0, updated_at = "
                "excluded.updated_at",
                id, user, eval.config->id, queue.id, eval.config->name, eval.label, eval.score, eval.explanation, now));
        return settle(transaction, queue, id);
    }));
    // What fails here is repeated by the background step.
    if (const auto published = publish(); !published.ok() && published.error().code == Code::internal)
        return published.error();
    if (wanted.reference) TRY(add_reference(queue, before, *wanted.reference));
    return item(caller, queue, id);
}

Result<QueueItem> Queues::skip(const Caller& caller, const Queue& queue, const QueueItemId& id,
                               const std::string& reason) {
    const std::string user = TRY(reviewer(caller, queue));
    if (reason.size() > 2000 || !is_valid_utf8(reason) || reason.find('\0') != std::string::npos)
        return invalid("reason must be UTF-8 text of at most 2000 bytes");
    const QueueItem before = TRY(item(caller, queue, id));
    if (before.my_state == "done") return conflict("you have labelled this item; undo it first");
    TRY(m_database.write([&](sql::Transaction& transaction) -> Result<> {
        TRY(transaction.execute(
            "INSERT INTO queue_reviews (item_id, queue_id, user_id, user_name, state, reserved_until, ms_spent, "
            "saw_verdicts, reason, updated_at) VALUES (?, ?, ?, ?, 'skipped', 0, 0, 0, ?, ?) ON CONFLICT (item_id, "
            "user_id) DO UPDATE SET state = 'skipped', reserved_until = 0, reason = excluded.reason, updated_at = "
            "excluded.updated_at",
            id, queue.id, user, caller.name, reason, m_clock.now()));
        return settle(transaction, queue, id);
    }));
    return item(caller, queue, id);
}

Result<QueueItem> Queues::undo(const Caller& caller, const Queue& queue) {
    const std::string user = TRY(reviewer(caller, queue));
    const Time now = m_clock.now();
    const auto taken = TRY(m_database.write([&](sql::Transaction& transaction) -> Result<std::string> {
        const auto last = TRY(transaction.query("SELECT item_id FROM queue_reviews WHERE queue_id = ? AND user_id = ? "
                                                "AND state IN ('done', 'skipped') ORDER "
                                                "BY updated_at DESC, item_id DESC LIMIT 1",
                                                queue.id, user));
        if (last.empty()) return not_found("an item of yours to take back");
        const QueueItemId id(last.front().text(0));
        // The person has seen the verdicts, or could have.
        TRY(transaction.execute(
            "UPDATE queue_reviews SET reserved_until = ? WHERE queue_id = ? AND user_id = ? AND state = 'reserved'",
            now, queue.id, user));
        TRY(transaction.execute(
            "UPDATE queue_reviews SET saw_verdicts = CASE WHEN state = 'done' THEN 1 ELSE "
            "saw_verdicts END, state = 'reserved', reserved_until = ? WHERE item_id = ? AND user_id "
            "= ?",
            now + reservation, id, user));
        TRY(transaction.execute(
            "UPDATE queue_evals SET withdrawn = 1, published = 0, updated_at = ? WHERE item_id = ? AND "
            "user_id = ?",
            now, id, user));
        TRY(settle(transaction, queue, id));
        return id.text();
    }));
    if (const auto published = publish(); !published.ok() && published.error().code == Code::internal)
        return published.error();
    return item(caller, queue, QueueItemId(taken));
}

// The corrected output with the input of the target, once per target.
Result<> Queues::add_reference(const Queue& queue, const QueueItem& item, const json::Value& reference) {
    if (m_spans == nullptr) return unavailable("this server stores no spans");
    if (item.trace_id.empty()) return invalid("reference: the input of a chat session is not one span");
    telemetry::ListSpans request;
    request.scope.project = queue.project_id.text();
    request.limit = 1;
    if (queue.target == telemetry::EvalTarget::span)
        request.span_ids = {item.target_id};
    else
        request.conditions.parent_id = "";
    request.conditions.trace_ids = {item.trace_id};
    const auto found = TRY(m_spans->payloads(request));
    if (found.spans.empty()) return not_found("the span of the item");
    const telemetry::SpanPayload& span = found.spans.front();
    Upload upload;
    upload.action = UploadAction::append;
    upload.name = queue.dataset;
    upload.source = VersionSource::ui;
    upload.note = "queue " + queue.name;
    NewExample example;
    example.names_files = false; // what the application sent
    example.input = span_part(span.input, "input");
    example.output = reference.is_object() ? reference : json::Value(json::Object{{"output", reference}});
    example.metadata = json::Object{{"trace_id", span.row.trace_id}, {"queue", queue.id.text()}};
    example.source = ExampleSource{queue.project_id.text(), span.row.trace_id, span.row.span_id};
    example.example_id = "span:" + span.row.span_id;
    upload.examples.push_back(std::move(example));
    TRY(m_datasets.upload(Caller::system(), queue.space_id, std::move(upload)));
    return {};
}

Result<int64_t> Queues::publish() {
    if (m_spans == nullptr) return 0;
    struct Waiting {
        telemetry::Eval eval;
        bool is_withdrawn = false;
        std::string item, user, config;
        int64_t updated_ns = 0;
    };
    std::vector<Waiting> waiting;
    for (const auto& row : TRY(m_database.query(
             "SELECT e.item_id, e.user_id, e.config_id, e.name, e.label, e.score, e.explanation, e.withdrawn, "
             "e.updated_at, i.target_id, q.project_id, q.target, q.id FROM queue_evals e JOIN queue_items i ON i.id = "
             "e.item_id JOIN annotation_queues q ON q.id = i.queue_id WHERE e.published = 0 ORDER BY e.updated_at "
             "LIMIT "
             "500"))) {
        Waiting one;
        one.item = row.text(0);
        one.user = row.text(1);
        one.config = row.text(2);
        one.eval.name = row.text(3);
        one.eval.label = row.text(4);
        one.eval.score = row.optional_real(5);
        one.eval.explanation = row.text(6);
        one.is_withdrawn = row.integer(7) != 0;
        one.updated_ns = row.integer(8);
        one.eval.target_id = row.text(9);
        one.eval.project = row.text(10);
        one.eval.target = parse_enum<telemetry::EvalTarget>(row.text(11)).value_or(telemetry::EvalTarget::trace);
        one.eval.annotator = one.user;
        one.eval.identifier = eval_identifier(one.item, one.user);
        one.eval.kind = telemetry::EvalKind::human;
        one.eval.metadata = json::print(json::Object{{"queue", row.text(12)}});
        waiting.push_back(std::move(one));
    }
    if (waiting.empty()) return 0;
    TRY(m_spans->store());
    std::vector<telemetry::Eval> written;
    for (const Waiting& one : waiting)
        if (!one.is_withdrawn) written.push_back(one.eval);
    if (!written.empty()) TRY(m_spans->evals.upsert(std::move(written)));
    for (const Waiting& one : waiting)
        if (one.is_withdrawn) {
            telemetry::DeleteEvals which;
            which.project = one.eval.project;
            which.target = one.eval.target;
            which.name = one.eval.name;
            which.identifier = one.eval.identifier;
            TRY(m_spans->evals.remove(which));
        }
    // Labels that changed meanwhile wait for the next step.
    for (const Waiting& one : waiting)
        TRY(m_database.execute(
            "UPDATE queue_evals SET published = 1 WHERE item_id = ? AND user_id = ? AND config_id = ? "
            "AND updated_at = ?",
            one.item, one.user, one.config, one.updated_ns));
    return static_cast<int64_t>(waiting.size());
}

} // namespace hone::evaluate
