#include "evaluate/calibration/calibrations.h"

#include "access/project_list.h"
#include "base/text.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace hone::evaluate {

using access::Caller, access::Page, access::PageRequest, access::Permission, access::SpaceId;

namespace {

constexpr std::string_view calibration_fields =
    "c.id, c.space_id, c.evaluator_id, c.number, c.name, c.project_id, c.target, c.config, c.repetitions, c.is_canary, "
    "c.canary_of, c.state, c.reason, c.result, c.alarm, c.model, c.cost_limit_micro_usd, c.next_check_at, "
    "c.started_by_name, c.created_at, c.ended_at, c.failing_label, (SELECT COUNT(*) FROM calibration_items i WHERE "
    "i.calibration_id = c.id), (SELECT COUNT(*) FROM calibration_items i WHERE i.calibration_id = c.id AND (i.verdicts "
    "<> '[]' OR i.error <> ''))";

Result<Calibration> calibration_of(const sql::Row& row) {
    Calibration one;
    one.id = row.id<CalibrationTag>(0);
    one.space_id = row.id<access::SpaceTag>(1);
    one.evaluator_id = row.id<EvaluatorTag>(2);
    one.number = row.integer(3);
    one.name = row.text(4);
    one.project_id = row.id<access::ProjectTag>(5);
    one.target = parse_enum<telemetry::EvalTarget>(row.text(6)).value_or(telemetry::EvalTarget::trace);
    one.config = row.text(7);
    one.repetitions = row.integer(8);
    one.is_canary = row.integer(9) != 0;
    one.canary_of = row.optional_id<CalibrationTag>(10);
    one.state = parse_enum<CalibrationState>(row.text(11)).value_or(CalibrationState::failed);
    one.reason = row.text(12);
    if (row.text(13) != "{}") one.result = TRY(json::read<CalibrationResult>(row.text(13)));
    one.alarm = row.text(14);
    one.model = row.text(15);
    one.cost_limit_micro_usd = row.optional_integer(16);
    one.next_check_at = row.optional_time(17);
    one.started_by = row.text(18);
    one.created_at = row.time(19);
    one.ended_at = row.optional_time(20);
    one.failing_label = row.text(21);
    one.targets = row.integer(22);
    one.evaluated = row.integer(23);
    return one;
}

// The labels that people gave to one target.
struct HumanLabels {
    std::map<std::string, int64_t> counts;
    std::map<std::string, std::optional<double>> scores;
    std::vector<double> values; // of labels, for alpha
    int64_t newest_ns = 0;
};

// The most frequent label; nothing: two are equally frequent.
std::optional<std::string> majority_label(const HumanLabels& labels) {
    const std::string* best = nullptr;
    int64_t most = 0;
    bool tied = false;
    for (const auto& [label, count] : labels.counts) {
        tied = count == most || (tied && count < most);
        if (count <= most) continue;
        most = count;
        best = &label;
        tied = false;
    }
    return best == nullptr || tied ? std::nullopt : std::optional(*best);
}

std::string class_text(const telemetry::Eval& eval) {
    if (!eval.label.empty()) return eval.label;
    if (eval.score) return *eval.score >= 0.5 ? "pass" : "fail";
    return "";
}

} // namespace

