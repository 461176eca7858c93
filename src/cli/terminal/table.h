// Rows and columns for people. Columns are aligned by what a terminal shows, not by bytes; on a terminal the widest
// ones are cut until the row fits, but never a column of ids. Pure functions, any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hone::cli {

struct TableColumn {
    std::string title;
    bool whole = false; // never cut
    bool right = false; // numbers
};

// `width`: columns of the terminal; 0: as wide as it takes. Cells are safe one-line text. The first line is the titles.
std::vector<std::string> layout_table(const std::vector<TableColumn>& columns,
                                      const std::vector<std::vector<std::string>>& rows, size_t width);

} // namespace hone::cli
