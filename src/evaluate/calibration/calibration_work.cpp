// What the server does for calibrations: verdicts target by target, the numbers at the end, weekly checks.
#include "base/log.h"
#include "base/text.h"
#include "evaluate/calibration/calibrations.h"

#include <fmt/format.h>

namespace hone::evaluate {

using access::Caller;

namespace {

constexpr int64_t targets_at_once = 10;

} // namespace

Result<> Calibrations::end_leases() {
    TRY(m_database.execute(
        "UPDATE calibrations SET lease_until = 0, server = '' WHERE state = 'running' AND lease_until > 0"));
    return {};
}

Result<Duration> Calibrations::step(const std::string& server) {
    TRY(make_checks());
    const Time now = m_clock.now();
    const auto due = TRY(m_database.query("SELECT id FROM calibrations WHERE state IN ('queued', 'running') AND "
                                          "lease_until < ? ORDER BY created_at, id LIMIT 20",
                                          now));
    for (const auto& row : due) {
        // The server that changes the lease first has it.
        const auto claimed = TRY(m_database.execute(
            "UPDATE calibrations SET state = 'running', server = ?, lease_until = ? WHERE id = ? AND "
            "state IN ('queued', 'running') AND lease_until < ?",
            server, now + lease, row.text(0), now));
        if (claimed == 0) continue;
        Calibration one = TRY(find(Caller::system(), CalibrationId(row.text(0))));
        const auto more = evaluate_some(one, server);
        if (!more.ok() && (more.error().code == Code::busy || more.error().code == Code::unavailable)) {
            log(Level::warning, "a calibration waits", {{"id", one.id.text()}, {"why", more.error().message}});
            TRY(release(one, server, m_clock.now() + std::chrono::seconds(15)));
            return Duration::zero();
        }
        if (!more.ok()) {
            TRY(fail(one, server, more.error().message));
            return Duration::zero();
        }
        switch (more.value()) {
        case Progress::more:
            TRY(release(one, server, Time{}));
            break;
        case Progress::complete:
            TRY(finish(one, server));
            break;
        case Progress::taken_over:
            log(Level::warning, "another server works on a calibration: this one had stopped for longer than its lease",
                {{"id", one.id.text()}});
        }
        return Duration::zero();
    }
    return Duration(std::chrono::seconds(5));
}

Result<> Calibrations::release(const Calibration& calibration, const std::string& server, Time until) {
    TRY(m_database.execute("UPDATE calibrations SET lease_until = ?, server = '' WHERE id = ? AND server = ?", until,
                           calibration.id, server));
    return {};
}

Result<> Calibrations::fail(const Calibration& calibration, const std::string& server, const std::string& why) {
    TRY(m_database.execute(
        "UPDATE calibrations SET state = 'failed', reason = ?, ended_at = ?, server = '' WHERE id = ? "
        "AND state = 'running' AND server = ?",
        std::string(truncate_utf8(why, 1000)), m_clock.now(), calibration.id, server));
    return {};
}

Result<Calibrations::Progress> Calibrations::evaluate_some(Calibration& calibration, const std::string& server) {
    if (!m_hooks.document || !m_hooks.apply) return unavailable("this server cannot apply evaluators");
    const auto version = m_versions.find(calibration.evaluator_id, calibration.number);
    if (!version.ok() && version.error().code == Code::not_found) return invalid("the evaluator was deleted");
    if (!version.ok()) return version.error();
    struct Pending {
        int64_t position = 0;
        CalibrationItem item{};
        json::Value document = nullptr;
    };
    std::vector<Pending> pending;
    for (const auto& row : TRY(m_database.query(
             "SELECT position, target_id, trace_id FROM calibration_items WHERE calibration_id = ? AND verdicts = '[]' "
             "AND error = '' ORDER BY position LIMIT ?",
             calibration.id, targets_at_once))) {
        Pending one;
        one.position = row.integer(0);
        one.item.target_id = row.text(1);
        one.item.trace_id = row.text(2);
        pending.push_back(std::move(one));
    }
    if (pending.empty()) return Progress::complete;
    std::vector<json::Value> documents;
    std::vector<Pending*> readable;
    for (Pending& one : pending) {
        auto document =
            m_hooks.document(calibration.project_id.text(), calibration.target, one.item.target_id, one.item.trace_id);
        if (!document.ok() && (document.error().code == Code::busy || document.error().code == Code::unavailable))
            return document.error();
        if (!document.ok()) {
            one.item.error = truncate_utf8(document.error().message, 500);
            continue;
        }
        documents.push_back(std::move(document).value());
        readable.push_back(&one);
    }
    for (int64_t repetition = 1; repetition <= calibration.repetitions && !documents.empty(); ++repetition) {
        const auto applied = m_hooks.apply(version.value(), documents, repetition, calibration);
        for (size_t i = 0; i < readable.size(); ++i) {
            const AppliedVerdict verdict = i < applied.size() ? applied[i] : AppliedVerdict{};
            if (verdict.is_stopped) return unavailable("the server stops");
            if (verdict.is_out_of_budget) return invalid("the limit of the cost is used up: " + verdict.error);
            CalibrationItem& item = readable[i]->item;
            item.verdicts.push_back(verdict.verdict);
            if (item.explanation.empty()) item.explanation = truncate_utf8(verdict.explanation, 4000);
            if (item.error.empty()) item.error = truncate_utf8(verdict.error, 500);
            item.cost_nano_usd += verdict.cost_nano_usd;
            item.duration_ms += verdict.duration_ms;
            if (!verdict.model.empty()) calibration.model = verdict.model;
        }
    }
    return m_database.write([&](sql::Transaction& transaction) -> Result<Progress> {
        // Verdicts of a server that was frozen do not replace those of the one that took over.
        const auto held =
            TRY(transaction.execute("UPDATE calibrations SET model = ? WHERE id = ? AND state = 'running' "
                                    "AND server = ?",
                                    calibration.model, calibration.id, server));
        if (held == 0) return Progress::taken_over;
        for (const Pending& one : pending)
            TRY(transaction.execute("UPDATE calibration_items SET verdicts = ?, explanation = ?, error = ?, "
                                    "cost_nano_usd = ?, duration_ms = ? "
                                    "WHERE calibration_id = ? AND position = ?",
                                    json::write(one.item.verdicts), one.item.explanation, one.item.error,
                                    one.item.cost_nano_usd, one.item.duration_ms, calibration.id, one.position));
        return Progress::more;
    });
}

Result<> Calibrations::finish(Calibration& calibration, const std::string& server) {
    std::vector<CalibrationItem> items = TRY(read_items(calibration.id));
    CalibrationResult result = calibration_result(items, calibration.failing_label);
    result.disputed = calibration.result.disputed;
    result.human_alpha = calibration.result.human_alpha;
    complete(result);
    if (result.all.count == 0 && !items.empty()) {
        const std::string why = items.front().error.empty()
                                    ? "labels and verdicts cannot be compared: they are different, "
                                      "and have no scores"
                                    : items.front().error;
        return fail(calibration, server, "no target has a verdict: " + why);
    }
    std::string alarm;
    if (calibration.canary_of) {
        const auto first = find(Caller::system(), *calibration.canary_of);
        if (first.ok()) alarm = drift_of(TRY(read_items(first.value().id)), items, first.value().result, result);
    }
    // A name that the responses of this check were the first to give.
    if (calibration.canary_of && m_hooks.model_changed) {
        const auto change = TRY(m_replied.newest_change(calibration.evaluator_id, calibration.number));
        if (change && change->at >= calibration.created_at)
            TRY(m_hooks.model_changed({calibration, change->before, change->after}));
    }
    // The notice first: it has the check as its key, so a repetition after a crash sends no second one.
    if (!alarm.empty() && m_hooks.alarm) TRY(m_hooks.alarm({calibration, alarm}));
    TRY(m_database.execute(
        "UPDATE calibrations SET state = 'done', result = ?, alarm = ?, ended_at = ?, server = '' WHERE "
        "id = ? AND state = 'running' AND server = ?",
        json::write(result), alarm, m_clock.now(), calibration.id, server));
    return {};
}

Result<int64_t> Calibrations::make_checks() {
    const Time now = m_clock.now();
    int64_t made = 0;
    // Due, or the newest version of the evaluator is another one than that of its last check, or a response named
    // another model after its last check.
    for (const auto& row : TRY(m_database.query(
             "SELECT c.id, c.next_check_at, (SELECT MAX(v.number) FROM evaluator_versions v WHERE v.evaluator_id = "
             "c.evaluator_id), (SELECT MAX(k.number) FROM calibrations k WHERE k.id = c.id OR k.canary_of = c.id), "
             "(SELECT MAX(COALESCE(k.ended_at, k.created_at)) FROM calibrations k WHERE k.id = c.id OR k.canary_of = "
             "c.id), (SELECT COUNT(*) FROM calibrations k WHERE k.canary_of = c.id AND k.state IN ('queued', "
             "'running')), c.evaluator_id FROM calibrations c WHERE c.is_canary = 1 AND c.canary_of IS NULL AND "
             "c.state = 'done' ORDER BY c.id LIMIT "
             "500"))) {
        const auto newest = row.optional_integer(2);
        if (!newest) continue; // the evaluator was deleted
        const auto due = row.optional_time(1);
        const bool is_newer = *newest > row.optional_integer(3).value_or(0);
        std::optional<RepliedModels::Change> change;
        if (!is_newer && row.integer(5) == 0) // a check that is not done yet uses the newest model
            change = TRY(m_replied.newest_change(row.id<EvaluatorTag>(6), *newest));
        if (change && change->at <= row.time(4)) change.reset();
        if (!is_newer && !change && (!due || *due > now)) continue;
        // The server that moves the time on makes the check.
        const auto claimed =
            TRY(m_database.execute("UPDATE calibrations SET next_check_at = ? WHERE id = ? AND next_check_at = ?",
                                   now + check_period, row.text(0), due.value_or(Time{})));
        if (claimed == 0) continue;
        Calibration check = TRY(find(Caller::system(), CalibrationId(row.text(0))));
        const auto items = TRY(read_items(check.id));
        check.canary_of = check.id;
        check.is_canary = false;
        check.number = *newest;
        check.repetitions = 1;
        check.next_check_at.reset();
        check.started_by = change ? "change of the model" : "weekly check";
        check.result = CalibrationResult{};
        TRY(insert(check, items, Caller::system()));
        if (change && m_hooks.model_changed) TRY(m_hooks.model_changed({check, change->before, change->after}));
        ++made;
    }
    return made;
}

} // namespace hone::evaluate
