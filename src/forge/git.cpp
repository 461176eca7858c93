#include "forge/git.h"

#include "base/log.h"
#include "base/text.h"
#include "sandbox/image/tree.h"
#include "sandbox/image/volume.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

namespace hone::forge {

namespace {

constexpr std::string_view config_inside = "/hone";
constexpr size_t kept_errors = 64 << 10;
constexpr size_t read_step = 256 << 10;
constexpr int64_t export_files = 1000;

// Hold for every job. They come through the environment, so they override a repository's own file, and
// neither the machine's nor a user's file is read. Nothing here lets git start a program that a repository names.
constexpr std::pair<std::string_view, std::string_view> fixed_settings[] = {
    {"safe.directory", "*"},
    {"core.hooksPath", "/dev/null"},
    {"core.fsmonitor", "false"},
    {"core.attributesFile", "/dev/null"},
    {"attr.tree", ".."}, // newer ones read attributes of HEAD in bare repositories; this names no tree at all
    {"core.excludesFile", "/dev/null"},
    {"core.pager", "cat"},
    {"core.editor", "false"},
    {"core.sshCommand", "false"},
    {"core.symlinks", "false"},
    {"core.bigFileThreshold", "16m"}, // larger ones are streamed, never held in memory
    {"credential.helper", ""},
    {"protocol.allow", "never"},
    {"protocol.file.allow", "always"},
    {"gc.auto", "0"},
    {"maintenance.auto", "false"},
    {"receive.autogc", "false"},
    {"submodule.recurse", "false"},
    {"fetch.recurseSubmodules", "false"},
    {"fetch.unpackLimit", "1"}, // packs are what is exported
    {"receive.unpackLimit", "1"},
    {"advice.detachedHead", "false"},
    {"init.defaultBranch", "main"},
};

// Where a job finds what it names by absolute paths. With a mount namespace, under these paths; otherwise in a folder
// of its own on the disk, which is then all that it can write to.
class Places {
public:
    Places(const GitJob& job, std::string root) : m_root(std::move(root)) {
        m_names = {"/workspace", std::string(config_inside)};
        for (const GitMount& mount : job.mounts) m_names.push_back(mount.target);
    }
    const std::string& root() const { return m_root; }
    std::string of(const std::string& word) const {
        if (m_root.empty()) return word;
        constexpr std::string_view option = "--git-dir=";
        if (word.starts_with(option)) return std::string(option) + of(word.substr(option.size()));
        const bool is_place = std::any_of(m_names.begin(), m_names.end(), [&](const std::string& name) {
            return word == name || word.starts_with(name + "/");
        });
        return is_place ? m_root + word : word;
    }

private:
    const std::string m_root; // empty: a root of its own
    std::vector<std::string> m_names;
};

// A bare repository whose objects continue in another one, which it names by a path inside: the same repository with
// that path as it is here.
Result<> make_view(const GitMount& mount, const Places& places) {
    const std::string alternates = "/objects/info/alternates";
    if (!file_exists(mount.source + alternates)) return {};
    const std::string view = places.of(mount.target);
    TRY(make_directories(view + "/objects/info"));
    std::string named;
    const std::string lines = TRY(read_file(mount.source + alternates, 64 << 10));
    for (const std::string_view line : split(lines, '\n'))
        if (!line.empty()) named += places.of(std::string(line)) + "\n";
    TRY(write_file(view + alternates, named));
    // Not a link: git takes one for a reference of an old form.
    TRY(write_file(view + "/HEAD", TRY(read_file(mount.source + "/HEAD", 64 << 10))));
    for (const char* name : {"/config", "/packed-refs", "/refs", "/objects/pack"})
        if (file_exists(mount.source + name) && ::symlink((mount.source + name).c_str(), (view + name).c_str()) != 0)
            return system_error("create " + view + name, errno);
    return {};
}

std::map<std::string, std::string> environment_of(const GitJob& job, const Places& places) {
    std::map<std::string, std::string> environment{
        {"PATH", "/usr/local/bin:/usr/bin:/bin"},
        {"HOME", places.of("/workspace")},
        {"HONE_ROOT", places.root()},
        {"LANG", "C.UTF-8"},
        {"GIT_CONFIG_NOSYSTEM", "1"},
        {"GIT_ATTR_NOSYSTEM", "1"},
        {"GIT_CONFIG_GLOBAL", "/dev/null"},
        {"GIT_TERMINAL_PROMPT", "0"},
        {"GIT_ASKPASS", "false"},
        {"GIT_OPTIONAL_LOCKS", "0"},
    };
    size_t count = 0;
    const auto set = [&](std::string_view name, std::string_view value) {
        environment["GIT_CONFIG_KEY_" + std::to_string(count)] = name;
        environment["GIT_CONFIG_VALUE_" + std::to_string(count)] = value;
        ++count;
    };
    for (const auto& [name, value] : fixed_settings) set(name, value);
    if (job.remote) set("protocol.https.allow", "always");
    for (const auto& [name, value] : job.settings) set(name, value);
    environment["GIT_CONFIG_COUNT"] = std::to_string(count);
    for (const auto& [name, value] : job.environment) environment[name] = places.of(value);
    if (!places.root().empty()) environment["TMPDIR"] = places.root() + "/tmp";
    return environment;
}

sandbox::Command command_of(const GitJob& job, const Places& places, bool open_input) {
    sandbox::Command command;
    if (job.script.empty())
        command.argv = {"/usr/bin/git"};
    else
        command.argv = {"/bin/sh", "-c", job.script, "git"};
    for (const std::string& argument : job.arguments) command.argv.push_back(places.of(argument));
    command.cwd = job.directory;
    command.timeout_ms = std::chrono::duration_cast<std::chrono::milliseconds>(job.limits.time).count();
    command.open_stdin = open_input;
    command.direct_stdout = true; // packs are large and read once: not needed on disk
    return command;
}

sandbox::SandboxSpec spec_of(const GitJob& job) {
    sandbox::SandboxSpec spec;
    spec.limits.value.memory_bytes = job.limits.memory_bytes;
    spec.limits.value.disk_bytes = job.limits.disk_bytes;
    spec.limits.value.output_bytes = job.limits.output_bytes;
    spec.limits.value.pids = int64_t{64};
    spec.limits.value.wall_clock_ms =
        std::chrono::duration_cast<std::chrono::milliseconds>(job.limits.time).count() + 30'000;
    for (const GitMount& mount : job.mounts) spec.mounts.value.push_back({mount.source, mount.target, true});
    spec.labels.value = {{"git", job.remote ? job.remote->purpose : "local"}};
    return spec;
}

// One sandbox with everything that belongs to it; the order of its end is the reverse of its making.
class RunningGit final : public GitProcess {
public:
    RunningGit(const GitJob& job, const sandbox::Store& store, bool mounts_volumes)
        : m_limits(job.limits),
          m_stopped(job.stopped),
          m_export_to(job.export_to),
          m_store(store),
          m_mounts_volumes(mounts_volumes) {}
    ~RunningGit() override {
        m_connection.reset();
        if (m_sandbox) (void)m_sandbox->destroy().ok();
        if (!m_thread.empty()) {
            const auto removed = sandbox::Volumes(m_store, m_mounts_volumes).remove(m_thread);
            if (!removed.ok()) log(Level::warning, "volume of git not removed", {{"why", removed.error().message}});
        }
        for (const std::string& folder : {m_config, m_root})
            if (!folder.empty()) (void)sandbox::remove_tree(folder).ok();
    }

