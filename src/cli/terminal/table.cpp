#include "cli/terminal/table.h"

#include "cli/terminal/display.h"

#include <algorithm>
#include <numeric>

namespace hone::cli {

namespace {

constexpr size_t gap = 2;
constexpr size_t least = 8; // a cut column keeps this much

using Widths = std::vector<size_t>;

Widths natural_widths(const std::vector<TableColumn>& columns, const std::vector<std::vector<std::string>>& rows) {
    Widths widths;
    for (size_t i = 0; i < columns.size(); ++i) {
        size_t width = display_width(columns[i].title);
        for (const auto& row : rows) width = std::max(width, display_width(row[i]));
        widths.push_back(width);
    }
    return widths;
}

// Takes from the widest column that may be cut, one column of text at a time, so that the wide ones end up equal.
void shrink(Widths& widths, const std::vector<TableColumn>& columns, size_t available) {
    size_t total = std::accumulate(widths.begin(), widths.end(), gap * (widths.size() - 1));
    while (total > available) {
        size_t* widest = nullptr;
        for (size_t i = 0; i < widths.size(); ++i)
            if (!columns[i].whole && widths[i] > std::max(least, display_width(columns[i].title)) &&
                (widest == nullptr || widths[i] > *widest))
                widest = &widths[i];
        if (widest == nullptr) return;
        --*widest;
        --total;
    }
}

std::string layout_row(const std::vector<TableColumn>& columns, const std::vector<std::string>& cells,
                       const Widths& widths) {
    std::string line;
    for (size_t i = 0; i < cells.size(); ++i) {
        const std::string cell = cut_to_width(cells[i], widths[i]);
        const std::string padding(widths[i] - display_width(cell), ' ');
        if (i > 0) line += std::string(gap, ' ');
        line += columns[i].right ? padding + cell : cell + padding;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    return line;
}

} // namespace

std::vector<std::string> layout_table(const std::vector<TableColumn>& columns,
                                      const std::vector<std::vector<std::string>>& rows, size_t width) {
    if (columns.empty()) return {};
    Widths widths = natural_widths(columns, rows);
    if (width > 0) shrink(widths, columns, width);
    std::vector<std::string> titles, lines;
    for (const auto& column : columns) titles.push_back(column.title);
    lines.push_back(layout_row(columns, titles, widths));
    for (const auto& row : rows) lines.push_back(layout_row(columns, row, widths));
    return lines;
}

} // namespace hone::cli
