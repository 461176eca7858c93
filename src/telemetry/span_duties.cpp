#include "telemetry/span_duties.h"

#include "base/log.h"

namespace hone::telemetry {

namespace {

constexpr Duration load_patience = std::chrono::seconds(30);
constexpr Duration upgrade_time = std::chrono::seconds(10); // of a step, or one day of spans

} // namespace

// The engine is not started to find an empty directory.
bool SpanDuties::holds_nothing() const {
    return !m_engine_directory.empty() && !file_exists(m_engine_directory);
}

Result<> SpanDuties::delete_project_data(const access::ProjectId& project) {
    m_spans.projects.forget();
    m_spans.telemetry.parts().forget(project.text());
    // What was accepted before the deletion goes into the engine first, so that it does not come back afterwards.
    auto& telemetry = m_spans.telemetry;
    const auto log_stats = telemetry.log_stats();
    if (telemetry.loader().next_sequence() >= log_stats.next_sequence && telemetry.record_log().is_empty() &&
        holds_nothing())
        return {};
    if (!telemetry.loader().wait_loaded(log_stats.next_sequence, load_patience))
        return busy("accepted spans are not stored yet");
    if (!telemetry.record_log().wait_loaded(load_patience))
        return busy("accepted log records and metrics are not stored yet");
    TRY(telemetry.store());
    TRY(m_spans.records.delete_project(project.text()));
    return m_spans.retention.delete_project(project.text());
}

Result<> SpanDuties::read_merges() {
    constexpr Duration after_spans = std::chrono::minutes(1); // a merge can begin later than the last insert
    constexpr Duration of_others = std::chrono::minutes(1);   // their disk is not ours to guard
    const auto* engine = m_spans.telemetry.engine_process();
    const Duration now = m_clock.steady();
    if (engine ? !engine->is_running() : m_merges_read_at && now - *m_merges_read_at < of_others) return {};
    const uint64_t position = m_spans.telemetry.loader().next_sequence();
    if (position != m_loaded_until) m_loaded_at = now;
    m_loaded_until = position;
    bool is_merging = false;
    {
        const Lock lock(m_mutex);
        is_merging = m_merges.merges > 0 || m_merges.merging_bytes > 0; // of other tables, too
    }
    if (!is_merging && (!m_loaded_at || now - *m_loaded_at > after_spans)) return {};
    m_merges_read_at = now;
    const auto state = read_merge_state(m_spans.telemetry.engine());
    if (!state.ok()) return {}; // an outside ClickHouse may not show its parts
    // Space for what the engine is going to write: its merges, and the spans that wait in the log.
    if (engine)
        m_spans.telemetry.log().set_expected_writes(state.value().merging_bytes + m_spans.telemetry.backlog().bytes);
    const Lock lock(m_mutex);
    m_merges = state.value();
    return {};
}

// Only while the engine runs. A day can take long: the other duties have their turn in between.
Result<> SpanDuties::upgrade() {
    auto& upgrade = m_spans.telemetry.upgrade();
    if (!upgrade.is_due()) return {};
    TRY(m_spans.telemetry.store());
    const Duration begun = m_clock.steady();
    while (TRY(upgrade.step()))
        if (m_clock.steady() - begun > upgrade_time) break;
    return {};
}

Result<> SpanDuties::step() {
    if (holds_nothing()) return {};
    const auto* engine = m_spans.telemetry.engine_process();
    const bool runs = engine == nullptr || engine->is_running();
    if (runs)
        if (const auto done = upgrade(); !done.ok())
            log(Level::warning, "a store of an earlier version is not upgraded yet", {{"why", done.error().message}});
    const Duration every = runs ? Duration(std::chrono::hours(1)) : Duration(std::chrono::hours(24));
    if (m_clock.steady() - m_last_retention < every) return {};
    m_last_retention = m_clock.steady();
    TRY(m_spans.telemetry.store());
    RetentionPolicy policy;
    policy.days = TRY(m_access.projects.retention_days());
    policy.default_days = m_spans.projects.default_retention_days();
    policy.bytes = TRY(m_spans.projects.settings().retention_bytes());
    if (m_kept_traces) policy.kept_traces = TRY(m_kept_traces());
    const auto report = TRY(m_spans.retention.apply(policy));
    RecordRetention records;
    for (const auto& [project, days] : TRY(m_spans.projects.settings().log_retention_days()))
        records.log_days[project] = days == 0 ? -1 : days;
    records.default_log_days = default_log_retention_days;
    records.metric_days = policy.days;
    records.default_metric_days = policy.default_days;
    TRY(m_spans.records.apply(records));
    if (report.dropped_days > 0 || report.deleted_spans > 0)
        log(Level::info, "old spans deleted",
            {{"days", report.dropped_days},
             {"spans", report.deleted_spans},
             {"bytes_before", report.bytes_before},
             {"bytes_after", report.bytes_after}});
    return {};
}

void SpanDuties::metrics(MetricsWriter& out) const {
    LedgerCounts all;
    for (const auto& [project, counts] : m_spans.telemetry.ledger()) all.add(counts);
    out.counter("spans_received_total", "Spans received.", all.received);
    out.counter("spans_stored_total", "Spans stored.", all.stored);
    out.counter("spans_repeated_total", "Spans that were sent again, and left out.", all.repeated);
    out.counter("spans_rejected_total", "Spans rejected.", all.rejected_total());
    int64_t over_quota = 0;
    for (const auto& [reason, count] : all.rejected) over_quota += is_quota_reason(reason) ? count : 0;
    out.counter("spans_over_quota_total", "Spans rejected because a quota was used up.", over_quota);
    out.counter("log_records_total", "Log records that were stored.", all.log_records);
    out.counter("log_records_dropped_total", "Log records that were dropped.", all.log_records_dropped);
    out.counter("metric_points_total", "Points of metrics that were received.", all.metric_points);
    out.counter("metric_points_dropped_total", "Points of metrics that were dropped.", all.metric_points_dropped);
    out.gauge("spans_pending", "Spans on disk that are not in the engine yet.", all.pending());
    const auto log_stats = m_spans.telemetry.log_stats();
    out.gauge("span_log_bytes", "Disk used by the log of spans that are not in the engine yet.", log_stats.disk_bytes);
    out.gauge("span_log_object_bytes", "Of that log, what is in the object store and not on the disk.",
              log_stats.archived_bytes);
    const auto backlog = m_spans.telemetry.backlog();
    out.gauge("spans_pending_bytes", "Of that, spans that are not in the engine yet.", backlog.bytes);
    out.gauge("spans_pending_oldest_seconds", "How long the oldest span that is not in the engine has waited.",
              static_cast<double>(backlog.oldest_wait.count()) / 1e9);
    out.counter("span_load_failures_total", "Attempts to put spans into the engine that failed.", backlog.failures);
    const auto records = m_spans.telemetry.record_log().backlog();
    out.gauge("records_pending_requests", "Requests of log records and metrics that are not in the engine yet.",
              records.requests);
    out.gauge("records_pending_bytes", "Disk used by log records and metrics that are not in the engine yet.",
              records.bytes);
    out.gauge("records_pending_oldest_seconds", "How long the oldest of them has waited.",
              static_cast<double>(records.oldest_wait.count()) / 1e9);
    out.counter("record_load_failures_total", "Attempts to put log records and metrics into the engine that failed.",
                records.failures);
    out.counter("span_log_commits_total", "Times the span log was flushed to the disk.", log_stats.commits);
    out.gauge("span_log_damaged_bytes", "Damaged bytes found in the span log at start.", log_stats.damaged_bytes);
    if (const auto* engine = m_spans.telemetry.engine_process()) {
        out.gauge("engine_running", "Whether the span engine runs.", engine->is_running() ? 1 : 0);
        out.counter("engine_starts_total", "Starts of the span engine.", engine->starts());
    }
    out.gauge("span_upgrade_days", "Days of spans whose summaries or indexes are still to be made.",
              m_spans.telemetry.upgrade().days_left());
    const Lock lock(m_mutex);
    out.gauge("span_parts", "Parts of the table of spans that queries read.", m_merges.parts);
    out.gauge("span_parts_unmerged", "Of these, parts as they were inserted.", m_merges.unmerged_parts);
    out.gauge("span_parts_most_in_a_day", "Parts of the day that has the most.", m_merges.most_parts_a_day);
    out.gauge("span_parts_unmerged_oldest_seconds", "Age of the oldest part that was never merged.",
              m_merges.oldest_unmerged_seconds);
    out.gauge("span_parts_replaced_bytes", "Disk used by parts that merges have replaced.", m_merges.replaced_bytes);
    out.gauge("span_merges", "Merges of parts of spans that run.", m_merges.merges);
    out.gauge("span_merging_bytes", "Disk that running merges will still use, at most.", m_merges.merging_bytes);
}

} // namespace hone::telemetry
