#include "sandbox/provider/spec.h"

#include "base/text.h"

#include <algorithm>

namespace hone::sandbox {

namespace {

constexpr int64_t longest_life_ms = 24 * 3'600'000;

bool is_letter_or_digit(char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || (letter >= '0' && letter <= '9');
}

Result<> check_range(std::string_view name, int64_t value, int64_t least, int64_t most) {
    if (value >= least && value <= most) return {};
    return invalid(std::string(name) + " must be between " + std::to_string(least) + " and " + std::to_string(most));
}

Result<> check_environment(const std::map<std::string, std::string>& environment) {
    for (const auto& [name, value] : environment) {
        if (!is_environment_name(name))
            return invalid("env: not a variable name: " + quote_json(truncate_utf8(name, 60)));
        if (value.find('\0') != std::string::npos) return invalid("env." + name + " contains a NUL");
    }
    return {};
}

Result<> check_limits(const Limits& limits) {
    constexpr int64_t kib = 1024, tib = int64_t{1} << 40;
    TRY(check_range("limits.memory_bytes", limits.memory_bytes, 4096 * kib, 64 * tib));
    TRY(check_range("limits.pids", limits.pids, 1, 1 << 20));
    TRY(check_range("limits.open_files", limits.open_files, 16, 1 << 20));
    TRY(check_range("limits.disk_bytes", limits.disk_bytes, 64 * kib, 64 * tib));
    TRY(check_range("limits.disk_inodes", limits.disk_inodes, 64, int64_t{1} << 32));
    TRY(check_range("limits.io_bytes_per_second", limits.io_bytes_per_second, 0, tib));
    if (*limits.io_bytes_per_second > 0 && *limits.io_bytes_per_second < 64 * kib)
        return invalid("limits.io_bytes_per_second must be 0 or at least 65536");
    TRY(check_range("limits.output_bytes", limits.output_bytes, 0, tib));
    TRY(check_range("limits.output_window_bytes", limits.output_window_bytes, 0, tib));
    TRY(check_range("limits.wall_clock_ms", limits.wall_clock_ms, 1, longest_life_ms));
    if (!(limits.cpus.value >= 0.01 && limits.cpus.value <= 4096))
        return invalid("limits.cpus must be between 0.01 and 4096");
    return {};
}

} // namespace

bool is_environment_name(std::string_view name) {
    if (name.empty() || name.size() > 128 || (name[0] >= '0' && name[0] <= '9')) return false;
    return std::all_of(name.begin(), name.end(),
                       [](char letter) { return is_letter_or_digit(letter) || letter == '_'; });
}

bool is_clean_absolute_path(std::string_view path) {
    if (path.empty() || path[0] != '/' || path.size() > 4095 || path.find('\0') != std::string_view::npos) return false;
    if (path == "/") return true;
    for (const std::string_view part : split(path.substr(1), '/'))
        if (part.empty() || part == "." || part == ".." || part.size() > 255) return false;
    return true;
}

bool is_plain_name(std::string_view name) {
    if (name.empty() || name.size() > 128 || name[0] == '.' || name[0] == '-') return false;
    return std::all_of(name.begin(), name.end(), [](char letter) {
        return is_letter_or_digit(letter) || letter == '.' || letter == '_' || letter == '-';
    });
}

Result<> validate(const Command& command) {
    if (command.argv.empty() || command.argv[0].empty()) return invalid("command.argv must name a program");
    size_t bytes = 0;
    for (const std::string& argument : command.argv) {
        if (argument.find('\0') != std::string::npos) return invalid("command.argv contains a NUL");
        bytes += argument.size() + 1;
    }
    if (bytes > 1 << 20 || command.argv.size() > 10'000)
        return too_large("command.argv is over 1 MiB or 10000 arguments");
    TRY(check_environment(command.env));
    if (!is_clean_absolute_path(command.cwd.value)) return invalid("command.cwd must be a clean absolute path");
    TRY(check_range("command.timeout_ms", command.timeout_ms, 0, longest_life_ms));
    if (command.pty && command.direct_stdout) return invalid("command.direct_stdout is not for terminals");
    TRY(check_range("command.rows", command.rows, 1, 10'000));
    return check_range("command.columns", command.columns, 1, 10'000);
}

Result<> validate(const SandboxSpec& spec) {
    TRY(check_limits(*spec.limits));
    TRY(check_environment(*spec.env));
    if (spec.command) TRY(validate(*spec.command));
    if (!spec.command && !spec.keep) return invalid("a sandbox without a command needs keep");
    if (!is_plain_name(spec.root.value) && !is_clean_absolute_path(spec.root.value))
        return invalid("root must be host, the name of an image, or a clean absolute path");
    for (const std::string& layer : *spec.layers)
        if (!is_plain_name(layer)) return invalid("layers: not a layer: " + quote_json(truncate_utf8(layer, 60)));
    if (spec.layers.value.size() > 16) return invalid("layers: at most 16");
    if (spec.mounts.value.size() > 64) return invalid("mounts: at most 64");
    for (const Mount& mount : *spec.mounts) {
        if (!is_clean_absolute_path(mount.source) || mount.source == "/")
            return invalid("mounts: source must be a clean absolute path");
        if (!is_clean_absolute_path(mount.target) || mount.target == "/")
            return invalid("mounts: target must be a clean absolute path");
        for (const std::string_view kept : {"/proc", "/dev"})
            if (mount.target == kept || mount.target.starts_with(std::string(kept) + "/"))
                return invalid("mounts: nothing may be mounted on " + std::string(kept));
    }
    if (spec.thread && (spec.thread->empty() || spec.thread->size() > 4096))
        return invalid("thread must be 1 to 4096 bytes");
    if (spec.capture && !is_clean_absolute_path(*spec.capture)) return invalid("capture must be a clean absolute path");
    if (spec.without_namespaces) {
        if (!is_clean_absolute_path(*spec.without_namespaces) || spec.without_namespaces == "/")
            return invalid("without_namespaces must be a clean absolute path");
        if (spec.capture || spec.thread || !spec.layers.value.empty() || *spec.root != "host" ||
            *spec.minimum_tier != Tier::ns)
            return invalid("without_namespaces is for programs of this machine, without layers, volumes and tiers");
    }
    if (spec.thread && spec.capture) return invalid("a layer is built without a thread");
    if (spec.keep_home && !spec.thread) return invalid("keep_home needs a thread");
    return {};
}

} // namespace hone::sandbox