    Result<> begin(sandbox::Provider& provider, GitConnections* connections, const GitJob& job,
                   const std::string& directory, bool open_input) {
        sandbox::SandboxSpec spec = spec_of(job);
        if (!TRY(provider.makes_namespaces())) {
            m_root = directory + "/root-" + make_ulid(SystemClock().now());
            TRY(make_directories(m_root, 0700));
            spec.without_namespaces = m_root;
        }
        const Places places(job, m_root);
        if (!m_root.empty())
            for (const GitMount& mount : job.mounts) TRY(make_view(mount, places));
        if (job.limits.on_disk && m_root.empty()) { // that folder is on disk anyway
            m_thread = "git " + make_ulid(SystemClock().now());
            spec.thread = m_thread;
        }
        sandbox::Command command = command_of(job, places, open_input);
        command.env = environment_of(job, places);
        if (!job.remote) {
            spec.command = command;
            m_sandbox = TRY(provider.start(spec));
        } else {
            if (connections == nullptr) return unavailable("this server cannot reach forges");
            m_config = directory + "/" + make_ulid(SystemClock().now());
            TRY(make_directories(m_config, 0755));
            spec.mounts.value.push_back({m_config, std::string(config_inside), true});
            spec.network = sandbox::NetworkMode::broker;
            spec.keep = true;
            m_sandbox = TRY(provider.start(spec));
            m_connection = TRY(connections->open(*job.remote, TRY(m_sandbox->listeners())));
            TRY(write_file(m_config + "/ca.pem", m_connection->ca_bundle, 0644));
            for (const auto& [name, value] : m_connection->environment) command.env.value[name] = places.of(value);
            m_command = TRY(m_sandbox->execute(command));
        }
        m_out = TRY(m_sandbox->stdout_pipe(m_command));
        if (::fcntl(m_out.get(), F_SETFL, O_NONBLOCK) != 0) return system_error("fcntl", errno);
        if (!open_input) return {};
        m_input = TRY(m_sandbox->input(m_command));
        if (::fcntl(m_input.get(), F_SETFL, O_NONBLOCK) != 0) return system_error("fcntl", errno);
        return {};
    }