Result<std::vector<CalibrationItem>> Calibrations::labelled(const Calibration& calibration,
                                                            const StartCalibration& wanted,
                                                            CalibrationResult& result) const {
    constexpr size_t most_evals_read = 20'000;
    TRY(m_spans->store());
    telemetry::ListEvals request;
    request.project = calibration.project_id.text();
    request.target = calibration.target;
    request.names = {calibration.config};
    request.limit = 1000;
    std::map<std::string, HumanLabels> by_target;
    std::map<std::string, double> numbers;
    for (size_t read = 0; read < most_evals_read;) {
        const auto page = TRY(m_spans->evals.list(request));
        for (const telemetry::Eval& eval : page.evals) {
            const std::string label = class_text(eval);
            if (eval.kind != telemetry::EvalKind::human || label.empty()) continue;
            HumanLabels& of = by_target[eval.target_id];
            ++of.counts[label];
            of.scores.emplace(label, eval.score);
            of.values.push_back(numbers.emplace(label, static_cast<double>(numbers.size())).first->second);
            of.newest_ns = std::max(of.newest_ns, eval.updated_ns);
        }
        read += page.evals.size();
        if (page.next_cursor.empty()) break;
        request.cursor = page.next_cursor;
    }
    std::vector<std::pair<int64_t, CalibrationItem>> found;
    std::vector<std::vector<double>> units;
    for (const auto& [target, labels] : by_target) {
        if (labels.values.size() > 1) units.push_back(labels.values);
        const auto label = majority_label(labels);
        if (!label) {
            ++result.disputed;
            continue;
        }
        CalibrationItem item;
        item.target_id = target;
        item.human = *label;
        item.human_score = labels.scores.at(*label);
        item.raters = static_cast<int64_t>(labels.values.size());
        item.is_held_out = is_held_out(target);
        found.emplace_back(labels.newest_ns, std::move(item));
    }
    result.human_alpha = krippendorff_alpha(units, AlphaLevel::nominal);
    std::ranges::sort(found, [](const auto& a, const auto& b) {
        return a.first != b.first ? a.first > b.first : a.second.target_id < b.second.target_id;
    });
    const size_t limit = static_cast<size_t>(*wanted.canary ? std::min(*wanted.limit, canary_targets) : *wanted.limit);
    if (found.size() > limit) found.resize(limit);
    std::vector<CalibrationItem> items;
    for (auto& [time, item] : found) items.push_back(std::move(item));
    if (items.empty())
        return not_found(fmt::format("a {} with a human eval named {}: label some first", name_of(calibration.target),
                                     truncate_utf8(calibration.config, 100)));
    std::vector<telemetry::PlaceName> names;
    for (const CalibrationItem& item : items)
        names.push_back({item.target_id, item.target_id, calibration.project_id.text()});
    const auto places = TRY(
        m_spans->places(Caller::system(), calibration.space_id, calibration.target, names, Permission::project_read));
    std::erase_if(items, [&](CalibrationItem& item) {
        const auto place = places.find(item.target_id);
        if (place == places.end()) return true; // the target is gone
        item.trace_id = calibration.target == telemetry::EvalTarget::trace ? item.target_id : place->second.trace_id;
        return false;
    });
    if (items.empty()) return not_found("a labelled target that is still stored");
    return items;
}

Result<CalibrationId> Calibrations::insert(const Calibration& calibration, const std::vector<CalibrationItem>& items,
                                           const Caller& caller) {
    const CalibrationId id = make_id<CalibrationTag>(m_clock);
    TRY(m_database.write([&](sql::Transaction& transaction) -> Result<> {
        TRY(transaction.execute(
            "INSERT INTO calibrations (id, space_id, evaluator_id, number, name, project_id, target, config, "
            "failing_label, repetitions, canary_of, is_canary, state, reason, result, alarm, cost_limit_micro_usd, "
            "lease_until, next_check_at, model, started_by_name, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
            "?, "
            "'queued', '', ?, '', ?, 0, ?, '', ?, ?)",
            id, calibration.space_id, calibration.evaluator_id, calibration.number, calibration.name,
            calibration.project_id, name_of(calibration.target), calibration.config, calibration.failing_label,
            calibration.repetitions, calibration.canary_of, calibration.is_canary ? 1 : 0,
            json::write(calibration.result), calibration.cost_limit_micro_usd, calibration.next_check_at,
            calibration.started_by, m_clock.now()));
        int64_t position = 0;
        for (const CalibrationItem& item : items)
            TRY(transaction.execute(
                "INSERT INTO calibration_items (calibration_id, position, target_id, trace_id, human, human_score, "
                "raters, is_held_out, verdicts, explanation, error, cost_nano_usd, duration_ms) VALUES (?, ?, ?, ?, ?, "
                "?, ?, ?, '[]', '', '', 0, 0)",
                id, position++, item.target_id, item.trace_id, item.human, item.human_score, item.raters,
                item.is_held_out ? 1 : 0));
        return m_access.audit.record(
            transaction, caller,
            {"calibration_start",
             calibration.space_id,
             id.text(),
             {{"evaluator", calibration.evaluator_id.text()}, {"version", calibration.number}}});
    }));
    return id;
}

