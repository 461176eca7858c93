// Rows of CSV and JSON lines as examples, and examples as rows. Which columns are input, output and metadata is given,
// or guessed from their names. One thread; bounded.
#pragma once

#include "evaluate/datasets/dataset.h"
#include "evaluate/files/csv.h"

#include <functional>

namespace hone::evaluate {

enum class FileFormat { csv, jsonl };
constexpr auto enum_names(FileFormat) {
    return std::array{EnumName{FileFormat::csv, "csv"}, EnumName{FileFormat::jsonl, "jsonl"}};
}

// Columns by their meaning. Without any of input, output and metadata they are guessed: `input`, `output` and
// `metadata` or columns that begin with `input.`; else a last column named like a correct answer is the output and the
// others are the input. `id` is the id of the example, `split` or `splits` its splits.
struct ColumnNames {
    std::vector<std::string> input{}, output{}, metadata{}, splits{};
    std::vector<std::string> flatten{}; // objects whose members stand for themselves
    std::string example_id{};
    std::string span_id{};

    bool is_guessed() const { return input.empty() && output.empty() && metadata.empty(); }
};

class ExampleReader {
public:
    using Take = std::function<Result<>(NewExample example)>;
    ExampleReader(FileFormat format, ColumnNames names, Take take);

    Result<> add(std::string_view bytes);
    Result<> finish();
    // Whether a column of splits was there.
    bool has_splits() const { return m_has_splits; }

private:
    Result<> take_header(std::vector<std::string>& cells);
    Result<> take_cells(std::vector<std::string>& cells, int64_t row);
    Result<> take_line(std::string_view line);
    Result<> take_row(json::Object row, const std::string& where);
    void guess(const std::vector<std::string>& columns);

    const FileFormat m_format;
    ColumnNames m_names;
    const bool m_is_guessed;
    const Take m_take;
    CsvReader m_csv;
    std::vector<std::string> m_header;
    std::string m_line;
    int64_t m_line_number = 0;
    bool m_has_splits = false;
};

// {"a.b": 1} as {"a": {"b": 1}}; texts that are JSON objects or lists become these.
Result<json::Object> unflatten(const json::Object& flat);
// {"a": {"b": 1}} as {"prefix.a.b": 1}; lists are JSON texts.
void flatten_into(const json::Value& value, const std::string& prefix,
                  std::vector<std::pair<std::string, std::string>>& cells);

} // namespace hone::evaluate
