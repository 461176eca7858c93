#include "telemetry/cluster/cluster_sql.h"

#include <algorithm>
#include <string_view>

namespace hone::telemetry {

namespace {

// Before the name of what is defined.
constexpr std::string_view words_before_name[] = {"CREATE", "ALTER", "DROP", "OR",  "REPLACE", "DATABASE", "TABLE",
                                                  "VIEW",   "ROW",   "IF",   "NOT", "EXISTS",  "POLICY"};

std::string quoted_name(std::string_view name) {
    std::string out = "`";
    for (const char letter : name) {
        if (letter == '`' || letter == '\\') out += '\\';
        out += letter;
    }
    return out + "`";
}

} // namespace

std::string on_cluster(const std::string& statement, const std::string& cluster) {
    if (cluster.empty()) return statement;
    size_t end = 0;
    for (size_t begin = 0; begin < statement.size(); begin = end + 1) {
        end = std::min(statement.find(' ', begin), statement.size());
        const std::string_view word = std::string_view(statement).substr(begin, end - begin);
        if (std::ranges::find(words_before_name, word) == std::end(words_before_name)) break;
    }
    std::string made = statement;
    // Path and replica are those that the servers have as default: they name the table and the shard.
    constexpr std::string_view engine = "ENGINE = ";
    if (const size_t at = made.find(engine); at != made.npos && statement.starts_with("CREATE TABLE"))
        made.insert(at + engine.size(), "Replicated");
    made.insert(std::min(end, made.size()), " ON CLUSTER " + quoted_name(cluster));
    return made;
}

} // namespace hone::telemetry
