#include "sandbox/local/command_line.h"

#include "base/path.h"
#include "base/text.h"
#include "crypto/crypto.h"
#include "sandbox/local/check.h"
#include "sandbox/local/commands.h"
#include "sandbox/local/spawner_process.h"
#include "sandbox/shim/spawner.h"

#include <algorithm>
#include <cerrno>
#include <CLI/CLI.hpp>
#include <cstdio>
#include <fcntl.h>
#include <iostream>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <unistd.h>

namespace hone::sandbox {

namespace {

constexpr const char* data_directory_help = "Where sandboxes and images are kept; also HONE_DATA_DIR.";

int refuse(const Error& error) {
    std::fprintf(stderr, "hone: %s\n", error.message.c_str());
    return 125;
}

// The library has codes of its own, above 100; as everywhere, 2 means that the command line is wrong.
std::optional<int> parse(CLI::App& app, int argc, char** argv) {
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& stopped) {
        return app.exit(stopped) == 0 ? 0 : 2;
    }
    return std::nullopt;
}

// Once, before anything uses it: the spawner and the shims work in directories of their own.
std::optional<int> resolve_data_directory(std::string& data_directory) {
    if (data_directory.empty())
        return refuse(invalid("no data directory: give --data-dir, or set HONE_DATA_DIR or HOME"));
    auto resolved = resolve_directory(data_directory);
    if (!resolved.ok()) return refuse(resolved.error());
    data_directory = std::move(resolved).value();
    return std::nullopt;
}

// Describing an option takes the library longer than one would think: those that are not among the words are left out,
// unless help is requested.
class GivenOptions {
public:
    GivenOptions(CLI::App& app, std::span<char* const> words)
        : m_app(app),
          m_words(words),
          m_is_help(is_given("-h,--help")) {}

    template <class Value>
    void option(const char* names, Value& into, const char* what) {
        if (!m_is_help && !is_given(names)) return;
        CLI::Option* made = m_app.add_option(names, into, what);
        if constexpr (std::is_same_v<Value, std::vector<std::string>>) made->allow_extra_args(false);
    }
    void flag(const char* names, bool& into, const char* what) {
        if (m_is_help || is_given(names)) m_app.add_flag(names, into, what);
    }

private:
    // Short ones can be joined: -ih.
    static bool names_option(std::string_view word, std::string_view name) {
        if (name.starts_with("--")) return word.substr(0, word.find('=')) == name;
        return word.starts_with('-') && !word.starts_with("--") && word.find(name[1]) != word.npos;
    }
    bool is_given(std::string_view names) const {
        for (const std::string_view name : split(names, ','))
            for (const std::string_view word : m_words)
                if (names_option(word, name)) return true;
        return false;
    }

