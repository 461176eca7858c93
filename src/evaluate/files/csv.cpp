#include "evaluate/files/csv.h"

namespace hone::evaluate {

Result<> CsvReader::add(std::string_view bytes) {
    constexpr std::string_view mark = "\xef\xbb\xbf";
    for (const char letter : bytes) {
        if (!m_has_begun) {
            if (letter == mark[m_mark]) {
                if (++m_mark < mark.size()) continue;
                m_has_begun = true;
                continue;
            }
            m_has_begun = true;
            for (size_t i = 0; i < m_mark; ++i) TRY(add(mark[i]));
        }
        TRY(add(letter));
    }
    return {};
}

Result<> CsvReader::add(char letter) {
    if (letter == '\0') return invalid("row " + std::to_string(m_row) + " contains a NUL");
    if (++m_row_bytes > m_largest_row) return invalid("row " + std::to_string(m_row) + " is too long");
    if (std::exchange(m_after_return, false) && letter == '\n') return {}; // the row ended with the \r
    switch (m_state) {
    case State::quoted:
        if (letter == '"')
            m_state = State::quote_in_quoted;
        else
            m_cell += letter;
        return {};
    case State::quote_in_quoted:
        if (letter == '"') {
            m_cell += letter;
            m_state = State::quoted;
            return {};
        }
        m_state = State::plain;
        break;
    case State::cell_start:
        if (letter == '"') {
            m_state = State::quoted;
            return {};
        }
        m_state = State::plain;
        break;
    case State::plain:
        break;
    }
    if (letter == ',') {
        end_cell();
        return {};
    }
    if (letter == '\n' || letter == '\r') {
        m_after_return = letter == '\r';
        return end_row();
    }
    m_cell += letter;
    return {};
}

void CsvReader::end_cell() {
    m_cells.push_back(std::move(m_cell));
    m_cell = {};
    m_state = State::cell_start;
}

Result<> CsvReader::end_row() {
    const bool is_blank = m_cells.empty() && m_cell.empty();
    end_cell();
    m_row_bytes = 0;
    if (!is_blank) TRY(m_take(m_cells, m_row));
    m_cells.clear();
    ++m_row;
    return {};
}

Result<> CsvReader::finish() {
    if (m_state == State::quoted) return invalid("row " + std::to_string(m_row) + " has a quote without an end");
    if (!m_cells.empty() || !m_cell.empty() || m_state == State::quote_in_quoted) TRY(end_row());
    return {};
}

std::string quote_csv(std::string_view text) {
    if (text.find_first_of(",\"\r\n") == text.npos) return std::string(text);
    std::string quoted = "\"";
    for (const char letter : text) {
        if (letter == '"') quoted += '"';
        quoted += letter;
    }
    return quoted + "\"";
}

} // namespace hone::evaluate