    Result<> write(std::string_view bytes) override {
        if (!m_input.is_open()) return conflict("git closed its input");
        const Duration end = SystemClock().steady() + m_limits.time;
        while (!bytes.empty()) {
            const ssize_t written = ::write(m_input.get(), bytes.data(), bytes.size());
            if (written > 0) {
                bytes.remove_prefix(static_cast<size_t>(written));
                continue;
            }
            if (written < 0 && errno == EPIPE) return conflict("git closed its input");
            if (written < 0 && errno != EAGAIN && errno != EINTR) return system_error("write to git", errno);
            if (m_stopped && m_stopped()) return conflict("git was cancelled");
            if (SystemClock().steady() > end) return busy("git took too long to read");
            pollfd polled{m_input.get(), POLLOUT, 0};
            (void)::poll(&polled, 1, 1000);
        }
        return {};
    }

    Result<> close_input() override {
        if (!m_input.is_open()) return {};
        m_input.reset();
        const auto closed = m_sandbox->close_input(m_command);
        // A command that has ended already has no input to close.
        if (!closed.ok() && closed.error().code == Code::unavailable) return closed;
        return {};
    }

    Result<std::string> read() override {
        while (m_out.is_open()) {
            const ssize_t count = ::read(m_out.get(), m_buffer.get(), read_step);
            if (count > 0) {
                m_taken += count;
                if (m_taken > m_limits.output_bytes) return explain(sandbox::LimitHit::output).error();
                return std::string(m_buffer.get(), static_cast<size_t>(count));
            }
            if (count < 0 && errno != EAGAIN && errno != EINTR) return system_error("read from git", errno);
            if (count == 0)
                m_out.reset();
            else
                TRY(await_output());
        }
        return std::string();
    }

    Result<GitOutput> finish() override {
        while (m_out.is_open()) TRY(read());
        TRY(read_errors());
        const sandbox::CommandResult ended = TRY(m_sandbox->wait(m_command, -1));
        for (const sandbox::LimitHit hit : ended.limits_hit) TRY(explain(hit));
        if (ended.error) return unavailable("git could not be started: " + *ended.error);
        if (!ended.exit_code) return unavailable("git was killed by a signal");
        GitOutput output;
        output.exit_code = *ended.exit_code;
        output.err = std::move(m_errors);
        if (output.exit_code == 0 && !m_export_to.empty()) TRY(export_files_out());
        return output;
    }

private:
    // Until there is something to read, or git has ended and left its end of the pipe to another process.
    Result<> await_output() {
        if (m_stopped && m_stopped()) return conflict("git was cancelled");
        pollfd polled{m_out.get(), POLLIN, 0};
        if (::poll(&polled, 1, 1000) != 0) return {};
        const auto ended = m_sandbox->wait(m_command, 0);
        if (!ended.ok() && ended.error().code != Code::busy) return ended.error();
        if (ended.ok() && ::poll(&polled, 1, 0) == 0) m_out.reset();
        return {};
    }

    Result<> read_errors() {
        int64_t offset = 0;
        for (bool finished = false; !finished;) {
            if (m_stopped && m_stopped()) return conflict("git was cancelled");
            const sandbox::Output output = TRY(m_sandbox->output(m_command, offset, 1000));
            offset = output.next;
            finished = output.finished;
            for (const sandbox::Output::Part& part : output.parts)
                if (m_errors.size() < kept_errors) m_errors += part.bytes.substr(0, kept_errors - m_errors.size());
        }
        return {};
    }

