// What scans and workers do with issues: find them again, make new ones. What people do is in issue_changes.cpp.
#include "signal/issues.h"

#include "access/names.h"
#include "base/text.h"
#include "signal/analysis/words.h"
#include "signal/text/message_template.h"
#include "sql/columns.h"
#include "telemetry/query/filter.h"

namespace hone::signal {

using access::Caller, access::Permission, access::ProjectId, access::SpaceId;

namespace {

constexpr size_t longest_title = 200;
constexpr size_t longest_explanation = 8000;
constexpr auto volume_kept = std::chrono::hours(24 * 90);
constexpr const char* signal_name = "Signal";

// A column with a JSON list; an unreadable one is empty.
template <class T>
constexpr auto list_column(std::string_view name, std::vector<T> Issue::*member) {
    return sql::Column{name, sql::Converted{[member](Issue& issue, const sql::Row& row, size_t at) {
                           auto list = json::read<std::vector<T>>(row.text(at));
                           issue.*member = list.ok() ? std::move(list).value() : std::vector<T>();
                       }}};
}

constexpr Pack issue_columns{
    sql::Column{"id", &Issue::id},
    sql::Column{"space_id", &Issue::space_id},
    sql::Column{"project_id", &Issue::project_id},
    sql::Column{"fingerprint", &Issue::fingerprint},
    sql::Column{"detector", &Issue::detector, Detector::reported},
    sql::Column{"title", &Issue::title},
    sql::Column{"explanation", &Issue::explanation},
    sql::Column{"severity", &Issue::severity, Severity::medium},
    sql::Column{"status", &Issue::status, Status::open},
    sql::Column{"reason", &Issue::reason},
    sql::Column{"muted_until", &Issue::muted_until},
    sql::Column{"score", &Issue::score},
    list_column("score_terms", &Issue::score_terms),
    sql::Column{"traces", &Issue::traces},
    sql::Column{"share", &Issue::share},
    sql::Column{"growth", &Issue::growth},
    sql::Column{"confidence", &Issue::confidence},
    sql::Column{"filter", &Issue::filter},
    list_column("facts", &Issue::facts),
    list_column("examples", &Issue::examples),
    sql::Column{"matches", &Issue::matches},
    sql::Column{"quiet_matches", &Issue::quiet_matches},
    sql::Column{"reopened", &Issue::reopened},
    sql::Column{"assignee", &Issue::assignee},
    sql::Column{"assignee_name", &Issue::assignee_name},
    sql::Column{"reported_by", &Issue::reported_by},
    sql::Column{"investigation_id", &Issue::investigation_id},
    sql::Column{"investigation_run", &Issue::investigation_run},
    sql::Column{"investigated_at", &Issue::investigated_at},
    sql::Column{"fix_run", &Issue::fix_run},
    sql::Column{"monitor_id", &Issue::monitor_id},
    sql::Column{"evaluator_id", &Issue::evaluator_id},
    sql::Column{"forge_issue", &Issue::forge_issue},
    sql::Column{"merged_into", &Issue::merged_into},
    sql::Column{"verdict", &Issue::verdict},
    sql::Column{"verdict_reason", &Issue::verdict_reason},
    sql::Column{"verdict_run", &Issue::verdict_run},
    sql::Column{"first_seen", &Issue::first_seen},
    sql::Column{"last_seen", &Issue::last_seen},
    sql::Column{"created_at", &Issue::created_at},
    sql::Column{"updated_at", &Issue::updated_at},
};

// A condition in SQL beside a filter, as the database stores it. Empty text: the filter states everything.
struct Narrower {
    std::string sql;
    std::map<std::string, std::string> values;
    static constexpr Pack fields{
        Field{"sql", &Narrower::sql, "Condition of spans."},
        Field{"values", &Narrower::values, "Its values by name."},
    };
};

std::string narrower_column(const Candidate& candidate) {
    if (candidate.narrower.empty()) return {};
    Narrower narrower{candidate.narrower, {}};
    for (const auto& [name, value] : candidate.narrower_values) narrower.values[name] = value;
    return json::write(narrower);
}

} // namespace

Result<std::vector<Candidate>> Issues::conditions(const Issue& issue) const {
    std::vector<Candidate> all;
    for (const auto& row :
         TRY(m_database.query("SELECT detector, filter, narrower FROM issue_fingerprints WHERE issue_id = ? AND "
                              "narrower IS NOT NULL ORDER BY traces DESC, fingerprint",
                              issue.id))) {
        Candidate candidate;
        candidate.detector = parse_enum<Detector>(row.text(0)).value_or(Detector::reported);
        candidate.filter = row.text(1);
        if (!row.text(2).empty()) {
            const Narrower narrower = TRY(json::read<Narrower>(row.text(2)));
            candidate.narrower = narrower.sql;
            candidate.narrower_values.assign(narrower.values.begin(), narrower.values.end());
        }
        all.push_back(std::move(candidate));
    }
    return all;
}

std::string Issues::select() {
    return "SELECT " + sql::names(issue_columns) + " FROM issues";
}

Issue Issues::issue_of(const sql::Row& row) {
    return sql::read<Issue>(issue_columns, row);
}

Result<std::optional<Issue>> Issues::read(sql::Database& database, const IssueId& id) {
    const auto rows = TRY(database.query(select() + " WHERE id = ?", id));
    if (rows.empty()) return std::optional<Issue>();
    return std::optional(issue_of(rows.front()));
}

Result<> Issues::note(sql::Transaction& transaction, const IssueId& id, const std::string& who, std::string_view what,
                      const std::string& detail) const {
    TRY(transaction.execute(
        "INSERT INTO issue_history (id, issue_id, who, what, detail, created_at) VALUES (?, ?, ?, ?, ?, ?)",
        make_id<ChangeTag>(m_clock), id, who, what, detail, m_clock.now()));
    return {};
}

Result<> Issues::create(sql::Transaction& transaction, const Issue& issue,
                        const std::optional<std::string>& narrower) const {
    TRY(transaction.execute(
        "INSERT INTO issues (id, space_id, project_id, fingerprint, detector, title, title_by_person, explanation, "
        "severity, severity_by_person, status, reason, score, score_terms, traces, share, growth, confidence, filter, "
        "facts, examples, matches, quiet_matches, reopened, reported_by, first_seen, last_seen, status_at, created_at, "
        "updated_at) VALUES (?, ?, ?, ?, ?, ?, 0, ?, ?, 0, ?, '', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0, ?, ?, ?, ?, ?, "
        "?)",
        issue.id, issue.space_id, issue.project_id, issue.fingerprint, name_of(issue.detector), issue.title,
        issue.explanation, name_of(issue.severity), name_of(issue.status), issue.score, json::write(issue.score_terms),
        issue.traces, issue.share, issue.growth, issue.confidence, issue.filter, json::write(issue.facts),
        json::write(issue.examples), issue.matches, issue.reported_by, issue.first_seen, issue.last_seen,
        issue.created_at, issue.created_at, issue.updated_at));
    TRY(transaction.execute("INSERT INTO issue_fingerprints (project_id, fingerprint, issue_id, detector, title, "
                            "filter, traces, last_seen, narrower) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                            issue.project_id, issue.fingerprint, issue.id, name_of(issue.detector), issue.title,
                            issue.filter, issue.traces, issue.last_seen, narrower));
    return {};
}

// Windows overlap: an hour that was counted before, when it was not over, is replaced by the larger number.
Result<> Issues::write_volume(sql::Transaction& transaction, const ProjectId& project, const std::string& fingerprint,
                              const Candidate& candidate) const {
    for (const auto& [hour, traces] : candidate.volume)
        TRY(transaction.execute("INSERT INTO issue_volume (project_id, fingerprint, hour, traces) VALUES (?, ?, ?, ?) "
                                "ON CONFLICT (project_id, fingerprint, hour) DO UPDATE SET traces = CASE WHEN "
                                "excluded.traces > issue_volume.traces THEN excluded.traces ELSE issue_volume.traces "
                                "END",
                                project, fingerprint, hour, traces));
    return {};
}

Result<> Issues::rescore(sql::Transaction& transaction, const IssueId& id) const {
    const auto rows = TRY(transaction.query(select() + " WHERE id = ?", id));
    if (rows.empty()) return not_found("issue " + id.text());
    const Issue issue = issue_of(rows.front());
    const auto terms = score_terms(issue, m_clock.now() - issue.first_seen);
    TRY(transaction.execute("UPDATE issues SET score = ?, score_terms = ? WHERE id = ?", score_of(terms),
                            json::write(terms), id));
    return {};
}

Result<Issues::Taken> Issues::take(const SpaceId& space, const ProjectId& project, const Candidate& candidate,
                                   const CameBack& came_back) {
    const std::string fingerprint = fingerprint_of(project, candidate.detector, candidate.subject);
    const Time now = m_clock.now();
    const auto known = TRY(m_database.query("SELECT i.id, i.status, i.status_at FROM issue_fingerprints f JOIN issues "
                                            "i ON i.id = f.issue_id WHERE f.project_id = ? AND f.fingerprint = ?",
                                            project, fingerprint));
    // Before the transaction: it queries the engine.
    bool is_back = false;
    if (!known.empty() && known.front().text(1) == name_of(Status::resolved))
        is_back = TRY(came_back(candidate, known.front().time(2)));
    return m_database.write([&](sql::Transaction& transaction) -> Result<Taken> {
        const auto rows =
            TRY(transaction.query("SELECT i.id, i.status, i.fingerprint FROM issue_fingerprints f JOIN issues i ON "
                                  "i.id = f.issue_id WHERE f.project_id = ? AND f.fingerprint = ?",
                                  project, fingerprint));
        TRY(write_volume(transaction, project, fingerprint, candidate));
        if (rows.empty()) {
            Issue issue;
            issue.id = make_id<IssueTag>(m_clock);
            issue.space_id = space;
            issue.project_id = project;
            issue.fingerprint = fingerprint;
            issue.detector = candidate.detector;
            issue.title = plain_line(candidate.title, longest_title);
            issue.explanation = candidate.explanation;
            issue.severity = candidate.severity;
            issue.traces = candidate.traces;
            issue.share = candidate.share;
            issue.growth = candidate.growth;
            issue.confidence = candidate.confidence;
            issue.filter = candidate.filter;
            issue.facts = candidate.facts;
            issue.examples = candidate.examples;
            issue.matches = 1;
            issue.first_seen = from_ns(candidate.first_seen_ns);
            issue.last_seen = from_ns(candidate.last_seen_ns);
            issue.created_at = issue.updated_at = now;
            issue.score_terms = score_terms(issue, now - issue.first_seen);
            issue.score = score_of(issue.score_terms);
            TRY(create(transaction, issue, narrower_column(candidate)));
            TRY(note(transaction, issue.id, signal_name, "found",
                     fmt::format("{} traces, {} of the window", issue.traces, percent(issue.share))));
            return Taken{issue.id, Outcome::found, true};
        }
        const IssueId id = rows.front().id<IssueTag>(0);
        const Status status = parse_enum<Status>(rows.front().text(1)).value_or(Status::open);
        const bool is_quiet = status == Status::muted || status == Status::dismissed;
        TRY(transaction.execute("UPDATE issue_fingerprints SET title = ?, filter = ?, traces = ?, last_seen = ?, "
                                "narrower = ? WHERE project_id = ? AND fingerprint = ?",
                                plain_line(candidate.title, longest_title), candidate.filter, candidate.traces,
                                from_ns(candidate.last_seen_ns), narrower_column(candidate), project, fingerprint));
        TRY(transaction.execute("UPDATE issues SET matches = matches + 1, quiet_matches = quiet_matches + ?, last_seen "
                                "= CASE WHEN last_seen > ? THEN last_seen ELSE ? END, updated_at = ? WHERE id = ?",
                                is_quiet, candidate.last_seen_ns, candidate.last_seen_ns, now, id));
        // Of an issue that was merged from several, the first one gives the words; the largest gives the numbers.
        if (rows.front().text(2) == fingerprint)
            TRY(transaction.execute(
                "UPDATE issues SET title = CASE WHEN title_by_person = 1 THEN title ELSE ? END, explanation = ?, "
                "severity = CASE WHEN severity_by_person = 1 THEN severity ELSE ? END, traces = ?, share = ?, growth = "
                "?, confidence = ?, filter = ?, facts = ?, examples = ? WHERE id = ?",
                plain_line(candidate.title, longest_title), candidate.explanation, name_of(candidate.severity),
                candidate.traces, candidate.share, candidate.growth, candidate.confidence, candidate.filter,
                json::write(candidate.facts), json::write(candidate.examples), id));
        TRY(rescore(transaction, id));
        if (is_quiet) return Taken{id, Outcome::quiet, false};
        if (!is_back) return Taken{id, Outcome::updated, false};
        // Another server may have been quicker; then it is open already.
        const auto moved = TRY(transaction.execute(
            "UPDATE issues SET status = ?, reason = ?, status_at = ?, reopened = reopened + 1, verdict = '' WHERE id = "
            "? AND status = ?",
            name_of(Status::open), "it came back", now, id, name_of(Status::resolved)));
        if (moved == 0) return Taken{id, Outcome::updated, false};
        TRY(note(transaction, id, signal_name, "reopened", fmt::format("seen again in {} traces", candidate.traces)));
        return Taken{id, Outcome::reopened, true};
    });
}

Result<> Issues::set_verdict(const IssueId& id, Verdict verdict, const std::string& reason, const std::string& run) {
    return m_database.write([&](sql::Transaction& transaction) -> Result<> {
        const std::string words = plain_line(reason, longest_title);
        const auto rows = TRY(transaction.query("SELECT verdict, verdict_reason FROM issues WHERE id = ?", id));
        if (rows.empty()) return not_found("issue " + id.text());
        if (rows.front().text(0) == name_of(verdict) && rows.front().text(1) == words) return {};
        TRY(transaction.execute("UPDATE issues SET verdict = ?, verdict_reason = ?, verdict_run = ?, updated_at = ? "
                                "WHERE id = ?",
                                name_of(verdict), words, run, m_clock.now(), id));
        TRY(note(transaction, id, run, "verdict", fmt::format("{}: {}", name_of(verdict), words)));
        return rescore(transaction, id);
    });
}

Result<int64_t> Issues::unmute_due() {
    const Time now = m_clock.now();
    return m_database.write([&](sql::Transaction& transaction) -> Result<int64_t> {
        const auto rows = TRY(transaction.query(
            "SELECT id FROM issues WHERE status = 'muted' AND muted_until IS NOT NULL AND muted_until <= ? LIMIT 1000",
            now));
        for (const auto& row : rows) {
            const IssueId id = row.id<IssueTag>(0);
            TRY(transaction.execute("UPDATE issues SET status = 'open', reason = '', muted_until = NULL, status_at = "
                                    "?, updated_at = ? WHERE id = ?",
                                    now, now, id));
            TRY(note(transaction, id, signal_name, "status", "muted → open: its time is over"));
        }
        return static_cast<int64_t>(rows.size());
    });
}

Result<std::map<std::string, std::vector<std::string>>> Issues::evidence_traces() const {
    std::map<std::string, std::vector<std::string>> traces;
    const Time since = m_clock.now() - std::chrono::hours(24 * 90);
    for (const auto& row :
         TRY(m_database.query("SELECT project_id, examples FROM issues WHERE status <> 'dismissed' AND (status <> "
                              "'resolved' OR status_at >= ?) ORDER BY score DESC, id LIMIT 10000",
                              since)))
        for (const Example& example : TRY(json::read<std::vector<Example>>(row.text(1))))
            traces[row.text(0)].push_back(example.trace_id);
    return traces;
}

Result<> Issues::sweep() {
    TRY(m_database.execute("DELETE FROM issue_volume WHERE hour < ?", to_ns(m_clock.now() - volume_kept)));
    return {};
}

Result<Issue> Issues::report(const Caller& caller, const SpaceId& space, const ProjectId& project,
                             const std::string& by, const NewIssue& wanted) {
    Issue issue;
    issue.title = plain_line(wanted.title, longest_title);
    if (issue.title.empty()) return invalid("title is empty");
    if (wanted.explanation.size() > longest_explanation) return too_large("explanation has at most 8,000 bytes");
    issue.explanation = repair_utf8(wanted.explanation);
    std::erase(issue.explanation, '\0');
    issue.filter = wanted.filter.value_or("");
    TRY(telemetry::parse_filter(issue.filter));
    if (wanted.trace_ids && wanted.trace_ids->size() > 20) return too_large("trace_ids: at most 20");
    const Time now = m_clock.now();
    for (const std::string& trace : wanted.trace_ids.value_or(std::vector<std::string>())) {
        if (trace.size() != 32 || !from_hex(trace).ok())
            return invalid("trace_ids: a trace id has 32 hexadecimal digits");
        issue.examples.push_back({lowercase_ascii(trace), "", now});
    }
    const std::string subject =
        wanted.subject ? plain_line(*wanted.subject, 300) : lowercase_ascii(join_words(template_words(issue.title)));
    issue.id = make_id<IssueTag>(m_clock);
    issue.space_id = space;
    issue.project_id = project;
    issue.detector = Detector::reported;
    issue.fingerprint = fingerprint_of(project, Detector::reported, subject);
    issue.severity = wanted.severity.value_or(Severity::medium);
    issue.traces = static_cast<int64_t>(issue.examples.size());
    issue.confidence = 0.5;
    issue.matches = 1;
    issue.reported_by = by;
    issue.first_seen = issue.last_seen = issue.created_at = issue.updated_at = now;
    issue.score_terms = score_terms(issue, Duration(0));
    issue.score = score_of(issue.score_terms);
    const IssueId id = TRY(m_database.write([&](sql::Transaction& transaction) -> Result<IssueId> {
        const auto rows =
            TRY(transaction.query("SELECT i.id, i.status FROM issue_fingerprints f JOIN issues i ON i.id = f.issue_id "
                                  "WHERE f.project_id = ? AND f.fingerprint = ?",
                                  project, issue.fingerprint));
        if (rows.empty()) {
            TRY(create(transaction, issue, ""));
            TRY(note(transaction, issue.id, by, "found", "reported"));
            TRY(m_access.audit.record(transaction, caller, {"issue_report", space, issue.id.text(), {}}));
            return issue.id;
        }
        const IssueId known = rows.front().id<IssueTag>(0);
        const Status status = parse_enum<Status>(rows.front().text(1)).value_or(Status::open);
        const bool is_quiet = status == Status::muted || status == Status::dismissed;
        const bool is_back = status == Status::resolved;
        TRY(transaction.execute("UPDATE issues SET matches = matches + 1, quiet_matches = quiet_matches + ?, "
                                "explanation = ?, status = ?, reopened = reopened + ?, last_seen = ?, updated_at = ? "
                                "WHERE id = ?",
                                is_quiet, issue.explanation, name_of(is_back ? Status::open : status), is_back, now,
                                now, known));
        if (!issue.examples.empty())
            TRY(transaction.execute("UPDATE issues SET examples = ?, traces = ? WHERE id = ?",
                                    json::write(issue.examples), issue.traces, known));
        if (is_back) TRY(note(transaction, known, by, "reopened", "reported again"));
        TRY(rescore(transaction, known));
        return known;
    }));
    return find(Caller::system(), id);
}

} // namespace hone::signal