    CLI::App& m_app;
    const std::span<char* const> m_words;
    const bool m_is_help;
};

void add_command_options(GivenOptions& given, RunOptions& options) {
    given.option("--timeout", options.timeout, "End the command after this long, like 30s.");
    given.option("--env", options.environment, "NAME=VALUE.");
    given.option("--cwd", options.cwd, "Working directory inside.");
    given.flag("--json", options.json, "Print the result as JSON.");
    given.flag("--pty", options.pty, "Give it a terminal.");
    given.flag("--stdin,-i", options.stdin_open, "Pass our input on.");
}

void add_run_options(GivenOptions& given, RunOptions& options) {
    add_command_options(given, options);
    given.option("--memory", options.memory, "Memory, like 512m.");
    given.option("--cpus", options.cpus, "Processors, like 1.5.");
    given.option("--wall-clock", options.wall_clock, "End the sandbox after this long.");
    given.option("--pids", options.pids, "Most processes and threads.");
    given.option("--open-files", options.open_files, "Open files of one process.");
    given.option("--disk", options.disk, "Bytes that may be written, like 100m.");
    given.option("--inodes", options.inodes, "Files that may be made.");
    given.option("--io", options.io, "Bytes read from disks per second, and as many written, like 50m; 0: no limit.");
    given.option("--output", options.output, "Bytes of output.");
    given.option("--network", options.network, "none or broker.");
    given.option("--image", options.image, "Image or directory to use as root.");
    given.option("--init-script", options.init_script, "Prepare the root once with this shell script.");
    given.option("--init-timeout", options.init_timeout, "End the init script after this long.");
    given.flag("--init-degrade", options.init_degrade, "Continue without the init script when it fails.");
    given.option("--tier", options.tier, "Weakest wall that will do: ns or gvisor.");
    given.option("--label", options.labels, "NAME=VALUE for the audit log.");
    given.option("--mount", options.mounts, "SOURCE:TARGET, read-only, or SOURCE:TARGET:rw.");
    given.option("--thread", options.thread, "Thread whose files to use as /workspace.");
    given.flag("--allow-ptrace", options.allow_ptrace, "Let processes inside debug each other.");
    given.flag("--detach", options.detach, "Leave it running and print its id.");
    given.flag("--keep", options.keep, "Stay when the command ends; for exec.");
    given.flag("--require-cgroup", options.require_cgroup, "Refuse where only rlimits keep the limits.");
}

int image_main(int argc, char** argv) {
    std::string data_directory = default_data_directory(), name, source;
    bool json = false;
    CLI::App app("Roots for sandboxes.", "hone image");
    app.require_subcommand(1);
    CLI::App* add = app.add_subcommand("add", "Unpack a tar, an OCI layout or a directory.");
    add->add_option("name", name, "What --image will call it.")->required();
    add->add_option("source", source, "A .tar, .tar.gz or .tar.zst file, an OCI layout, or a directory.")->required();
    std::string most_bytes = "16g";
    add->add_option("--max-size", most_bytes, "Refuse an image whose files are larger together.");
    bool layer = false;
    int64_t unpack_bytes = 0, unpack_files = 0;
    CLI::App* unpack = app.add_subcommand("unpack", "Runs inside the sandbox of `add`.")->group("");
    unpack->add_flag("--layer", layer);
    unpack->add_option("--most-bytes", unpack_bytes)->required();
    unpack->add_option("--most-files", unpack_files)->required();
    BuildImageOptions build_options;
    CLI::App* build = app.add_subcommand("build", "Make an image from Debian packages with mmdebstrap; no daemon.");
    build
        ->add_option("recipe", build_options.recipe,
                     "default (Python with numpy, pandas and matplotlib, Node.js with npm, git, ripgrep, jq, curl, a "
                     "compiler), or a file of lines: FROM debian[:SUITE] | default, PACKAGES NAME…, ENV NAME=VALUE, "
                     "COPY SOURCE TARGET, RUN COMMAND.")
        ->required();
    build->add_option("--name", build_options.name, "Name of the image; else `default`, or the name of the file.");
    build->add_option("--mirror", build_options.mirror, "Archive of Debian packages.");
    build->add_option("--max-size", build_options.most_bytes, "Refuse an image whose files are larger together.");
    build->add_flag("--json", build_options.json, "Print the image as JSON.");
    build->footer("An image of the same name is replaced when no sandbox uses it.");
    std::string age = "90d";
    CLI::App* prune = app.add_subcommand("prune", "Remove images that no sandbox has used for long.");
    prune->add_option("--age", age, "Keep those used within this time.");
    prune->add_flag("--json", json, "Print their names as JSON.");
    CLI::App* list = app.add_subcommand("list", "Show all images.");
    list->add_flag("--json", json, "Print them as JSON.");
    CLI::App* remove = app.add_subcommand("rm", "Remove an image.");
    remove->add_option("name", name)->required();
    for (CLI::App* command : app.get_subcommands({}))
        command->add_option("--data-dir", data_directory, data_directory_help);
    if (const auto exit = parse(app, argc - 1, argv + 1)) return *exit;
    if (*unpack) return unpack_command(layer, unpack_bytes, unpack_files);
    if (const auto exit = resolve_data_directory(data_directory)) return *exit;
    if (*add) return add_image_command(data_directory, name, source, most_bytes);
    build_options.data_directory = data_directory;
    if (*build) return build_image_command(build_options);
    if (*prune) return prune_images_command(data_directory, age, json);
    if (*list) return list_images_command(data_directory, json);
    return remove_image_command(data_directory, name);
}

} // namespace

int spawner_main(int argc, char** argv) {
    std::string data_directory;
    int socket = -1;
    CLI::App app("Makes sandboxes for the server that started it.");
    app.add_option("--data-dir", data_directory)->required();
    app.add_option("--socket", socket)->required();
    bool is_launcher = false;
    app.add_flag("--launcher", is_launcher);
    if (const auto exit = parse(app, argc - 1, argv + 1)) return *exit;
    if (const auto exit = resolve_data_directory(data_directory)) return *exit;
    crypto::start();
    ::fcntl(socket, F_SETFD, FD_CLOEXEC);
    if (is_launcher) {
        run_launcher(data_directory, Channel(Fd(socket)));
        return 0;
    }
    run_spawner(data_directory, Channel(Fd(socket)));
    return 0;
}

