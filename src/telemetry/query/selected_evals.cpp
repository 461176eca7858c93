// Evals that the engine makes itself (declared in evals.h): rows go from hone.spans to hone.eval_history, and from
// there to hone.evals, inside the engine.
#include "base/text.h"
#include "telemetry/query/evals.h"
#include "telemetry/span/binary.h"

#include <charconv>

namespace hone::telemetry {

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

// The text from which make_eval_id (evals.cpp) makes an id, before and after the id of the span.
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
        "), {eval_explanation:String}, {eval_metadata:String}, {eval_now:Int64}, {eval_now:Int64}, 0, "
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
