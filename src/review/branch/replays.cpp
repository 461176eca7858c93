#include "review/branch/replays.h"

#include <fmt/format.h>

namespace hone::review {

namespace {

constexpr std::string_view replay_columns =
    "artifact_id, revision, attempt, state, reason, outcome, settings, result, dataset_id, base_experiment_id, "
    "branch_experiment_id, started_by_name, created_at, started_at, ended_at";

Result<BranchReplay> replay_of(const sql::Row& row) {
    BranchReplay replay;
    replay.artifact_id = row.id<ArtifactTag>(0);
    replay.revision = row.integer(1);
    replay.attempt = row.integer(2);
    replay.state = parse_enum<ReplayState>(row.text(3)).value_or(ReplayState::failed);
    replay.reason = row.text(4);
    replay.outcome = parse_enum<ReplayOutcome>(row.text(5)).value_or(ReplayOutcome::none);
    replay.settings = TRY(json::read<ReplaySettings>(row.text(6)));
    if (row.text(7) != "{}") replay.result = TRY(json::read<ReplayResult>(row.text(7)));
    replay.dataset_id = row.text(8);
    replay.base_experiment_id = row.text(9);
    replay.branch_experiment_id = row.text(10);
    replay.started_by = row.text(11);
    replay.created_at = row.time(12);
    replay.started_at = row.optional_time(13);
    replay.ended_at = row.optional_time(14);
    return replay;
}

} // namespace

Result<> Replays::enqueue(sql::Transaction& transaction, const ArtifactId& artifact, int64_t revision,
                          const ReplaySettings& settings, const std::string& by, Time now) {
    const auto there = TRY(transaction.query(
        "SELECT state, attempt FROM review_replays WHERE artifact_id = ? AND revision = ?", artifact, revision));
    if (there.empty()) {
        TRY(transaction.execute(
            "INSERT INTO review_replays (artifact_id, revision, attempt, state, reason, outcome, settings, result, "
            "dataset_id, base_experiment_id, branch_experiment_id, lease_until, server, started_by_name, created_at) "
            "VALUES (?, ?, 1, 'queued', '', 'none', ?, '{}', '', '', '', 0, '', ?, ?)",
            artifact, revision, json::write(settings), by, now));
        return {};
    }
    const std::string& state = there.front().text(0);
    if (state == "queued" || state == "running")
        return conflict("this revision is being replayed already; its state is " + state);
    TRY(transaction.execute(
        "UPDATE review_replays SET attempt = attempt + 1, state = 'queued', reason = '', outcome = 'none', settings = "
        "?, result = '{}', dataset_id = '', base_experiment_id = '', branch_experiment_id = '', lease_until = 0, "
        "server = '', started_by_name = ?, created_at = ?, started_at = NULL, ended_at = NULL WHERE artifact_id = ? "
        "AND revision = "
        "? "
        "AND attempt = ?",
        json::write(settings), by, now, artifact, revision, there.front().integer(1)));
    return {};
}

Result<std::optional<BranchReplay>> Replays::find(const ArtifactId& artifact, int64_t revision) const {
    const auto rows = TRY(m_database.query("SELECT " + std::string(replay_columns) +
                                               " FROM review_replays WHERE artifact_id = ? AND revision = ?",
                                           artifact, revision));
    if (rows.empty()) return std::optional<BranchReplay>();
    return std::optional(TRY(replay_of(rows.front())));
}

Result<std::optional<BranchReplay>> Replays::claim(const std::string& server) {
    const Time now = m_clock.now();
    const auto due = TRY(m_database.query("SELECT " + std::string(replay_columns) +
                                              " FROM review_replays WHERE state IN ('queued', 'running') AND "
                                              "lease_until < ? ORDER BY lease_until, created_at LIMIT 20",
                                          now));
    for (const auto& row : due) {
        // The server that changes the lease first has it.
        const auto claimed =
            TRY(m_database.execute("UPDATE review_replays SET server = ?, lease_until = ? WHERE artifact_id = ? AND "
                                   "revision = ? AND attempt = ? AND "
                                   "state IN ('queued', 'running') AND lease_until < ?",
                                   server, now + lease, row.text(0), row.integer(1), row.integer(2), now));
        if (claimed == 1) return std::optional(TRY(replay_of(row)));
    }
    return std::optional<BranchReplay>();
}

Result<bool> Replays::started(const BranchReplay& replay, const std::string& server) {
    const auto written = TRY(m_database.execute(
        "UPDATE review_replays SET state = 'running', settings = ?, result = ?, dataset_id = ?, base_experiment_id = "
        "?, branch_experiment_id = ?, started_at = COALESCE(started_at, ?) WHERE artifact_id = ? AND revision = ? AND "
        "attempt = ? AND server = ? AND state IN ('queued', 'running')",
        json::write(replay.settings), json::write(replay.result), replay.dataset_id, replay.base_experiment_id,
        replay.branch_experiment_id, m_clock.now(), replay.artifact_id, replay.revision, replay.attempt, server));
    return written == 1;
}

Result<bool> Replays::release(const BranchReplay& replay, const std::string& server, Duration after) {
    const auto written = TRY(m_database.execute(
        "UPDATE review_replays SET lease_until = ?, server = '' WHERE artifact_id = ? AND revision = ? AND attempt = ? "
        "AND server = ? AND state IN ('queued', 'running')",
        m_clock.now() + after, replay.artifact_id, replay.revision, replay.attempt, server));
    return written == 1;
}

Result<bool> Replays::end(const BranchReplay& replay, const std::string& server) {
    return end_where(replay, server);
}

Result<bool> Replays::stop(const BranchReplay& replay) {
    return end_where(replay, std::nullopt);
}

Result<bool> Replays::end_where(const BranchReplay& replay, const std::optional<std::string>& server) {
    const auto ended = TRY(m_database.execute(
        "UPDATE review_replays SET state = ?, reason = ?, outcome = ?, result = ?, ended_at = ?, lease_until = 0, "
        "server = '' WHERE artifact_id = ? AND revision = ? AND attempt = ? AND state IN ('queued', 'running') AND "
        "server = COALESCE(?, server)",
        name_of(replay.state), replay.reason, name_of(replay.outcome), json::write(replay.result), m_clock.now(),
        replay.artifact_id, replay.revision, replay.attempt, server));
    return ended == 1;
}

ReplaySettings replay_settings(const ReplayPolicy& policy, const std::string& issue) {
    ReplaySettings settings;
    settings.issue = issue;
    settings.command = *policy.command;
    settings.evaluator = *policy.evaluator;
    settings.control_evaluator = *policy.control_evaluator;
    settings.repetitions = *policy.repetitions;
    settings.evidence = *policy.evidence;
    settings.control = *policy.control;
    settings.timeout_seconds = *policy.timeout_seconds;
    settings.budget_seconds = *policy.budget_seconds;
    settings.last_line = *policy.last_line;
    settings.live_tools = *policy.live_tools;
    return settings;
}

std::string replay_sentence(const BranchReplay& replay) {
    const ReplayResult& result = replay.result;
    std::string text = fmt::format("base {}/{} fail → branch {}/{} pass", result.reproduced, result.evidence,
                                   result.fixed, result.reproduced);
    if (result.control > 0)
        text += fmt::format(", control {}/{} → {}/{}", result.control_base_passed, result.control,
                            result.control_branch_passed, result.control);
    text += fmt::format(", exact p = {:.2g}, {} repetitions, ${:.2f}", result.p, *replay.settings.repetitions,
                        static_cast<double>(result.spent_micro_usd) / 1e6);
    return text;
}

} // namespace hone::review