int shim_main(int argc, char** argv) {
    std::string data_directory = default_data_directory();
    CLI::App app("Keeps one sandbox without a server; the spec is read from stdin as JSON.");
    app.add_option("--data-dir", data_directory);
    if (const auto exit = parse(app, argc - 1, argv + 1)) return *exit;
    if (const auto exit = resolve_data_directory(data_directory)) return *exit;
    crypto::start();
    const std::string text(std::istreambuf_iterator<char>(std::cin), {});
    auto spec = json::read<SandboxSpec>(text);
    if (!spec.ok()) return refuse(spec.error());
    spec.value().detached = true;
    auto spawner = Spawner::open(data_directory);
    if (!spawner.ok()) return refuse(spawner.error());
    auto start_info = spawner.value().describe_shim(spec.value());
    auto pair = Channel::make_pair();
    if (!start_info.ok()) return refuse(start_info.error());
    if (!pair.ok()) return refuse(pair.error());
    start_info.value().creator = std::move(pair.value().second);
    const std::string id = start_info.value().journal.id.text();
    const pid_t pid = ::fork();
    if (pid == 0) run_shim(std::move(start_info).value());
    if (pid < 0) return refuse(system_error("fork the shim", errno));
    auto answer = pair.value().first.receive();
    if (!answer.ok()) return refuse(answer.error());
    const auto reply = json::read<ShimReply>(answer.value().text);
    if (!reply.ok()) return refuse(reply.error());
    if (reply.value().code) return refuse(error_of(reply.value()));
    std::printf("%s\n", id.c_str());
    return 0;
}

int sandbox_cli_main(int argc, char** argv) {
    crypto::start();
    if (argc > 1 && std::string_view(argv[1]) == "image") return image_main(argc, argv);
    RunOptions options;
    options.data_directory = default_data_directory();
    // What follows -- is the worker's, whatever it looks like.
    for (int i = 2; i < argc; ++i)
        if (std::string_view(argv[i]) == "--") {
            options.command.assign(argv + i + 1, argv + argc);
            argc = i;
        }
    GarbageOptions garbage;
    std::string id, verb, thread, target;
    CLI::App app("Sandboxes of this machine; no server needed.", "hone sandbox");
    app.require_subcommand(1);
    const auto is_named = [&](const CLI::App* command) {
        return std::find(argv, argv + argc, command->get_name()) != argv + argc;
    };
    CLI::App* run =
        app.add_subcommand("run", "Run a command in a fresh sandbox; without one, with --detach, an idle sandbox.");
    const std::span<char* const> words(argv, static_cast<size_t>(argc));
    GivenOptions of_run(*run, words);
    if (is_named(run)) add_run_options(of_run, options);
    run->footer(
        "What follows -- is the command: hone sandbox run --memory 512m --timeout 30s -- python3 --version\n"
        "Its exit code is ours; 125: the sandbox was refused, 127: the command did not start, 128 + N: signal N.");
    CLI::App* list = app.add_subcommand("list", "Show live sandboxes.");
    list->add_flag("--json", options.json, "Print them as JSON.");
    CLI::App* execute = app.add_subcommand("exec", "Run a further command in a live sandbox.");
    GivenOptions of_execute(*execute, words);
    if (is_named(execute)) add_command_options(of_execute, options);
    execute->footer("What follows -- is the command: hone sandbox exec sbx_… -- ls -l");
    execute->add_option("id", id, "As list shows it.")->required();
    const std::pair<const char*, const char*> controls[] = {
        {"kill", "End a sandbox and remove what is left of it."},
        {"freeze", "Stop everything in a live sandbox until it is thawed."},
        {"thaw", "Resume a frozen sandbox."}};
    for (const auto& [name, what] : controls)
        app.add_subcommand(name, what)->add_option("id", id, "As list shows it.")->required();
    CLI::App* collect = app.add_subcommand("gc", "Clean up after crashes; remove old layers and threads.");
    collect->add_option("--layers-age", garbage.layers_age, "Remove layers unused for this long.");
    collect->add_option("--layers-bytes", garbage.layers_bytes,
                        "Keep at most this much, least recently used go first.");
    collect->add_option("--threads-age", garbage.threads_age, "Remove threads unused for this long.");
    CLI::App* threads = app.add_subcommand("thread", "Handle a thread's files: fork, export, rm.");
    threads->add_option("verb", verb)->required()->check(CLI::IsMember({"fork", "export", "rm"}));
    threads->add_option("thread", thread)->required();
    threads->add_option("target", target, "The new thread, or a new directory.");
    for (CLI::App* command : app.get_subcommands({}))
        if (is_named(command)) command->add_option("--data-dir", options.data_directory, data_directory_help);
    if (const auto exit = parse(app, argc - 1, argv + 1)) return *exit;
    if (const auto exit = resolve_data_directory(options.data_directory)) return *exit;
    garbage.data_directory = options.data_directory;
    if (*run) return run_in_sandbox(options);
    if (*execute) return execute_in_sandbox(options, id);
    if (*list) return list_sandboxes(options.data_directory, options.json);
    if (*collect) return collect_garbage(garbage);
    if (*threads) return handle_thread(options.data_directory, verb, thread, target);
    for (const auto& [name, what] : controls)
        if (app.got_subcommand(name)) return control_sandbox(options.data_directory, id, name);
    return 0;
}

} // namespace hone::sandbox
