#include "sandbox/local/commands.h"

#include "base/file.h"
#include "base/text.h"
#include "sandbox/image/image.h"
#include "sandbox/image/layer.h"
#include "sandbox/image/unpack.h"
#include "sandbox/image/volume.h"
#include "sandbox/local/local_provider.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

namespace hone::sandbox {

namespace {

// As sysexits and shells have them: the tool itself failed, so that 1 to 125 stay the command's own.
constexpr int exit_refused = 125;

int fail(const Error& error) {
    std::fprintf(stderr, "hone: %s\n", error.message.c_str());
    return exit_refused;
}

LocalOptions without_server(const std::string& data_directory) {
    LocalOptions options;
    options.data_directory = data_directory;
    options.spawner = SpawnerKind::inside;
    return options;
}

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

Result<double> parse_processors(const std::string& text) {
    char* end = nullptr;
    const double number = std::strtod(text.c_str(), &end);
    if (end == text.c_str() || *end != 0) return invalid("--cpus takes a number, like 1.5");
    return number;
}

Result<SandboxSpec> make_spec(const RunOptions& options) {
    SandboxSpec spec;
    Limits limits;
    TRY(set_bytes(options.memory, limits.memory_bytes));
    TRY(set_bytes(options.disk, limits.disk_bytes));
    TRY(set_bytes(options.io, limits.io_bytes_per_second));
    TRY(set_bytes(options.output, limits.output_bytes));
    TRY(set_integer(options.pids, limits.pids));
    TRY(set_integer(options.inodes, limits.disk_inodes));
    TRY(set_integer(options.open_files, limits.open_files));
    TRY(set_duration(options.wall_clock, limits.wall_clock_ms));
    limits.require_cgroup = options.require_cgroup;
    if (!options.cpus.empty()) limits.cpus = TRY(parse_processors(options.cpus));
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
    spec.keep = options.keep;
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
Result<> follow(Sandbox& sandbox, int64_t number, const Command& command, json::Object* captured) {
    const RawTerminal terminal(command.pty && ::isatty(0));
    Fd input;
    pid_t forwarder = 0;
    if (command.pty || command.open_stdin) {
        // The terminal exists a moment after the command was requested.
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
                failed = unavailable("the reader of the output closed it");
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
    return {};
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

template <class T>
void print_json(const T& value) {
    std::fputs(json::print_pretty(json::to_value(value)).c_str(), stdout);
}

// Builds or finds the layer of the init script.
Result<> add_init_layer(Provider& provider, const RunOptions& options, SandboxSpec& spec) {
    if (options.init_script.empty()) return {};
    const Store store = TRY(Store::open(options.data_directory));
    Preparation preparation;
    preparation.space = command_line_space;
    preparation.root = spec.root;
    preparation.script = TRY(read_file(options.init_script, 1 << 20));
    preparation.env = spec.env;
    preparation.limits = spec.limits;
    preparation.network = spec.network;
    if (!options.init_timeout.empty())
        preparation.timeout_ms = TRY(parse_duration_ns(options.init_timeout)) / 1'000'000;
    if (options.init_degrade) preparation.on_failure = OnFailure::degrade;
    const PreparedLayer layer = TRY(prepare_layer(provider, store, preparation));
    if (layer.degraded)
        std::fprintf(stderr, "hone: the init script failed; continuing without it\n%s\n", layer.log.c_str());
    if (!layer.degraded) spec.layers.value.push_back(layer.key);
    return {};
}

// A requested limit that does not exist here is reported; --json has it in the result.
void warn_not_limited(Sandbox& sandbox) {
    const auto view = sandbox.view();
    if (view.ok() && std::count(view.value().not_limited.begin(), view.value().not_limited.end(), "cpus") > 0)
        std::fprintf(stderr, "hone: CPU time is not limited on this machine (hone check shows how to change that)\n");
}

} // namespace

std::string default_data_directory() {
    const auto variable = [](const char* name) {
        return std::string(std::getenv(name) == nullptr ? "" : std::getenv(name));
    };
    if (const std::string given = variable("HONE_DATA_DIR"); !given.empty()) return given;
    if (::geteuid() == 0) return "/var/lib/hone";
    if (const std::string base = variable("XDG_DATA_HOME"); !base.empty()) return base + "/hone";
    if (const std::string home = variable("HOME"); !home.empty()) return home + "/.local/share/hone";
    return {};
}

int run_in_sandbox(const RunOptions& options) {
    auto spec = make_spec(options);
    if (!spec.ok()) return fail(spec.error());
    if (!spec.value().command && !options.detach)
        return fail(invalid("a command is needed after --, or --detach for an idle sandbox"));
    auto provider = open_local_provider(without_server(options.data_directory));
    if (!provider.ok()) return fail(provider.error());
    if (auto layered = add_init_layer(*provider.value(), options, spec.value()); !layered.ok())
        return fail(layered.error());
    auto started = provider.value()->start(spec.value());
    if (!started.ok()) return fail(started.error());
    Sandbox& sandbox = *started.value();
    if (!options.cpus.empty() && !options.json) warn_not_limited(sandbox);
    if (options.detach) {
        std::printf("%s\n", sandbox.id().text().c_str());
        return 0;
    }
    if (options.keep && !options.json)
        std::fprintf(stderr, "hone: %s stays when its command ends; an interrupt ends it\n",
                     sandbox.id().text().c_str());
    json::Object printed;
    const Result<> followed = follow(sandbox, 0, *spec.value().command, options.json ? &printed : nullptr);
    auto stopped = sandbox.wait_stopped(-1);
    const Result<> destroyed = sandbox.destroy();
    if (!followed.ok()) return fail(followed.error());
    if (!stopped.ok()) return fail(stopped.error());
    if (!destroyed.ok()) return fail(destroyed.error());
    if (stopped.value().commands.empty()) return fail(corrupt("the sandbox has no result of its command"));
    const CommandResult& result = stopped.value().commands.front();
    if (options.json) {
        printed["sandbox"] = json::to_value(stopped.value());
        printed["result"] = json::to_value(result);
        std::fputs(json::print_pretty(printed).c_str(), stdout);
        return result.exit_code ? static_cast<int>(*result.exit_code) : exit_status(result);
    }
    return exit_status(result);
}

int list_sandboxes(const std::string& data_directory, bool as_json) {
    auto provider = open_local_provider(without_server(data_directory));
    if (!provider.ok()) return fail(provider.error());
    auto ids = provider.value()->list();
    if (!ids.ok()) return fail(ids.error());
    std::vector<SandboxView> views;
    for (const SandboxId& id : ids.value()) {
        auto sandbox = provider.value()->attach(id);
        if (!sandbox.ok()) continue; // ended meanwhile
        auto view = sandbox.value()->view();
        if (view.ok()) views.push_back(std::move(view).value());
    }
    if (as_json) {
        print_json(views);
        return 0;
    }
    for (const SandboxView& view : views)
        std::printf("%s  %-8s  %-6s  %s  %zu commands\n", view.id.text().c_str(),
                    std::string(name_of(view.state)).c_str(), std::string(name_of(view.tier)).c_str(),
                    to_text(view.created).c_str(), view.commands.size());
    return 0;
}

int execute_in_sandbox(const RunOptions& options, const std::string& id_text) {
    auto id = parse_id<SandboxTag>(id_text);
    if (!id.ok()) return fail(id.error());
    auto spec = make_spec(options);
    if (!spec.ok()) return fail(spec.error());
    if (!spec.value().command) return fail(invalid("a command is needed after --"));
    spec.value().command->env = spec.value().env;
    auto provider = open_local_provider(without_server(options.data_directory));
    if (!provider.ok()) return fail(provider.error());
    auto sandbox = provider.value()->attach(id.value());
    if (!sandbox.ok()) return fail(sandbox.error());
    auto number = sandbox.value()->execute(*spec.value().command);
    if (!number.ok()) return fail(number.error());
    json::Object printed;
    const Result<> followed =
        follow(*sandbox.value(), number.value(), *spec.value().command, options.json ? &printed : nullptr);
    if (!followed.ok()) return fail(followed.error());
    auto result = sandbox.value()->wait(number.value(), -1);
    if (!result.ok()) return fail(result.error());
    if (options.json) {
        printed["result"] = json::to_value(result.value());
        std::fputs(json::print_pretty(printed).c_str(), stdout);
    }
    return exit_status(result.value());
}

int control_sandbox(const std::string& data_directory, const std::string& id_text, const std::string& verb) {
    auto id = parse_id<SandboxTag>(id_text);
    if (!id.ok()) return fail(id.error());
    auto provider = open_local_provider(without_server(data_directory));
    if (!provider.ok()) return fail(provider.error());
    if (verb == "kill") {
        auto store = Store::open(data_directory);
        if (!store.ok()) return fail(store.error());
        if (!file_exists(store.value().live(id.value()))) return fail(not_found("sandbox " + id_text));
        const auto outcome = provider.value()->destroy(id.value());
        return outcome.ok() ? 0 : fail(outcome.error());
    }
    auto sandbox = provider.value()->attach(id.value());
    if (!sandbox.ok()) return fail(sandbox.error());
    const auto outcome = verb == "freeze" ? sandbox.value()->freeze() : sandbox.value()->thaw();
    return outcome.ok() ? 0 : fail(outcome.error());
}

int collect_garbage(const GarbageOptions& options) {
    const auto work = [&]() -> Result<json::Object> {
        const Store store = TRY(Store::open(options.data_directory));
        auto provider = TRY(open_local_provider(without_server(options.data_directory)));
        const Time now = SystemClock().now();
        json::Object report;
        report["reconciled"] = TRY(provider->reconcile());
        const int64_t layers_age = TRY(parse_duration_ns(options.layers_age));
        const int64_t layers_bytes = TRY(parse_bytes(options.layers_bytes));
        const LayerGarbage layers = TRY(collect_layers(store, now - Duration(layers_age), layers_bytes));
        report["layers_removed"] = layers.removed;
        report["layers_kept"] = layers.kept;
        report["layers_kept_bytes"] = layers.kept_bytes;
        const int64_t threads_age = TRY(parse_duration_ns(options.threads_age));
        report["threads_removed"] = TRY(Volumes(store, ::geteuid() == 0).expire(now - Duration(threads_age)));
        store.empty_trash();
        return report;
    };
    auto report = work();
    if (!report.ok()) return fail(report.error());
    std::fputs(json::print_pretty(report.value()).c_str(), stdout);
    return 0;
}

int handle_thread(const std::string& data_directory, const std::string& verb, const std::string& thread,
                  const std::string& target) {
    auto store = Store::open(data_directory);
    if (!store.ok()) return fail(store.error());
    const Volumes volumes(store.value(), ::geteuid() == 0);
    if (verb == "fork" && target.empty()) return fail(invalid("fork needs the name of the new thread"));
    if (verb == "export" && target.empty()) return fail(invalid("export needs a directory to make"));
    if (verb == "export") {
        auto report = volumes.export_files(thread, target, ExportLimits());
        if (!report.ok()) return fail(report.error());
        std::printf("%lld files, %lld bytes, %lld skipped\n", static_cast<long long>(report.value().files),
                    static_cast<long long>(report.value().bytes), static_cast<long long>(report.value().skipped));
        return 0;
    }
    const auto outcome = verb == "fork" ? volumes.fork(thread, target) : volumes.remove(thread);
    return outcome.ok() ? 0 : fail(outcome.error());
}

int unpack_command(bool layer, int64_t most_bytes, int64_t most_files) {
    Fd directory(::open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    auto report = unpack_stream(0, std::move(directory), layer, {most_files, most_bytes});
    if (!report.ok()) return fail(report.error());
    std::fputs(json::print_pretty(json::to_value(report.value())).c_str(), stdout);
    return 0;
}

int add_image_command(const std::string& data_directory, const std::string& name, const std::string& source,
                      const std::string& most_bytes) {
    ImageOptions options;
    auto bytes = parse_bytes(most_bytes);
    if (!bytes.ok()) return fail(bytes.error());
    options.most_bytes = bytes.value();
    auto store = Store::open(data_directory);
    if (!store.ok()) return fail(store.error());
    auto provider = open_local_provider(without_server(data_directory));
    if (!provider.ok()) return fail(provider.error());
    auto image = add_image(*provider.value(), store.value(), name, source, options);
    if (!image.ok()) return fail(image.error());
    std::printf("%s  %lld files, %lld bytes\n", name.c_str(), static_cast<long long>(image.value().files),
                static_cast<long long>(image.value().bytes));
    return 0;
}

int list_images_command(const std::string& data_directory, bool as_json) {
    auto store = Store::open(data_directory);
    if (!store.ok()) return fail(store.error());
    auto images = list_images(store.value());
    if (!images.ok()) return fail(images.error());
    if (as_json) print_json(images.value());
    for (const ImageView& image : images.value())
        if (!as_json)
            std::printf("%-20s  %10lld bytes  %s\n", image.name.c_str(), static_cast<long long>(image.bytes),
                        image.source.c_str());
    return 0;
}

int remove_image_command(const std::string& data_directory, const std::string& name) {
    auto store = Store::open(data_directory);
    if (!store.ok()) return fail(store.error());
    const auto outcome = remove_image(store.value(), name);
    store.value().empty_trash();
    return outcome.ok() ? 0 : fail(outcome.error());
}

} // namespace hone::sandbox