Result<Calibration> Calibrations::start(const Caller& caller, const EvaluatorVersion& version,
                                        const StartCalibration& wanted) {
    const auto project = TRY(m_access.projects.find(caller, version.space_id, wanted.project, Permission::eval_write));
    if (!caller.run.empty()) return forbidden("a worker cannot start a calibration");
    if (version.kind == EvaluatorKind::rule)
        return invalid("evaluator " + version.name + " is a rule: it is exact, and not calibrated");
    if (version.is_pairwise())
        return invalid("evaluator " + version.name +
                       " compares two outputs: label its pairs with `hone experiment prefer`, and the comparison shows "
                       "its agreement with people");
    if (version.kind == EvaluatorKind::llm || version.kind == EvaluatorKind::agent)
        TRY(caller.require(Permission::run_start, version.space_id)); // it spends money
    if (*wanted.repetitions < 1 || *wanted.repetitions > 5) return invalid("repetitions must be between 1 and 5");
    if (*wanted.limit < 1 || *wanted.limit > 1000) return invalid("limit must be between 1 and 1000");
    if (wanted.cost_limit_micro_usd &&
        (*wanted.cost_limit_micro_usd < 1 || *wanted.cost_limit_micro_usd > 1'000'000'000'000))
        return invalid("cost_limit_micro_usd must be between 1 and 1000000000000");
    const std::string failing = wanted.failing_label.value_or("");
    for (const std::string* text : {&wanted.config, &failing})
        if (text->size() > 200 || !is_valid_utf8(*text) || text->find('\0') != std::string::npos)
            return invalid("config and failing_label are at most 200 bytes of text");
    if (wanted.config.empty()) return invalid("config is empty: name the human evals to compare with");
    if (m_spans == nullptr || !m_hooks.apply) return unavailable("this server cannot apply evaluators");
    Calibration made;
    made.space_id = version.space_id;
    made.evaluator_id = version.evaluator_id;
    made.number = version.number;
    made.name = version.name;
    made.project_id = project.id;
    made.target = *wanted.target;
    made.config = wanted.config;
    made.failing_label = failing;
    made.repetitions = *wanted.repetitions;
    made.is_canary = *wanted.canary;
    made.cost_limit_micro_usd = wanted.cost_limit_micro_usd;
    made.started_by = caller.name;
    if (made.is_canary) made.next_check_at = m_clock.now() + check_period;
    const auto items = TRY(labelled(made, wanted, made.result));
    return find(caller, TRY(insert(made, items, caller)));
}

Result<Page<Calibration>> Calibrations::list(const Caller& caller, const SpaceId& space, const EvaluatorId& evaluator,
                                             const PageRequest& page) const {
    auto wanted =
        TRY(access::ProjectList::create(m_access.projects, caller, space, std::nullopt, Permission::project_read,
                                        "SELECT " + std::string(calibration_fields) + " FROM calibrations c", "c."));
    wanted.where("c.evaluator_id = ?", evaluator);
    std::vector<Calibration> found;
    for (const auto& row : TRY(wanted.newest_first(m_database, page))) found.push_back(TRY(calibration_of(row)));
    return access::make_page(std::move(found), page, [](const Calibration& one) { return one.id.text(); });
}

Result<Calibration> Calibrations::find(const Caller& caller, const CalibrationId& id, Permission permission) const {
    const auto rows =
        TRY(m_database.query("SELECT " + std::string(calibration_fields) + " FROM calibrations c WHERE c.id = ?", id));
    if (rows.empty()) return not_found("calibration " + id.text());
    Calibration found = TRY(calibration_of(rows.front()));
    TRY(access::require_in_project(m_access.projects, caller, found.space_id, found.project_id, permission,
                                   "calibration " + id.text()));
    return found;
}

