#include "signal/evaluators.h"

#include "access/names.h"
#include "access/project_list.h"
#include "base/log.h"
#include "base/text.h"
#include "signal/analysis/survey.h"
#include "signal/text/message_template.h"
#include "sql/columns.h"
#include "telemetry/query/evals.h"
#include "telemetry/query/filter.h"

#include <cmath>
#include <fmt/format.h>
#include <limits>

namespace hone::signal {

using access::Caller, access::Page, access::PageRequest, access::Permission, access::SpaceId;

namespace {

constexpr int64_t most_per_project = 100;
constexpr int64_t longest_backfill = 720;
// A span may be loaded this long after it was received: the log holds it while the engine is away.
constexpr Duration late = std::chrono::minutes(10);
// And it may have begun this long before.
constexpr Duration longest_span = std::chrono::hours(24);

constexpr Pack evaluator_columns{
    sql::Column{"id", &Evaluator::id},
    sql::Column{"space_id", &Evaluator::space_id},
    sql::Column{"project_id", &Evaluator::project_id},
    sql::Column{"kind", &Evaluator::kind},
    sql::Column{"name", &Evaluator::name},
    sql::Column{"description", &Evaluator::description},
    sql::Column{"filter", &Evaluator::filter},
    sql::Column{"condition", &Evaluator::condition},
    sql::Column{"label", &Evaluator::label},
    sql::Column{"score", &Evaluator::score},
    sql::Column{"other_label", &Evaluator::other_label},
    sql::Column{"other_score", &Evaluator::other_score},
    sql::Column{"sample_percent", &Evaluator::sample_percent},
    sql::Column{"enabled", &Evaluator::enabled},
    sql::Column{"issue_id", &Evaluator::issue_id},
    sql::Column{"revision", &Evaluator::revision},
    sql::Column{"judged", &Evaluator::judged},
    sql::Column{"matched", &Evaluator::matched},
    sql::Column{"judged_before", &Evaluator::judged_before},
    sql::Column{"matched_before", &Evaluator::matched_before},
    sql::Column{"judged_up_to", &Evaluator::judged_up_to},
    sql::Column{"last_at", &Evaluator::last_at},
    sql::Column{"problem", &Evaluator::problem},
    sql::Column{"created_by_name", &Evaluator::created_by},
    sql::Column{"created_at", &Evaluator::created_at},
    sql::Column{"updated_at", &Evaluator::updated_at},
};
const std::string select_evaluator = "SELECT " + sql::names(evaluator_columns) + " FROM evaluators";

Evaluator evaluator_of(const sql::Row& row) {
    return sql::read<Evaluator>(evaluator_columns, row);
}

Result<> check_filter(std::string_view field, const std::string& text) {
    const auto parsed = telemetry::parse_filter(text);
    if (!parsed.ok()) return invalid(std::string(field) + ": " + parsed.error().message);
    return {};
}

Result<> check_rule(const Evaluator& rule) {
    TRY(check_filter("filter", rule.filter));
    if (trim(rule.condition).empty()) return invalid("condition is empty: write the spans that match");
    TRY(check_filter("condition", rule.condition));
    for (const auto& [name, label] : {std::pair("label", &rule.label), std::pair("other_label", &rule.other_label)})
        if (label->size() > 200 || !is_valid_utf8(*label) || label->find('\0') != std::string::npos)
            return invalid(std::string(name) + " has at most 200 bytes of text");
    if (rule.label.empty() && !rule.score) return invalid("label is empty: give a label or a score");
    if (rule.other_score && rule.other_label.empty()) return invalid("other_score goes with other_label");
    for (const auto& score : {rule.score, rule.other_score})
        if (score && !std::isfinite(*score)) return invalid("a score is a number");
    if (rule.sample_percent < 1 || rule.sample_percent > 100)
        return invalid("sample_percent must be between 1 and 100");
    return {};
}

Result<Time> backfill_from(Time now, int64_t hours, int64_t least) {
    if (hours < least || hours > longest_backfill)
        return invalid(fmt::format("backfill_hours must be between {} and {}", least, longest_backfill));
    return now - std::chrono::hours(hours);
}

// By the start of spans.
struct StartRange {
    int64_t from_ns = 0;
    int64_t to_ns = std::numeric_limits<int64_t>::max();
};

StartRange started_since(Time received) {
    return {to_ns(received - longest_span)};
}

// Spans the rule evaluates, with whether they match. Bound: project, after, until, began, before.
std::string query_of(const Evaluator& rule, telemetry::ClickHouseQuery& query) {
    const auto filter = telemetry::parse_filter(rule.filter);
    const auto condition = telemetry::parse_filter(rule.condition);
    // Checked when it was saved; one that is no longer understood matches nothing.
    if (!filter.ok() || !condition.ok()) return "SELECT '' AS span_id, 0 AS is_match WHERE 0";
    const std::string judged = telemetry::compile_filter(filter.value(), query);
    const std::string matches = telemetry::compile_filter(condition.value(), query, telemetry::FilterPlace::elsewhere);
    std::string sql =
        "SELECT span_id, (" + matches +
        ") AS is_match FROM hone.spans WHERE project = {project:String} AND "
        "start_ns >= {began:Int64} AND start_ns < {before:Int64} AND received_ns > {after:Int64} AND received_ns <= "
        "{until:Int64} AND (" +
        judged + ")";
    if (rule.sample_percent < 100) sql += " AND cityHash64(trace_id) % 100 < " + std::to_string(rule.sample_percent);
    return sql;
}

void bind_times(telemetry::ClickHouseQuery& query, const std::string& project, Time after, Time until,
                const StartRange& started) {
    query.bind("project", project)
        .bind("after", to_ns(after))
        .bind("until", to_ns(until))
        .bind("began", started.from_ns)
        .bind("before", started.to_ns);
    query.project = project;
}

void limit_read(telemetry::ClickHouseQuery& query) {
    query.set("max_memory_usage", "1000000000").set("output_format_json_quote_64bit_integers", "0");
    query.deadline = std::chrono::seconds(60);
    query.most_bytes = 64 << 20;
}

Result<json::Array> rows_of(telemetry::ClickHouse& engine, const telemetry::ClickHouseQuery& query) {
    json::Value answer = TRY(json::parse(TRY(engine.query(query))));
    json::Value* data = answer.is_object() ? answer.get_object().if_contains("data") : nullptr;
    if (data == nullptr || !data->is_array()) return internal("the engine's result has no rows");
    return std::move(data->get_array());
}

// The range in slices of whole hours, oldest first; the engine evaluates each in one query.
Result<std::vector<StartRange>> slices_of(telemetry::ClickHouse& engine, const std::string& project,
                                          const StartRange& range) {
    constexpr int64_t most_spans = 2'000'000, hour_ns = 3'600'000'000'000;
    telemetry::ClickHouseQuery query("SELECT intDiv(start_ns, 3600000000000) AS hour, count() FROM hone.spans WHERE "
                                     "project = {project:String} AND start_ns >= {began:Int64} GROUP BY hour ORDER BY "
                                     "hour FORMAT JSONCompact");
    query.bind("project", project).bind("began", range.from_ns);
    query.project = project;
    limit_read(query);
    std::vector<StartRange> slices{range};
    int64_t spans = 0;
    for (const json::Value& row : TRY(rows_of(engine, query))) {
        const int64_t begin = ResultRow(row).integer(0) * hour_ns, count = ResultRow(row).integer(1);
        if (spans > 0 && spans + count > most_spans) {
            slices.back().to_ns = begin;
            slices.push_back({begin, range.to_ns});
            spans = 0;
        }
        spans += count;
    }
    return slices;
}

// Whether spans that match pass and the others fail, or the reverse: by their scores, without scores by labels named
// pass and fail. Nothing: both are the same, or neither is known.
std::optional<bool> match_passes(const Evaluator& rule) {
    if (rule.other_label.empty()) return std::nullopt;
    if (rule.score && rule.other_score) {
        for (const double score : {*rule.score, *rule.other_score})
            if (score < 0 || score > 1) return std::nullopt;
        const bool passes = *rule.score >= 0.5;
        return passes == (*rule.other_score >= 0.5) ? std::nullopt : std::optional(passes);
    }
    if (rule.score || rule.other_score) return std::nullopt;
    if (rule.label == "pass" || rule.other_label == "fail") return true;
    if (rule.label == "fail" || rule.other_label == "pass") return false;
    return std::nullopt;
}

std::optional<evaluate::PassRate> rate_of_rule(const Evaluator& rule) {
    const auto passes = match_passes(rule);
    const int64_t count = rule.judged - rule.judged_before, matched = rule.matched - rule.matched_before;
    if (!passes || count <= 0) return std::nullopt;
    return evaluate::pass_rate_of(rule.revision, *passes ? matched : count - matched, count);
}

telemetry::SelectedEvals evals_of(const Evaluator& rule, Time until, const StartRange& started) {
    telemetry::SelectedEvals wanted;
    wanted.spans.sql = query_of(rule, wanted.spans);
    bind_times(wanted.spans, rule.project_id->text(), rule.judged_up_to - late, until, started);
    wanted.after_ns = to_ns(rule.judged_up_to - late);
    telemetry::Eval& eval = wanted.match;
    eval.project = rule.project_id->text();
    eval.name = rule.name;
    eval.annotator = eval.identifier = rule.id.text();
    eval.kind = telemetry::EvalKind::code;
    eval.label = rule.label;
    eval.score = rule.score;
    eval.metadata = json::print(json::Object{{"evaluator", rule.id.text()}, {"revision", rule.revision}});
    if (!rule.other_label.empty()) wanted.other.emplace(rule.other_label, rule.other_score);
    return wanted;
}

} // namespace

Result<Page<Evaluator>> Evaluators::list(const Caller& caller, const SpaceId& space,
                                         const std::optional<std::string>& project, const PageRequest& page) const {
    auto list = TRY(access::ProjectList::create(m_access.projects, caller, space, project, Permission::project_read,
                                                select_evaluator, {}, {}, access::WithoutProject::shown));
    std::vector<Evaluator> all;
    for (const auto& row : TRY(list.oldest_first(m_database, page))) all.push_back(evaluator_of(row));
    TRY(add_pass_rates(caller, space, all));
    return access::make_page(std::move(all), page, [](const Evaluator& one) { return one.id.text(); });
}

Result<> Evaluators::add_pass_rates(const Caller& caller, const SpaceId& space, std::span<Evaluator> evaluators) const {
    constexpr Duration window = std::chrono::hours(24);
    std::vector<EvaluatorId> with_tasks;
    for (const Evaluator& one : evaluators)
        if (one.kind != EvaluatorKind::rule) with_tasks.push_back(one.id);
    const auto seen = access::Projects::seen_by(caller, space, "t.project_id");
    const auto rates = TRY(evaluate::pass_rates(m_database, with_tasks, seen, m_clock.now() - window));
    for (Evaluator& one : evaluators) {
        const auto found = rates.find(one.id.text());
        if (one.kind == EvaluatorKind::rule)
            one.pass_rate = rate_of_rule(one);
        else if (found != rates.end())
            one.pass_rate = found->second;
    }
    return {};
}

Result<Evaluator> Evaluators::find(const Caller& caller, const EvaluatorId& id, Permission permission) const {
    if (caller.is_guest()) return unauthorized("log in, or send an API key as `Authorization: Bearer …`");
    const auto rows = TRY(m_database.query(select_evaluator + " WHERE id = ?", id));
    if (rows.empty()) return not_found("evaluator " + id.text());
    Evaluator found = evaluator_of(rows.front());
    if (found.project_id) {
        TRY(access::require_in_project(m_access.projects, caller, found.space_id, *found.project_id, permission,
                                       "evaluator " + id.text()));
        return found;
    }
    const auto allowed = caller.require(permission, found.space_id);
    if (!allowed.ok())
        return allowed.error().code == Code::not_found ? not_found("evaluator " + id.text()) : allowed.error();
    // A key that is bound to one project sees nothing beside it.
    if (!caller.bound_project.empty()) return not_found("evaluator " + id.text());
    EvaluatorVersion newest = TRY(m_versions.find(id, found.revision));
    found.code = std::move(newest.code);
    found.llm = std::move(newest.llm);
    found.agent = std::move(newest.agent);
    found.remote = std::move(newest.remote);
    return found;
}

Result<Evaluator> Evaluators::create(const Caller& caller, const SpaceId& space, const NewEvaluator& wanted,
                                     const std::optional<IssueId>& issue) {
    if (*wanted.kind != EvaluatorKind::rule) return create_in_space(caller, space, wanted);
    if (wanted.code || wanted.llm || wanted.agent || wanted.remote)
        return invalid("code, llm, agent and remote belong to evaluators of these kinds: set kind");
    if (wanted.project.value.empty()) return invalid("project is missing: a rule evaluates the spans of a project");
    const auto project = TRY(m_access.projects.find(caller, space, *wanted.project, Permission::eval_write));
    Evaluator made;
    made.id = make_id<EvaluatorTag>(m_clock);
    made.space_id = project.space_id;
    made.project_id = project.id;
    made.name = TRY(access::checked_name("name", wanted.name));
    made.description = TRY(access::checked_description(*wanted.description));
    made.filter = *wanted.filter;
    made.condition = *wanted.condition;
    made.label = *wanted.label;
    made.score = wanted.score;
    made.other_label = *wanted.other_label;
    made.other_score = wanted.other_score;
    made.sample_percent = *wanted.sample_percent;
    TRY(check_rule(made));
    const Time now = m_clock.now();
    made.judged_up_to = TRY(backfill_from(now, *wanted.backfill_hours, 0));
    made.created_by = caller.name;
    made.updated_at = now;
    TRY(m_database.write([&](sql::Transaction& transaction) -> Result<> {
        const auto there = TRY(transaction.query(
            "SELECT COUNT(*), COALESCE(SUM(CASE WHEN name = ? THEN 1 ELSE 0 END), 0) FROM evaluators WHERE project_id "
            "= ?",
            made.name, *made.project_id));
        if (there.front().integer(1) > 0)
            return conflict("an evaluator named " + made.name + " exists already in this project");
        if (there.front().integer(0) >= most_per_project)
            return conflict(fmt::format("a project has at most {} evaluators", most_per_project));
        TRY(transaction.execute(
            "INSERT INTO evaluators (id, space_id, project_id, kind, name, description, filter, condition, label, "
            "score, other_label, other_score, sample_percent, enabled, issue_id, revision, judged_up_to, next_at, "
            "judged, matched, problem, created_by, created_by_name, created_at, updated_at) VALUES (?, ?, ?, 'rule', "
            "?, ?, ?, ?, ?, ?, ?, ?, ?, 1, ?, 1, ?, ?, 0, 0, '', ?, ?, ?, ?)",
            made.id, made.space_id, made.project_id, made.name, made.description, made.filter, made.condition,
            made.label, made.score, made.other_label, made.other_score, made.sample_percent, issue, made.judged_up_to,
            now, caller.actor(), caller.name, now, now));
        TRY(evaluate::EvaluatorVersions::add(transaction, version_of(made)));
        return m_access.audit.record(transaction, caller,
                                     {"evaluator_create", made.space_id, made.id.text(), {{"name", made.name}}});
    }));
    return find(Caller::system(), made.id);
}

Result<Evaluator> Evaluators::update(const Caller& caller, const EvaluatorId& id, const EvaluatorChange& change) {
    Evaluator rule = TRY(find(caller, id, Permission::eval_write));
    if (rule.kind != EvaluatorKind::rule) return update_in_space(caller, std::move(rule), change);
    if (change.code || change.llm || change.agent || change.remote)
        return invalid("code, llm, agent and remote belong to evaluators of these kinds; this one is a rule");
    const EvaluatorVersion before = version_of(rule);
    const bool was_enabled = rule.enabled;
    if (change.description) rule.description = TRY(access::checked_description(*change.description));
    if (change.filter) rule.filter = *change.filter;
    if (change.condition) rule.condition = *change.condition;
    if (change.label) rule.label = *change.label;
    if (change.score) rule.score = *change.score;
    if (change.other_label) rule.other_label = *change.other_label;
    if (change.other_score) rule.other_score = *change.other_score;
    if (change.sample_percent) rule.sample_percent = *change.sample_percent;
    if (change.enabled) rule.enabled = *change.enabled;
    TRY(check_rule(rule));
    const Time now = m_clock.now();
    if (rule.enabled && !was_enabled) rule.judged_up_to = now;
    if (change.backfill_hours) rule.judged_up_to = TRY(backfill_from(now, *change.backfill_hours, 1));
    rule.revision += 1;
    rule.created_by = caller.name;
    rule.updated_at = now;
    const bool is_redefined = version_of(rule).content_hash != before.content_hash;
    TRY(m_database.write([&](sql::Transaction& transaction) -> Result<> {
        TRY(transaction.execute(
            "UPDATE evaluators SET description = ?, filter = ?, condition = ?, label = ?, score = ?, other_label = ?, "
            "other_score = ?, sample_percent = ?, enabled = ?, judged_up_to = ?, next_at = ?, problem = '', revision = "
            "?, updated_at = ? WHERE id = ?",
            rule.description, rule.filter, rule.condition, rule.label, rule.score, rule.other_label, rule.other_score,
            rule.sample_percent, rule.enabled, rule.judged_up_to, now, rule.revision, now, id));
        if (is_redefined)
            TRY(transaction.execute(
                "UPDATE evaluators SET judged_before = judged, matched_before = matched WHERE id = ?", id));
        TRY(evaluate::EvaluatorVersions::add(transaction, before)); // of a rule from before versions were stored
        TRY(evaluate::EvaluatorVersions::add(transaction, version_of(rule)));
        return m_access.audit.record(
            transaction, caller,
            {"evaluator_update", rule.space_id, id.text(), {{"name", rule.name}, {"enabled", rule.enabled}}});
    }));
    return find(Caller::system(), id);
}

Result<> Evaluators::remove(const Caller& caller, const EvaluatorId& id) {
    const Evaluator rule = TRY(find(caller, id, Permission::eval_write));
    return m_database.write([&](sql::Transaction& transaction) -> Result<> {
        TRY(transaction.execute("DELETE FROM evaluators WHERE id = ?", id));
        TRY(transaction.execute("UPDATE issues SET evaluator_id = NULL WHERE evaluator_id = ?", id));
        return m_access.audit.record(transaction, caller,
                                     {"evaluator_delete", rule.space_id, id.text(), {{"name", rule.name}}});
    });
}

Result<EvaluatorPreview> Evaluators::preview(const Caller& caller, const SpaceId& space,
                                             const NewEvaluator& wanted) const {
    const auto project = TRY(m_access.projects.find(caller, space, *wanted.project, Permission::project_read));
    Evaluator rule;
    rule.filter = *wanted.filter;
    rule.condition = *wanted.condition;
    rule.label = *wanted.label;
    rule.sample_percent = *wanted.sample_percent;
    TRY(check_rule(rule));
    if (m_telemetry == nullptr) return unavailable("this server stores no spans");
    TRY(m_telemetry->store());
    EvaluatorPreview preview;
    const Time now = m_clock.now();
    telemetry::ClickHouseQuery query("");
    query.sql = "SELECT count(), countIf(is_match) FROM (" + query_of(rule, query) + ") FORMAT JSONCompact";
    const Time after = now - std::chrono::hours(preview.hours);
    bind_times(query, project.id.text(), after, now, started_since(after));
    limit_read(query);
    for (const json::Value& row : TRY(rows_of(m_telemetry->engine(), query))) {
        preview.spans = ResultRow(row).integer(0);
        preview.matched = ResultRow(row).integer(1);
    }
    return preview;
}

// The embedded engine's ledger counts every span: without new ones the engine may sleep.
bool Evaluators::holds_nothing_new(const Evaluator& rule) {
    if (m_telemetry->engine_process() == nullptr) return false;
    const std::pair now(m_telemetry->ledger()[rule.project_id->text()].stored, rule.revision);
    const Lock lock(m_mutex);
    const auto [known, is_first] = m_seen.try_emplace(rule.id.text(), now);
    return !is_first && std::exchange(known->second, now) == now;
}

Result<int64_t> Evaluators::apply(const Evaluator& rule) {
    // No other server takes the rule meanwhile; one that has died is followed after this time.
    constexpr Duration most_per_slice = std::chrono::minutes(4);
    TRY(m_telemetry->store()); // the tables are there
    telemetry::ClickHouse& engine = m_telemetry->engine();
    telemetry::Evals evals(engine, m_clock);
    const Time until = m_clock.now();
    const std::string project = rule.project_id->text();
    int64_t written = 0;
    for (const StartRange& slice : TRY(slices_of(engine, project, started_since(rule.judged_up_to - late)))) {
        const auto held = TRY(m_database.execute("UPDATE evaluators SET next_at = ? WHERE id = ? AND revision = ? AND "
                                                 "enabled = 1",
                                                 m_clock.now() + most_per_slice, rule.id, rule.revision));
        if (held == 0) return written; // changed or removed: what it is now is applied next
        const auto count = TRY(evals.write_selected(evals_of(rule, until, slice)));
        written += count.written;
        if (count.written > 0)
            // Evals of a version that was changed meanwhile are not those of the next one.
            TRY(m_database.execute(
                "UPDATE evaluators SET judged = judged + ?, matched = matched + ?, judged_before = judged_before + "
                "CASE WHEN revision = ? THEN 0 ELSE ? END, matched_before = matched_before + CASE WHEN revision = ? "
                "THEN 0 ELSE ? END WHERE id = ?",
                count.written, count.matched, rule.revision, count.written, rule.revision, count.matched, rule.id));
    }
    TRY(m_database.execute("UPDATE evaluators SET judged_up_to = ?, last_at = ?, next_at = ?, problem = '' WHERE id = "
                           "? AND revision = ?",
                           until, until, until + cadence, rule.id, rule.revision));
    return written;
}

Result<int64_t> Evaluators::step() {
    if (m_telemetry == nullptr) return int64_t{0};
    const Time now = m_clock.now();
    const auto due = TRY(
        m_database.query("SELECT " + sql::names(evaluator_columns) +
                             ", next_at FROM evaluators WHERE enabled = 1 AND kind = 'rule' AND next_at <= ? ORDER BY "
                             "next_at, id LIMIT 1000",
                         now));
    int64_t written = 0;
    for (const auto& row : due) {
        const Evaluator rule = evaluator_of(row);
        const auto claimed =
            TRY(m_database.execute("UPDATE evaluators SET next_at = ? WHERE id = ? AND next_at = ? AND enabled = 1",
                                   now + cadence, rule.id, row.integer(row.size() - 1)));
        if (claimed == 0 || holds_nothing_new(rule)) continue;
        const auto judged = apply(rule);
        if (judged.ok()) {
            written += judged.value();
            continue;
        }
        {
            const Lock lock(m_mutex);
            m_seen.erase(rule.id.text()); // it is retried
        }
        log(Level::warning, "evaluator failed", {{"evaluator", rule.id.text()}, {"why", judged.error().message}});
        TRY(m_database.execute("UPDATE evaluators SET problem = ?, next_at = ? WHERE id = ? AND revision = ?",
                               std::string(truncate_utf8(judged.error().message, 500)), now + cadence, rule.id,
                               rule.revision));
    }
    return written;
}

Result<std::optional<Time>> Evaluators::next_due() const {
    if (m_telemetry == nullptr) return std::optional<Time>();
    const auto next = TRY(m_database.query("SELECT MIN(next_at) FROM evaluators WHERE enabled = 1 AND kind = 'rule'"));
    return next.front().optional_time(0);
}

namespace {

// `name = "…"` of the filter's top level: the spans among which the issue's are.
std::optional<std::string> name_in(const telemetry::FilterNode& node) {
    using Kind = telemetry::FilterNode::Kind;
    if (node.kind == Kind::comparison) {
        const bool is_name = node.operand.source == telemetry::FilterOperand::Source::field &&
                             node.operand.name == "name" && node.comparison == telemetry::FilterOperator::equal &&
                             node.values.size() == 1;
        return is_name ? std::optional(node.values.front()) : std::nullopt;
    }
    if (node.kind != Kind::all) return std::nullopt;
    for (const auto& child : node.children)
        if (const auto found = name_in(child)) return found;
    return std::nullopt;
}

} // namespace

Result<NewEvaluator> evaluator_for(const Issue& issue) {
    if (trim(issue.filter).empty()) return conflict("the issue has no filter that an evaluator could use");
    if (lists_spans(issue)) return conflict("the issue lists its spans by id: an evaluator could not find new ones");
    const auto filter = telemetry::parse_filter(issue.filter);
    if (!filter.ok()) return conflict("its filter is not understood: " + filter.error().message);
    NewEvaluator wanted;
    wanted.name = std::string(name_of(issue.detector)) + " " +
                  lowercase_ascii(issue.id.text().substr(issue.id.text().size() - 6));
    wanted.description = "Made from the issue " + issue.id.text() + ": " + issue.title;
    wanted.project = issue.project_id.text();
    wanted.condition = issue.filter;
    wanted.label = std::string("fail");
    wanted.score = 0;
    // Where the issue is about spans of one name, the others of that name are fine.
    if (const auto name = name_in(filter.value())) {
        wanted.filter = "name = " + quote_filter(*name);
        wanted.other_label = std::string("pass");
        wanted.other_score = 1;
    }
    wanted.backfill_hours = int64_t{24};
    return wanted;
}

} // namespace hone::signal
