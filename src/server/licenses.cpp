#include "server/licenses.h"

#include "base/text.h"

namespace hone::server {

std::vector<api::LicenseView> read_licenses(std::string_view document) {
    std::vector<api::LicenseView> found;
    document = document.substr(0, document.find("## For building"));
    for (const std::string_view line : split(document, '\n')) {
        // "| name | purpose | included by | license |"
        const auto cells = split(line, '|');
        if (cells.size() != 6) continue;
        const std::string_view name = trim(cells[1]);
        if (name == "name" || name.starts_with("---")) continue;
        found.push_back({std::string(name), std::string(trim(cells[2])), std::string(trim(cells[4]))});
    }
    return found;
}

} // namespace hone::server