Result<std::vector<CalibrationItem>> Calibrations::read_items(const CalibrationId& id) const {
    std::vector<CalibrationItem> items;
    for (const auto& row : TRY(m_database.query(
             "SELECT target_id, trace_id, human, human_score, raters, is_held_out, verdicts, explanation, error, "
             "cost_nano_usd, duration_ms FROM calibration_items WHERE calibration_id = ? ORDER BY position",
             id))) {
        CalibrationItem item;
        item.target_id = row.text(0);
        item.trace_id = row.text(1);
        item.human = row.text(2);
        item.human_score = row.optional_real(3);
        item.raters = row.integer(4);
        item.is_held_out = row.integer(5) != 0;
        item.verdicts = TRY(json::read<std::vector<std::optional<CalibrationVerdict>>>(row.text(6)));
        item.explanation = row.text(7);
        item.error = row.text(8);
        item.cost_nano_usd = row.integer(9);
        item.duration_ms = row.integer(10);
        items.push_back(std::move(item));
    }
    return items;
}

Result<std::vector<CalibrationItem>> Calibrations::items(const Caller& caller, const CalibrationId& id) const {
    const Calibration of = TRY(find(caller, id));
    std::vector<CalibrationItem> items = TRY(read_items(id));
    static_cast<void>(calibration_result(items, of.failing_label)); // fills in who agrees
    std::ranges::stable_sort(items, {}, &CalibrationItem::agrees);
    return items;
}

Result<> Calibrations::remove(const Caller& caller, const CalibrationId& id) {
    const Calibration of = TRY(find(caller, id, Permission::eval_write));
    return m_database.write([&](sql::Transaction& transaction) -> Result<> {
        TRY(transaction.execute("DELETE FROM calibrations WHERE id = ?", id));
        return m_access.audit.record(transaction, caller, {"calibration_delete", of.space_id, id.text(), {}});
    });
}

Result<CorrectedRateView> Calibrations::corrected_rate(const Caller& caller, const SpaceId& space,
                                                       const EvaluatorId& evaluator, const std::string& project,
                                                       Time from) const {
    constexpr size_t most_counted = 10'000;
    const auto where = TRY(m_access.projects.find(caller, space, project, Permission::project_read));
    const auto rows = TRY(m_database.query("SELECT " + std::string(calibration_fields) +
                                               " FROM calibrations c WHERE c.evaluator_id = ? AND c.project_id = ? AND "
                                               "c.state = 'done' AND c.canary_of IS "
                                               "NULL ORDER BY c.number DESC, c.id DESC LIMIT 1",
                                           evaluator, where.id));
    if (rows.empty()) return not_found("a calibration of this evaluator in the project");
    const Calibration by = TRY(calibration_of(rows.front()));
    if (m_spans == nullptr) return unavailable("this server stores no spans");
    TRY(m_spans->store());
    telemetry::ListEvals request;
    request.project = where.id.text();
    request.target = by.target;
    request.names = {by.name};
    request.limit = 1000;
    WeighedPasses passes;
    for (size_t read = 0; read < most_counted;) {
        const auto page = TRY(m_spans->evals.list(request));
        for (const telemetry::Eval& eval : page.evals) {
            if (eval.kind == telemetry::EvalKind::human || !eval.score || eval.created_ns < to_ns(from)) continue;
            // Another version may agree with people more or less often. 0: sent by a client.
            if (eval.evaluator_version != 0 && eval.evaluator_version != by.number) continue;
            passes.add(*eval.score >= 0.5, eval.inclusion);
        }
        read += page.evals.size();
        if (page.next_cursor.empty()) break;
        request.cursor = page.next_cursor;
    }
    if (passes.count() == 0) return not_found("an eval of the calibrated version with a score in this time");
    const LabelledCounts labels{by.result.both_pass, by.result.only_evaluator_passes, by.result.only_people_pass,
                                by.result.both_fail};
    CorrectedRateView view;
    view.calibration_id = by.id.text();
    view.evals = passes.count();
    view.rate = passes.rate();
    view.labels = labels.count();
    const auto corrected = evaluate::corrected_rate(view.rate, passes.effective_count(), labels, true);
    if (!corrected) return not_found("a label of people that the calibration could use");
    view.corrected = std::clamp(corrected->rate, 0.0, 1.0);
    view.low = corrected->interval.low;
    view.high = corrected->interval.high;
    view.people_rate = static_cast<double>(labels.both + labels.only_people) / static_cast<double>(labels.count());
    return view;
}

} // namespace hone::evaluate
