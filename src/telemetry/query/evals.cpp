#include "telemetry/query/evals.h"

#include "base/text.h"
#include "crypto/crypto.h"
#include "telemetry/query/filter.h"
#include "telemetry/span/binary.h"
#include "telemetry/span/checksum.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <set>

namespace hone::telemetry {

namespace {

// The same for the same target, name and identifier: an update keeps its id. id_sql has it in SQL.
std::string make_eval_id(const Eval& eval) {
    crypto::Sha256 hash;
    hash.add(eval.project);
    for (const std::string_view part : {name_of(eval.target), std::string_view(eval.target_id),
                                        std::string_view(eval.name), std::string_view(eval.identifier)}) {
        hash.add(std::string_view("\0", 1));
        hash.add(part);
    }
    return "eval_" + to_hex(hash.finish().substr(0, 16));
}

// What an eval of an earlier version has.
std::string make_first_eval_id(const Eval& eval) {
    std::string key = eval.project;
    for (const std::string_view part : {name_of(eval.target), std::string_view(eval.target_id),
                                        std::string_view(eval.name), std::string_view(eval.identifier)})
        key += std::string(1, '\0') + std::string(part);
    uint64_t high = 0xcbf29ce484222325ULL, low = 0x84222325cbf29ce4ULL;
    for (const char letter : key) {
        high = (high ^ static_cast<unsigned char>(letter)) * 0x100000001b3ULL;
        low = (low + static_cast<unsigned char>(letter)) * 0x9e3779b97f4a7c15ULL ^ low >> 31;
    }
    std::string bytes;
    put_number(bytes, high);
    put_number(bytes, low);
    return "eval_" + to_hex(bytes);
}

Result<> check(const Eval& eval) {
    if (eval.project.empty()) return invalid("an eval needs a project");
    if (eval.target_id.empty() || eval.target_id.size() > 1024) return invalid("an eval needs a target");
    if (eval.name.empty() || eval.name.size() > 200) return invalid("an eval's name has 1 to 200 characters");
    if (eval.label.empty() && !eval.score && eval.explanation.empty())
        return invalid("an eval needs a label, a score or an explanation");
    if (eval.score && !std::isfinite(*eval.score)) return invalid("a score is a number");
    if (eval.label.size() > 1024 || eval.explanation.size() > 1 << 20 || eval.metadata.size() > 1 << 20)
        return too_large("an eval's text is too long");
    const bool is_id = eval.target == EvalTarget::chat_session ||
                       (eval.target_id.size() == (eval.target == EvalTarget::span ? 16u : 32u) &&
                        std::all_of(eval.target_id.begin(), eval.target_id.end(), [](char letter) {
                            return (letter >= '0' && letter <= '9') || (letter >= 'a' && letter <= 'f');
                        }));
    if (!is_id) return invalid("not a span or trace id: " + eval.target_id.substr(0, 64));
    return {};
}

} // namespace

// An update keeps the id and the time of creation.
Result<> Evals::fill_created(std::vector<Eval>& evals) {
    std::map<std::string, std::vector<Eval*>> by_project;
    for (Eval& eval : evals) by_project[eval.project].push_back(&eval);
    for (auto& [project, list] : by_project) {
        std::set<std::string> ids;
        for (const Eval* eval : list) {
            ids.insert(eval->id);
            ids.insert(make_first_eval_id(*eval));
        }
        std::string quoted; // ids are ours: hexadecimal digits
        for (const std::string& id : ids) quoted += (quoted.empty() ? "'" : ",'") + id + "'";
        ClickHouseQuery query(
            "SELECT id, created_ns FROM hone.evals FINAL WHERE project = {project:String} AND id IN (" + quoted +
            ") FORMAT RowBinary");
        query.bind("project", project).set("max_query_size", "100000000").set("max_ast_elements", "10000000");
        query.project = project;
        query.deadline = std::chrono::seconds(60);
        const std::string bytes = TRY(m_engine.query(query));
        std::map<std::string, int64_t, std::less<>> created;
        for (BinaryReader reader(bytes); !reader.at_end();) {
            const std::string id(reader.text());
            created[id] = reader.number<int64_t>();
        }
        for (Eval* eval : list)
            for (const std::string& id : {make_first_eval_id(*eval), eval->id})
                if (const auto known = created.find(id); known != created.end()) {
                    eval->id = id;
                    eval->created_ns = known->second;
                    break;
                }
    }
    return {};
}

int64_t Evals::take_versions(int64_t count) {
    const int64_t now = to_ns(m_clock.now());
    int64_t last = m_last_version.load();
    int64_t first = 0;
    do first = std::max(now, last + 1);
    while (!m_last_version.compare_exchange_weak(last, first + count));
    return first;
}

Result<> Evals::write(const std::vector<Eval>& evals) {
    int64_t version = take_versions(static_cast<int64_t>(evals.size()));
    std::string rows;
    for (const Eval& eval : evals) append_eval(rows, eval, static_cast<uint64_t>(version++));
    // History first: a crash between the two leaves an entry that was never current, not a current one without history.
    TRY(m_engine.insert("hone.eval_history", rows, std::chrono::seconds(60)));
    return m_engine.insert("hone.evals", rows, std::chrono::seconds(60));
}

Result<std::vector<Eval>> Evals::upsert(std::vector<Eval> evals) {
    if (evals.size() > 100'000) return too_large("at most 100,000 evals in one request");
    if (evals.empty()) return evals;
    const int64_t now = to_ns(m_clock.now());
    for (Eval& eval : evals) {
        TRY(check(eval));
        eval.id = make_eval_id(eval);
        eval.created_ns = eval.updated_ns = now;
        eval.is_deleted = false;
    }
    TRY(fill_created(evals));
    TRY(write(evals));
    return evals;
}

Result<EvalPage> Evals::list(const ListEvals& request) {
    const size_t limit = std::clamp<size_t>(request.limit, 1, 10'000);
    ClickHouseQuery query("SELECT " + eval_names() +
                          " FROM hone.evals FINAL WHERE project = {project:String} AND target = {target:String}");
    query.project = request.project;
    query.bind("project", request.project).bind("target", name_of(request.target));
    if (!request.target_ids.empty())
        query.bind("targets", request.target_ids).sql += " AND target_id IN {targets:Array(String)}";
    if (!request.trace_id.empty()) {
        const std::string times =
            " FROM hone.trace_times WHERE project = {project:String} AND trace_id = {trace:String})";
        query.bind("trace", request.trace_id).sql +=
            " AND target_id IN (SELECT toString(span_id) FROM hone.spans WHERE project = {project:String} AND start_ns "
            ">= (SELECT min(first_ns)" +
            times + " AND start_ns <= (SELECT max(last_ns)" + times + " AND trace_id = {trace:String})";
    }
    if (!request.names.empty()) query.bind("names", request.names).sql += " AND name IN {names:Array(String)}";
    if (!request.excluded_names.empty())
        query.bind("excluded", request.excluded_names).sql += " AND name NOT IN {excluded:Array(String)}";
    if (!request.identifiers.empty())
        query.bind("identifiers", request.identifiers).sql += " AND identifier IN {identifiers:Array(String)}";
    if (!request.cursor.empty()) {
        auto id = from_base64url(request.cursor);
        if (!id.ok()) return invalid("the cursor is not valid for this list");
        query.bind("cursor", id.value()).sql += " AND id > {cursor:String}";
    }
    query.sql += " ORDER BY id LIMIT " + std::to_string(limit + 1) + " FORMAT RowBinary";
    EvalPage page;
    page.evals = read_evals(TRY(m_engine.query(query)));
    if (page.evals.size() > limit) {
        page.evals.resize(limit);
        page.next_cursor = to_base64url(page.evals.back().id);
    }
    return page;
}

Result<std::vector<UnsettledTarget>> Evals::find_unsettled(const FindUnsettled& request) {
    constexpr int64_t longest_wait_ns = 30LL * 24 * 3600 * 1'000'000'000;
    const std::string evals = "SELECT target_id FROM hone.evals FINAL WHERE project = {project:String} AND target = "
                              "{target:String} AND ";
    const std::string since = "updated_ns >= {since:Int64}";
    std::string chosen;
    switch (request.kind) {
    case Unsettled::undecided:
        chosen = evals + "kind != 'human' AND label = 'cannot_judge' AND " + since;
        break;
    case Unsettled::split:
        chosen = evals +
                 "kind != 'human' AND JSONHas(metadata, 'agreement') AND JSONExtractFloat(metadata, "
                 "'agreement') < 1 AND " +
                 since;
        break;
    case Unsettled::disputed:
        chosen = evals + "kind = 'human' AND label != '' GROUP BY target_id, name HAVING uniqExact(label) > 1 AND "
                         "max(updated_ns) >= {since:Int64}";
        break;
    }
    const std::string key = request.target == EvalTarget::span    ? "span_id"
                            : request.target == EvalTarget::trace ? "trace_id"
                                                                  : "chat_session";
    ClickHouseQuery query("");
    const std::string matches = compile_filter(TRY(parse_filter(request.filter)), query, FilterPlace::elsewhere);
    query.sql = "SELECT toString(" + key + ") AS id, " +
                (request.target == EvalTarget::chat_session ? "''" : "toString(any(trace_id))") +
                " FROM hone.spans WHERE project = {project:String} AND start_ns >= {from:Int64} AND toString(" + key +
                ") IN (" + chosen + ") GROUP BY " + key + " HAVING max(" + matches + ") ORDER BY id LIMIT " +
                std::to_string(request.limit) + " FORMAT RowBinary";
    query.project = request.project;
    query.bind("project", request.project)
        .bind("target", name_of(request.target))
        .bind("since", request.since_ns)
        .bind("from", request.since_ns - longest_wait_ns);
    const std::string bytes = TRY(m_engine.query(query));
    std::vector<UnsettledTarget> found;
    for (BinaryReader reader(bytes); !reader.at_end();) {
        UnsettledTarget& one = found.emplace_back();
        one.id = reader.text();
        one.trace_id = reader.text();
    }
    return found;
}

Result<std::vector<EvalName>> Evals::names(const std::string& project) {
    ClickHouseQuery query("SELECT target, toString(name), count(), arrayFilter(label -> label != '', "
                          "topK(20)(toString(label))) FROM hone.evals FINAL WHERE project = {project:String} "
                          "GROUP BY target, name ORDER BY count() DESC, name, target LIMIT 200 FORMAT RowBinary");
    query.project = project;
    query.bind("project", project);
    const std::string bytes = TRY(m_engine.query(query));
    std::vector<EvalName> names;
    for (BinaryReader reader(bytes); !reader.at_end();) {
        EvalName name;
        name.target = static_cast<EvalTarget>(reader.number<int8_t>());
        name.name = reader.text();
        name.count = static_cast<int64_t>(reader.number<uint64_t>());
        for (uint64_t left = reader.varint(); left > 0 && !reader.failed(); --left)
            name.labels.emplace_back(reader.text());
        names.push_back(std::move(name));
    }
    return names;
}

Result<std::vector<Eval>> Evals::history(const std::string& project, EvalTarget target, const std::string& target_id) {
    ClickHouseQuery query("SELECT " + eval_names() +
                          " FROM hone.eval_history WHERE project = {project:String} AND target = {target:String} AND "
                          "target_id = {id:String} ORDER BY version LIMIT 10000 FORMAT RowBinary");
    query.project = project;
    query.bind("project", project).bind("target", name_of(target)).bind("id", target_id);
    return read_evals(TRY(m_engine.query(query)));
}

Result<int64_t> Evals::remove(const DeleteEvals& request) {
    const bool is_narrow = request.name || request.identifier || request.kind || request.from_ns || request.to_ns;
    if (!is_narrow && !request.all) return invalid("give name, identifier, kind or times, or all to delete all evals");
    ClickHouseQuery query("SELECT " + eval_names() +
                          " FROM hone.evals FINAL WHERE project = {project:String} AND target = {target:String}");
    query.project = request.project;
    query.bind("project", request.project).bind("target", name_of(request.target));
    if (request.name) query.bind("name", *request.name).sql += " AND name = {name:String}";
    if (request.identifier)
        query.bind("identifier", *request.identifier).sql += " AND identifier = {identifier:String}";
    if (request.annotator) query.bind("annotator", *request.annotator).sql += " AND annotator = {annotator:String}";
    if (request.kind) query.bind("kind", name_of(*request.kind)).sql += " AND kind = {kind:String}";
    if (request.from_ns) query.bind("from", *request.from_ns).sql += " AND created_ns >= {from:Int64}";
    if (request.to_ns) query.bind("to", *request.to_ns).sql += " AND created_ns < {to:Int64}";
    query.sql += " LIMIT 100000 FORMAT RowBinary";
    int64_t removed = 0;
    for (;;) {
        std::vector<Eval> evals = read_evals(TRY(m_engine.query(query)));
        if (evals.empty()) return removed;
        for (Eval& eval : evals) {
            eval.is_deleted = true;
            eval.updated_ns = to_ns(m_clock.now());
        }
        TRY(write(evals));
        removed += static_cast<int64_t>(evals.size());
    }
}

// --- evals that the engine makes itself -----------------------------------------------------------------------------

namespace {

constexpr Duration selected_patience = std::chrono::seconds(60);

// Evals of this name and identifier on spans; all that one writer has made.
constexpr std::string_view made_by_writer =
    " WHERE project = {project:String} AND target = 'span' AND name = {eval_name:String} AND identifier = "
    "{eval_identifier:String} AND created_ns > {eval_after:Int64}";

std::string score_sql(const std::optional<double>& score) {
    if (!score) return "CAST(NULL, 'Nullable(Float64)')";
    char digits[40];
    const auto [end, error] = std::to_chars(digits, digits + sizeof digits, *score);
    return "toFloat64(" + std::string(digits, end) + ")";
}

void bind_writer(ClickHouseQuery& query, const SelectedEvals& selected, int64_t version) {
    query.bind("eval_name", selected.match.name)
        .bind("eval_identifier", selected.match.identifier)
        .bind("eval_after", selected.after_ns)
        .bind("eval_version", version);
    query.project = selected.match.project;
    query.deadline = selected_patience;
    query.set("max_memory_usage", "2000000000");
    // Parts of this size: small enough for memory, large enough to be few.
    query.set("min_insert_block_size_rows", "262144").set("min_insert_block_size_bytes", "0");
}

// History without a current eval: what this call wrote, and what one wrote that did not come to its end: the newest
// entry of a target, not a deletion.
std::string unfinished() {
    const std::string made(made_by_writer);
    return " FROM hone.eval_history" + made + " AND target_id NOT IN (SELECT target_id FROM hone.evals FINAL" + made +
           ") AND (version = {eval_version:UInt64} OR (target_id, version) IN (SELECT target_id, max(version) FROM "
           "hone.eval_history" +
           made + " AND version < {eval_version:UInt64} GROUP BY target_id HAVING argMax(is_deleted, version) = 0))";
}

// The text from which make_eval_id makes an id, before and after the id of the span.
std::string id_sql() {
    return "concat('eval_', lower(hex(substring(SHA256(concat({id_begin:String}, toString(span_id), {id_end:String})), "
           "1, 16))))";
}

ClickHouseQuery add_to_history(const SelectedEvals& selected, int64_t now_ns) {
    const Eval& eval = selected.match;
    ClickHouseQuery query = selected.spans;
    const std::string_view zero("\0", 1);
    query.bind("id_begin", eval.project + std::string(zero) + "span" + std::string(zero))
        .bind("id_end", std::string(zero) + eval.name + std::string(zero) + eval.identifier)
        .bind("eval_annotator", eval.annotator)
        .bind("eval_kind", name_of(eval.kind))
        .bind("eval_label", eval.label)
        .bind("eval_other_label", selected.other ? selected.other->first : "")
        .bind("eval_explanation", eval.explanation)
        .bind("eval_metadata", eval.metadata)
        .bind("eval_now", now_ns);
    query.sql =
        "INSERT INTO hone.eval_history (" + eval_names() +
        ", version) SELECT {project:String}, 'span', toString(span_id), {eval_name:String}, {eval_annotator:String}, "
        "{eval_identifier:String}, " +
        id_sql() + ", {eval_kind:String}, if(is_match, {eval_label:String}, {eval_other_label:String}), if(is_match, " +
        score_sql(eval.score) + ", " + score_sql(selected.other ? selected.other->second : std::nullopt) +
        "), {eval_explanation:String}, {eval_metadata:String}, 0, {eval_now:Int64}, {eval_now:Int64}, 0, 0, '', 1, "
        "{eval_version:UInt64} FROM (" +
        selected.spans.sql + ") WHERE " + (selected.other ? "1" : "is_match") +
        " AND toString(span_id) NOT IN (SELECT target_id FROM hone.eval_history" + std::string(made_by_writer) +
        " GROUP BY target_id HAVING argMax(is_deleted, version) = 0) LIMIT 1 BY span_id";
    return query;
}

} // namespace

Result<SelectedCount> Evals::write_selected(const SelectedEvals& selected) {
    const int64_t version = take_versions(1);
    ClickHouseQuery insert = add_to_history(selected, to_ns(m_clock.now()));
    bind_writer(insert, selected, version);
    TRY(m_engine.insert_selected(insert));

    const Eval& eval = selected.match;
    const std::string is_score = eval.score ? "score = " + score_sql(eval.score) : "isNull(score)";
    ClickHouseQuery count("SELECT count(), countIf(label = {eval_label:String} AND ifNull(" + is_score + ", 0))" +
                          unfinished() + " FORMAT RowBinary");
    count.bind("project", eval.project).bind("eval_label", eval.label);
    bind_writer(count, selected, version);
    const std::string bytes = TRY(m_engine.query(count));
    BinaryReader reader(bytes);
    SelectedCount written;
    written.written = static_cast<int64_t>(reader.number<uint64_t>());
    written.matched = static_cast<int64_t>(reader.number<uint64_t>());
    if (reader.failed()) return internal("the engine's count of evals has no rows");
    if (written.written == 0) return written;

    const std::string columns = eval_names() + ", version";
    ClickHouseQuery copy("INSERT INTO hone.evals (" + columns + ") SELECT " + columns + unfinished());
    copy.bind("project", eval.project);
    bind_writer(copy, selected, version);
    TRY(m_engine.insert_selected(copy));
    return written;
}

} // namespace hone::telemetry
