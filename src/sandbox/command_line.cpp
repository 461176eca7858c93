#include "sandbox/command_line.h"

#include "base/log.h"
#include "base/text.h"
#include "crypto/crypto.h"
#include "sandbox/audit.h"
#include "sandbox/local_provider.h"
#include "sandbox/spawner.h"

#include <cerrno>
#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <fcntl.h>
#include <iostream>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

namespace hone::sandbox {

namespace {

// As sysexits and shells have them: the tool itself failed, so that 1 to 125 stay the command's own.
constexpr int exit_refused = 125;

std::string default_data_directory() {
    const auto variable = [](const char* name) {
        return std::string(std::getenv(name) == nullptr ? "" : std::getenv(name));
    };
    if (const std::string given = variable("HONE_DATA_DIR"); !given.empty()) return given;
    if (::geteuid() == 0) return "/var/lib/hone";
    if (const std::string base = variable("XDG_DATA_HOME"); !base.empty()) return base + "/hone";
    return variable("HOME") + "/.local/share/hone";
}

int fail(const Error& error) {
    std::fprintf(stderr, "hone: %s\n", error.message.c_str());
    return exit_refused;
}

struct RunOptions {
    std::string data_directory = default_data_directory();
    std::string memory, cpus, timeout, wall_clock, pids, disk, inodes, output, open_files,
        network = "none", image, init_script, thread, tier, cwd;
    std::vector<std::string> environment, mounts, command, labels;
    bool json = false, pty = false, stdin_open = false, allow_ptrace = false, detach = false, require_cgroup = false;
};

Result<> set_bytes(const std::string& text, Defaulted<int64_t>& into) {
    if (!text.empty()) into = TRY(parse_bytes(text));
    return {};
}
Result<> set_integer(const std::string& text, Defaulted<int64_t>& into) {
    if (!text.empty()) into = TRY(parse_integer(text));
    return {};
}
Result<> set_duration(const std::string& text, Defaulted<int64_t>& into) {
    if (!text.empty()) into = TRY(parse_duration_ns(text)) / 1'000'000;
    return {};
}

Result<Mount> parse_mount(const std::string& text) {
    const auto parts = split(text, ':');
    if (parts.size() < 2 || parts.size() > 3 || (parts.size() == 3 && parts[2] != "rw" && parts[2] != "ro"))
        return invalid("--mount takes SOURCE:TARGET or SOURCE:TARGET:rw");
    Mount mount{std::string(parts[0]), std::string(parts[1]), true};
    mount.read_only = !(parts.size() == 3 && parts[2] == "rw");
    return mount;
}

Result<std::map<std::string, std::string>> parse_pairs(const std::vector<std::string>& texts, const char* option) {
    std::map<std::string, std::string> pairs;
    for (const std::string& text : texts) {
        const size_t equals = text.find('=');
        if (equals == std::string::npos) return invalid(std::string(option) + " takes NAME=VALUE");
        pairs[text.substr(0, equals)] = text.substr(equals + 1);
    }
    return pairs;
}

Result<SandboxSpec> make_spec(const RunOptions& options) {
    SandboxSpec spec;
    Limits limits;
    TRY(set_bytes(options.memory, limits.memory_bytes));
    TRY(set_bytes(options.disk, limits.disk_bytes));
    TRY(set_bytes(options.output, limits.output_bytes));
    TRY(set_integer(options.pids, limits.pids));
    TRY(set_integer(options.inodes, limits.disk_inodes));
    TRY(set_integer(options.open_files, limits.open_files));
    TRY(set_duration(options.wall_clock, limits.wall_clock_ms));
    limits.require_cgroup = options.require_cgroup;
    if (!options.cpus.empty()) {
        try {
            limits.cpus = std::stod(options.cpus);
        } catch (const std::exception&) {
            return invalid("--cpus takes a number");
        }
    }
    spec.limits = limits;
    if (!options.image.empty()) spec.root = options.image;
    const auto network = parse_enum<NetworkMode>(options.network);
    if (!network) return invalid("--network takes none or broker");
    spec.network = *network;
    if (!options.tier.empty()) {
        const auto tier = parse_enum<Tier>(options.tier);
        if (!tier) return invalid("--tier takes ns or gvisor");
        spec.minimum_tier = *tier;
    }
    for (const std::string& text : options.mounts) spec.mounts.value.push_back(TRY(parse_mount(text)));
    spec.env = TRY(parse_pairs(options.environment, "--env"));
    spec.labels = TRY(parse_pairs(options.labels, "--label"));
    if (!options.thread.empty()) spec.thread = options.thread;
    spec.allow_ptrace = options.allow_ptrace;
    spec.detached = options.detach;
    Command command;
    command.argv = options.command;
    if (!options.cwd.empty()) command.cwd = options.cwd;
    TRY(set_duration(options.timeout, command.timeout_ms));
    command.pty = options.pty;
    command.open_stdin = options.stdin_open;
    winsize size{};
    if (options.pty && ::ioctl(0, TIOCGWINSZ, &size) == 0 && size.ws_row > 0) {
        command.rows = int64_t{size.ws_row};
        command.columns = int64_t{size.ws_col};
    }
    if (!command.argv.empty()) spec.command = command;
    if (command.argv.empty()) spec.keep = true;
    return spec;
}

// Copies our input to the command's until one side ends; in a child process, because reading a terminal blocks.
pid_t forward_input(const Fd& input) {
    const pid_t pid = ::fork();
    if (pid != 0) return pid;
    char buffer[65536];
    for (ssize_t count; (count = ::read(0, buffer, sizeof buffer)) > 0;)
        if (!write_all(input.get(), std::string_view(buffer, static_cast<size_t>(count))).ok()) break;
    ::_exit(0);
}

class RawTerminal {
public:
    explicit RawTerminal(bool wanted) {
        if (!wanted || ::tcgetattr(0, &m_before) != 0) return;
        termios raw = m_before;
        ::cfmakeraw(&raw);
        m_changed = ::tcsetattr(0, TCSANOW, &raw) == 0;
    }
    ~RawTerminal() {
        if (m_changed) ::tcsetattr(0, TCSANOW, &m_before);
    }
    RawTerminal(const RawTerminal&) = delete;
    RawTerminal& operator=(const RawTerminal&) = delete;

private:
    termios m_before{};
    bool m_changed = false;
};

// Shows a command's output until its end.
Result<CommandResult> follow(Sandbox& sandbox, int64_t number, const Command& command, json::Object* captured) {
    const RawTerminal terminal(command.pty && ::isatty(0));
    Fd input;
    pid_t forwarder = 0;
    if (command.pty || command.open_stdin) {
        // The terminal exists a moment after the command was asked for.
        auto opened = sandbox.input(number);
        for (int i = 0; i < 200 && !opened.ok() && opened.error().code == Code::conflict; ++i) {
            if (sandbox.wait(number, 10).ok()) break;
            opened = sandbox.input(number);
        }
        if (opened.ok()) {
            input = std::move(opened).value();
            forwarder = forward_input(input);
            input.reset();
        }
    }
    std::string text[2];
    bool input_open = forwarder > 0;
    int64_t offset = 0;
    Result<> failed;
    for (bool finished = false; !finished;) {
        auto output = sandbox.output(number, offset, input_open ? 50 : 3'600'000);
        if (!output.ok()) {
            failed = std::move(output).error();
            break;
        }
        for (const Output::Part& part : output.value().parts) {
            const int target = part.stream == Stream::out ? 1 : 2;
            if (captured != nullptr)
                text[target - 1] += part.bytes;
            else if (!write_all(target, part.bytes).ok())
                failed = unavailable("nobody reads the output");
        }
        offset = output.value().next;
        finished = output.value().finished || !failed.ok();
        if (input_open && ::waitpid(forwarder, nullptr, WNOHANG) == forwarder) {
            input_open = false;
            if (!command.pty) (void)sandbox.close_input(number).ok();
        }
    }
    if (input_open) {
        ::kill(forwarder, SIGKILL);
        ::waitpid(forwarder, nullptr, 0);
    }
    TRY(failed);
    if (captured != nullptr) {
        (*captured)["stdout"] = repair_utf8(text[0]);
        (*captured)["stderr"] = repair_utf8(text[1]);
    }
    return sandbox.wait(number, -1);
}

int exit_status(const CommandResult& result) {
    if (result.error) {
        std::fprintf(stderr, "hone: %s\n", result.error->c_str());
        return 127;
    }
    if (!result.limits_hit.empty()) {
        std::string names;
        for (const LimitHit limit : result.limits_hit) names += " " + std::string(name_of(limit));
        std::fprintf(stderr, "hone: limit reached:%s\n", names.c_str());
    }
    if (result.exit_code) return static_cast<int>(*result.exit_code);
    return result.signal ? 128 + static_cast<int>(*result.signal) : exit_refused;
}

int run(const RunOptions& options) {
    auto spec = make_spec(options);
    if (!spec.ok()) return fail(spec.error());
    auto provider = open_local_provider({options.data_directory, ""});
    if (!provider.ok()) return fail(provider.error());
    auto started = provider.value()->start(spec.value());
    if (!started.ok()) return fail(started.error());
    Sandbox& sandbox = *started.value();
    if (options.detach) {
        std::printf("%s\n", sandbox.id().text().c_str());
        return 0;
    }
    json::Object printed;
    auto result = follow(sandbox, 0, *spec.value().command, options.json ? &printed : nullptr);
    auto stopped = sandbox.wait_stopped(-1);
    const Result<> destroyed = sandbox.destroy();
    if (!result.ok()) return fail(result.error());
    if (!stopped.ok()) return fail(stopped.error());
    if (!destroyed.ok()) return fail(destroyed.error());
    if (options.json) {
        printed["sandbox"] = json::to_value(stopped.value());
        printed["result"] = json::to_value(result.value());
        std::fputs(json::print_pretty(printed).c_str(), stdout);
        return result.value().exit_code ? static_cast<int>(*result.value().exit_code) : exit_status(result.value());
    }
    return exit_status(result.value());
}

} // namespace

int spawner_main(int argc, char** argv) {
    std::string data_directory;
    int socket = -1;
    CLI::App app("Makes sandboxes for the server that started it.");
    app.add_option("--data-dir", data_directory)->required();
    app.add_option("--socket", socket)->required();
    CLI11_PARSE(app, argc - 1, argv + 1);
    crypto::start();
    ::fcntl(socket, F_SETFD, FD_CLOEXEC);
    Channel client{Fd(socket)};
    auto spawner = Spawner::open(data_directory);
    if (!spawner.ok()) {
        // Every request gets the reason: refusing is the only way to go on.
        while (client.receive().ok())
            if (!client.send(json::write(refusal<SpawnerReply>(spawner.error()))).ok()) break;
        return 1;
    }
    spawner.value().serve(std::move(client));
    return 0;
}

int shim_main(int argc, char** argv) {
    std::string data_directory = default_data_directory();
    CLI::App app("Keeps one sandbox without a server; the spec is read from stdin as JSON.");
    app.add_option("--data-dir", data_directory);
    CLI11_PARSE(app, argc - 1, argv + 1);
    crypto::start();
    const std::string text(std::istreambuf_iterator<char>(std::cin), {});
    auto spec = json::read<SandboxSpec>(text);
    if (!spec.ok()) return fail(spec.error());
    spec.value().detached = true;
    auto spawner = Spawner::open(data_directory);
    if (!spawner.ok()) return fail(spawner.error());
    auto birth = spawner.value().conceive(spec.value());
    auto pair = Channel::make_pair();
    if (!birth.ok()) return fail(birth.error());
    if (!pair.ok()) return fail(pair.error());
    birth.value().creator = std::move(pair.value().second);
    const std::string id = birth.value().journal.id.text();
    const pid_t pid = ::fork();
    if (pid == 0) run_shim(std::move(birth).value());
    if (pid < 0) return fail(system_error("fork the shim", errno));
    auto answer = pair.value().first.receive();
    if (!answer.ok()) return fail(answer.error());
    const auto reply = json::read<ShimReply>(answer.value().text);
    if (!reply.ok()) return fail(reply.error());
    if (reply.value().code) return fail(error_of(reply.value()));
    std::printf("%s\n", id.c_str());
    return 0;
}

int sandbox_cli_main(int argc, char** argv) {
    crypto::start();
    RunOptions options;
    CLI::App app("Sandboxes of this machine; no server needed.");
    app.require_subcommand(1);
    CLI::App* run_command = app.add_subcommand("run", "Run a command in a fresh sandbox.");
    run_command->add_option("--data-dir", options.data_directory);
    run_command->add_option("--memory", options.memory, "Memory, like 512m.");
    run_command->add_option("--cpus", options.cpus, "Processors, like 1.5.");
    run_command->add_option("--timeout", options.timeout, "End the command after this long, like 30s.");
    run_command->add_option("--wall-clock", options.wall_clock, "End the sandbox after this long.");
    run_command->add_option("--pids", options.pids, "Processes and threads at once.");
    run_command->add_option("--open-files", options.open_files, "Open files of one process.");
    run_command->add_option("--disk", options.disk, "Bytes that may be written, like 100m.");
    run_command->add_option("--inodes", options.inodes, "Files that may be made.");
    run_command->add_option("--output", options.output, "Bytes of output.");
    run_command->add_option("--network", options.network, "none or broker.");
    run_command->add_option("--image", options.image, "Image or directory to use as root.");
    run_command->add_option("--tier", options.tier, "Weakest wall that will do: ns or gvisor.");
    run_command->add_option("--env", options.environment, "NAME=VALUE.");
    run_command->add_option("--label", options.labels, "NAME=VALUE for the audit log.");
    run_command->add_option("--mount", options.mounts, "SOURCE:TARGET, read-only, or SOURCE:TARGET:rw.");
    run_command->add_option("--thread", options.thread, "Thread whose files to use as /workspace.");
    run_command->add_option("--cwd", options.cwd, "Working directory inside.");
    run_command->add_flag("--json", options.json, "Print the result as JSON.");
    run_command->add_flag("--pty", options.pty, "Give it a terminal.");
    run_command->add_flag("--stdin,-i", options.stdin_open, "Pass our input on.");
    run_command->add_flag("--allow-ptrace", options.allow_ptrace, "Let processes inside debug each other.");
    run_command->add_flag("--detach", options.detach, "Leave it running and print its id.");
    run_command->add_flag("--require-cgroup", options.require_cgroup, "Refuse where only rlimits keep the limits.");
    run_command->add_option("command", options.command, "Program and arguments, after --.");
    CLI11_PARSE(app, argc - 1, argv + 1);
    if (*run_command) return run(options);
    return 0;
}

} // namespace hone::sandbox
