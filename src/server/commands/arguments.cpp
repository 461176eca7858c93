#include "server/commands/arguments.h"

#include "base/text.h"
#include "json/json.h"

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace hone::server {

bool wants_json(int argc, char** argv) {
    for (int i = 1; i < argc; ++i)
        if (std::string_view(argv[i]) == "--json") return true;
    return false;
}

bool wants_help(int argc, char** argv) {
    for (int i = 1; i < argc; ++i)
        if (const std::string_view argument = argv[i]; argument == "--help" || argument == "-h") return true;
    return false;
}

std::optional<std::string> environment(const std::string& name) {
    const char* value = std::getenv(name.c_str());
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

int report_failure(const Error& error, bool as_json) {
    const int exit = error.code == Code::invalid ? 2 : 1;
    if (as_json) {
        const json::Object inner{
            {"code", code_name(error.code)}, {"message", repair_utf8(error.message)}, {"exit", exit}};
        std::fprintf(stderr, "%s\n", json::print(json::Object{{"error", inner}}).c_str());
        return exit;
    }
    std::fprintf(stderr, "error: %s\n", error.message.c_str());
    if (!error.trail.empty()) std::fprintf(stderr, "  %s\n", error.trail.c_str());
    return exit;
}

telemetry::ClickHouseOptions clickhouse_options(const config::Config& config) {
    telemetry::ClickHouseOptions options;
    options.url = config.clickhouse_url;
    options.user = config.clickhouse_user;
    options.password = config.clickhouse_password;
    options.ca_file = config.clickhouse_ca_file;
    options.reader_user = config.clickhouse_reader_user;
    options.reader_password = config.clickhouse_reader_password;
    options.cluster = config.clickhouse_cluster;
    return options;
}

} // namespace hone::server
