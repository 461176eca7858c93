#include "telemetry/engine/eval_row.h"

#include "telemetry/span/binary.h"

namespace hone::telemetry {

namespace {

struct EvalColumn {
    std::string_view name;
    std::string_view type;
    void (*write)(std::string& out, const Eval& eval, uint64_t version);
    void (*read)(BinaryReader& reader, Eval& eval); // null: is only written
};

template <std::string Eval::*field>
constexpr EvalColumn text_column(std::string_view name, std::string_view type) {
    return {name, type, [](std::string& out, const Eval& eval, uint64_t) { put_text(out, eval.*field); },
            [](BinaryReader& reader, Eval& eval) { eval.*field = reader.text(); }};
}
template <int64_t Eval::*field>
constexpr EvalColumn time_column(std::string_view name) {
    return {name, "Int64", [](std::string& out, const Eval& eval, uint64_t) { put_number(out, eval.*field); },
            [](BinaryReader& reader, Eval& eval) { eval.*field = reader.number<int64_t>(); }};
}
template <auto field>
constexpr EvalColumn enum_column(std::string_view name, std::string_view type) {
    return {name, type,
            [](std::string& out, const Eval& eval, uint64_t) { put_number(out, static_cast<int8_t>(eval.*field)); },
            [](BinaryReader& reader, Eval& eval) {
                eval.*field = static_cast<std::remove_reference_t<decltype(eval.*field)>>(reader.number<int8_t>());
            }};
}

constexpr std::array eval_columns{
    text_column<&Eval::project>("project", "LowCardinality(String)"),
    enum_column<&Eval::target>("target", "Enum8('span'=1,'trace'=2,'chat_session'=3)"),
    text_column<&Eval::target_id>("target_id", "String"),
    text_column<&Eval::name>("name", "LowCardinality(String)"),
    text_column<&Eval::annotator>("annotator", "LowCardinality(String)"),
    text_column<&Eval::identifier>("identifier", "String"),
    text_column<&Eval::id>("id", "String"),
    enum_column<&Eval::kind>("kind", "Enum8('human'=1,'llm'=2,'code'=3,'agent'=4)"),
    text_column<&Eval::label>("label", "LowCardinality(String)"),
    EvalColumn{"score", "Nullable(Float64)",
               [](std::string& out, const Eval& eval, uint64_t) {
                   put_number(out, static_cast<uint8_t>(eval.score ? 0 : 1));
                   if (eval.score) put_number(out, *eval.score);
               },
               [](BinaryReader& reader, Eval& eval) {
                   if (reader.number<uint8_t>() == 0) eval.score = reader.number<double>();
               }},
    text_column<&Eval::explanation>("explanation", "String CODEC(ZSTD(1))"),
    text_column<&Eval::metadata>("metadata", "String CODEC(ZSTD(1))"),
    // Of earlier versions: empty in each new row. (span_start_ns is the start of any target.)
    EvalColumn{"trace_id", "String", [](std::string& out, const Eval&, uint64_t) { put_text(out, ""); }, nullptr},
    time_column<&Eval::target_ns>("span_start_ns"),
    time_column<&Eval::created_ns>("created_ns"),
    time_column<&Eval::updated_ns>("updated_ns"),
    EvalColumn{"version", "UInt64", [](std::string& out, const Eval&, uint64_t version) { put_number(out, version); },
               nullptr},
    EvalColumn{
        "is_deleted", "UInt8",
        [](std::string& out, const Eval& eval, uint64_t) { put_number(out, static_cast<uint8_t>(eval.is_deleted)); },
        [](BinaryReader& reader, Eval& eval) { eval.is_deleted = reader.number<uint8_t>() != 0; }},
    // Since evaluators have tasks.
    time_column<&Eval::evaluator_version>("evaluator_version"),
    text_column<&Eval::job>("job", "String"),
    EvalColumn{"inclusion", "Float64 DEFAULT 1",
               [](std::string& out, const Eval& eval, uint64_t) { put_number(out, eval.inclusion); },
               [](BinaryReader& reader, Eval& eval) { eval.inclusion = reader.number<double>(); }},
};
constexpr size_t newer_columns = 3;

} // namespace

std::string eval_table_columns() {
    std::string list;
    for (const EvalColumn& column : eval_columns)
        list += (list.empty() ? "" : ", ") + std::string(column.name) + " " + std::string(column.type);
    return list;
}

std::vector<std::string> newer_eval_columns() {
    std::vector<std::string> list;
    for (size_t i = eval_columns.size() - newer_columns; i < eval_columns.size(); ++i)
        list.push_back(std::string(eval_columns[i].name) + " " + std::string(eval_columns[i].type));
    return list;
}

std::string eval_names() {
    std::string list;
    for (const EvalColumn& column : eval_columns)
        if (column.read != nullptr) list += (list.empty() ? "" : ", ") + std::string(column.name);
    return list;
}

void append_eval(std::string& out, const Eval& eval, uint64_t version) {
    for (const EvalColumn& column : eval_columns) column.write(out, eval, version);
}

std::vector<Eval> read_evals(std::string_view bytes) {
    std::vector<Eval> evals;
    for (BinaryReader reader(bytes); !reader.at_end();) {
        Eval eval;
        for (const EvalColumn& column : eval_columns)
            if (column.read != nullptr) column.read(reader, eval);
        evals.push_back(std::move(eval));
    }
    return evals;
}

} // namespace hone::telemetry