    Result<> explain(sandbox::LimitHit hit) const {
        using sandbox::LimitHit;
        const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(m_limits.time).count();
        switch (hit) {
        case LimitHit::timeout:
            return busy(fmt::format("git took longer than {} s", seconds));
        case LimitHit::oom:
            return too_large(fmt::format("git needed over {} MiB memory", m_limits.memory_bytes >> 20));
        case LimitHit::disk:
            return too_large(fmt::format("git needed over {} MiB disk", m_limits.disk_bytes >> 20));
        case LimitHit::output:
            return too_large(fmt::format("git wrote more than {} MiB", m_limits.output_bytes >> 20));
        case LimitHit::pids:
        case LimitHit::audit:
            return {};
        }
        return {};
    }

    Result<> export_files_out() {
        const Fd workspace = TRY(m_sandbox->workspace());
        const Fd out(::openat(workspace.get(), "out", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
        if (!out.is_open()) return system_error("what git left", errno);
        sandbox::ExportLimits limits;
        limits.most_files = export_files;
        limits.most_bytes = limits.most_file_bytes = m_limits.disk_bytes;
        limits.most_depth = 4;
        const sandbox::ExportReport report = TRY(sandbox::export_tree(out.get(), m_export_to, limits));
        if (report.skipped > 0) return too_large("the output of git is too large");
        return {};
    }

    const GitLimits m_limits;
    const std::function<bool()> m_stopped;
    const std::string m_export_to;
    const sandbox::Store& m_store;
    const bool m_mounts_volumes;
    std::string m_config;
    std::string m_root; // without namespaces
    std::string m_thread;
    std::unique_ptr<sandbox::Sandbox> m_sandbox;
    std::unique_ptr<GitConnection> m_connection;
    int64_t m_command = 0;
    Fd m_input;
    Fd m_out;
    const std::unique_ptr<char[]> m_buffer{new char[read_step]}; // never cleared before a read
    int64_t m_taken = 0;
    std::string m_errors;
};

Result<std::unique_ptr<RunningGit>> begin(sandbox::Provider& provider, const sandbox::Store& store,
                                          GitConnections* connections, const GitOptions& options, const GitJob& job,
                                          bool open_input) {
    auto git = std::make_unique<RunningGit>(job, store, options.mounts_volumes);
    TRY(git->begin(provider, connections, job, options.directory, open_input));
    return git;
}

} // namespace

Result<std::unique_ptr<GitProcess>> Git::start(const GitJob& job) const {
    std::unique_ptr<GitProcess> process = TRY(begin(m_provider, m_store, m_connections, m_options, job, true));
    return process;
}

Result<GitOutput> Git::run(const GitJob& job) const {
    const auto git = TRY(begin(m_provider, m_store, m_connections, m_options, job, !job.input.empty()));
    if (!job.input.empty()) {
        const auto written = git->write(job.input);
        if (!written.ok() && written.error().code != Code::conflict) return written.error();
        TRY(git->close_input());
    }
    std::string out;
    for (;;) {
        const std::string piece = TRY(git->read());
        if (piece.empty()) break;
        out += piece;
    }
    GitOutput output = TRY(git->finish());
    output.out = std::move(out);
    return output;
}

bool is_object_name(std::string_view text) {
    return (text.size() == 40 || text.size() == 64) &&
           text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

bool is_ref_name(std::string_view name) {
    if (name.empty() || name.size() > 250 || !is_valid_utf8(name)) return false;
    if (name.front() == '-' || name.front() == '/' || name.back() == '/' || name.back() == '.') return false;
    for (const char c : name)
        if (static_cast<unsigned char>(c) <= 0x20 || c == 0x7f ||
            std::string_view("~^:?*[\\").find(c) != std::string_view::npos)
            return false;
    if (name == "@" || name.find("..") != std::string_view::npos || name.find("@{") != std::string_view::npos)
        return false;
    const auto parts = split(name, '/');
    return std::none_of(parts.begin(), parts.end(), [](std::string_view part) {
        return part.empty() || part.front() == '.' || part.front() == '-' || part.ends_with(".lock");
    });
}

} // namespace hone::forge
