#include "server/demo/demo_progress.h"

#include "base/file.h"
#include "json/json.h"

namespace hone::server {

namespace {

std::string path_of(const std::string& data_directory) {
    return data_directory + "/demo.json";
}

} // namespace

Result<std::optional<DemoProgress>> read_demo_progress(const std::string& data_directory) {
    const std::string path = path_of(data_directory);
    if (!file_exists(path)) return std::optional<DemoProgress>();
    const auto read = json::read<DemoProgress>(TRY(read_file(path, 1 << 12)));
    if (!read.ok()) return corrupt(path + ": " + read.error().message + "; use a new --data-dir");
    return std::optional(read.value());
}

Result<> write_demo_progress(const std::string& data_directory, const DemoProgress& progress) {
    return write_file(path_of(data_directory), json::write(progress) + "\n");
}

uint16_t demo_model_port(const std::string& data_directory) {
    const auto progress = read_demo_progress(data_directory);
    if (!progress.ok() || !progress.value()) return 0; // a file that cannot be read is reported when the demo opens
    const int64_t port = progress.value()->model_port.value_or(0);
    return port > 0 && port <= UINT16_MAX ? static_cast<uint16_t>(port) : 0;
}

Result<std::optional<run::Run>> find_demo_run(const run::Runs& runs, const access::SpaceId& space,
                                              const std::string& title) {
    run::RunFilter filter;
    filter.title = title;
    auto found = TRY(runs.list(access::Caller::system(), space, filter, {.limit = 1, .cursor = {}})).data;
    if (found.empty()) return std::optional<run::Run>();
    return std::optional(std::move(found.front()));
}

} // namespace hone::server
