// CSV text, cut into rows while it arrives: commas, quotes with doubled quotes and line breaks inside, LF or CRLF. One
// thread; bounded by the largest row. Fuzzed.
#pragma once

#include "base/result.h"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace hone::evaluate {

class CsvReader {
public:
    // `row` is called for each row with its number from 1; an error ends the reading.
    using Take = std::function<Result<>(std::vector<std::string>& cells, int64_t row)>;
    explicit CsvReader(Take take, size_t largest_row = 8 << 20) : m_take(std::move(take)), m_largest_row(largest_row) {}

    Result<> add(std::string_view bytes);
    Result<> finish();

private:
    enum class State { cell_start, plain, quoted, quote_in_quoted };
    Result<> add(char letter);
    void end_cell();
    Result<> end_row();

    const Take m_take;
    const size_t m_largest_row;
    State m_state = State::cell_start;
    std::vector<std::string> m_cells;
    std::string m_cell;
    size_t m_row_bytes = 0;
    int64_t m_row = 1;
    size_t m_mark = 0; // bytes of a byte order mark that were read
    bool m_has_begun = false;
    bool m_after_return = false;
};

// A cell as CSV has it.
std::string quote_csv(std::string_view text);

} // namespace hone::evaluate
