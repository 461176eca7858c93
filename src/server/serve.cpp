#include "base/log.h"
#include "base/path.h"
#include "crypto/crypto.h"
#include "server/backup.h"
#include "server/local_failure.h"
#include "server/server.h"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <malloc.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <thread>
#include <unistd.h>

namespace hone::server {

namespace {

std::optional<std::string> environment(const std::string& name) {
    const char* value = std::getenv(name.c_str());
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

bool wants_help(int argc, char** argv) {
    for (int i = 1; i < argc; ++i)
        if (std::strcmp(argv[i], "--help") == 0 || std::strcmp(argv[i], "-h") == 0) return true;
    return false;
}

void set_log_from(const config::Config& config) {
    const Level level = config.log_level == "debug"     ? Level::debug
                        : config.log_level == "warning" ? Level::warning
                        : config.log_level == "error"   ? Level::error
                                                        : Level::info;
    set_log(config.log_format == "json" ? LogFormat::json : LogFormat::text, level);
}

void greet(const Server& server) {
    std::printf("Hone %s is ready: %s\n", version, server.url().c_str());
    if (!server.otlp_url().empty()) std::printf("OpenTelemetry traces go to %s\n", server.otlp_url().c_str());
    if (server.first_start()) {
        const auto& first = *server.first_start();
        if (first.generated)
            std::printf("\n  Log in as  %s\n  Password   %s\n\n  The password is shown only now. Change it after "
                        "logging in.\n\n",
                        first.email.c_str(), first.password.c_str());
        else
            std::printf("Log in as %s with the password from HONE_ADMIN_PASSWORD.%s\n", first.email.c_str(),
                        first.password.size() < 10 ? " It is short: change it before others can reach this server."
                                                   : "");
    }
    std::fflush(stdout);
}

Result<config::Loaded> load(int argc, char** argv) {
    const std::span<const char* const> arguments(argv + 1, static_cast<size_t>(argc - 1));
    const auto flags = TRY(config::parse_flags(arguments));
    return config::load(flags, environment);
}

int run_server(int argc, char** argv, bool demo) {
    // One heap per core: with eight, as is usual, what is freed after a burst lies scattered and never goes back.
    ::mallopt(M_ARENA_MAX, static_cast<int>(std::max(2U, std::thread::hardware_concurrency())));
    auto loaded = load(argc, argv);
    if (!loaded.ok()) return report_failure(loaded.error(), wants_json(argc, argv));
    const std::string data_dir = loaded.value().config.data_dir;
    set_log_from(loaded.value().config);
    crypto::start();

    // Signals are taken by sigwait below; every thread started from here on inherits the block.
    sigset_t signals;
    sigemptyset(&signals);
    for (const int each : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&signals, each);
    pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    std::signal(SIGPIPE, SIG_IGN);

    const SystemClock clock;
    auto server = Server::start(std::move(loaded).value(), clock, environment("HONE_ADMIN_PASSWORD"));
    if (!server.ok()) return report_failure(server.error(), false);
    greet(*server.value());
    if (demo) {
        const auto say = [](const std::string& line) {
            std::printf("%s\n", line.c_str());
            std::fflush(stdout);
        };
        if (const auto opened = server.value()->open_demo(say); !opened.ok())
            return report_failure(opened.error(), false);
        std::printf("Look at it: %s   (Ctrl-C ends the demo; its data stay in %s)\n", server.value()->url().c_str(),
                    data_dir.c_str());
        std::fflush(stdout);
    }
    for (;;) {
        int signal = 0;
        if (sigwait(&signals, &signal) != 0) continue;
        if (signal == SIGHUP) {
            auto outcome = server.value()->reload();
            log(outcome.ok() ? Level::info : Level::error, "certificate read again",
                {{"outcome", outcome.ok() ? "ok" : outcome.error().message}});
            continue;
        }
        log(Level::info, "stopping", {{"signal", signal == SIGTERM ? "SIGTERM" : "SIGINT"}});
        // A second signal ends at once.
        pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
        server.value()->drain();
        return 0;
    }
}

} // namespace

int serve_main(int argc, char** argv) {
    if (wants_help(argc, argv)) {
        std::printf(
            "Usage: hone serve [options]\n\nRuns the server: API, web UI and everything behind them, in one process.\n"
            "Each option is also a variable (HONE_LISTEN) and a key in DIR/hone.toml (listen).\n\n%s"
            "\nHONE_ADMIN_PASSWORD sets the password of admin@localhost at the first start.\nSIGTERM stops gracefully, "
            "SIGHUP reads the TLS certificate again.\n",
            config::flags_help().c_str());
        return 0;
    }
    return run_server(argc, argv, false);
}

int demo_main(int argc, char** argv) {
    if (wants_help(argc, argv)) {
        std::printf(
            "Usage: hone demo [options of hone serve]\n\nRuns the server with a generated project that has known "
            "faults, and an analyst that looks\ninto them in a sandbox. Needs no key and no network. --data-dir "
            "is ./hone-demo if not given.\nWith ANTHROPIC_API_KEY (or ANTHROPIC_BASE_URL) set and Claude Code "
            "installed "
            "(hone harness install\nclaude-code --data-dir DIR) that is the analyst.\n");
        return 0;
    }
    ::setenv("HONE_DATA_DIR", "hone-demo", 0); // a flag wins over it
    return run_server(argc, argv, true);
}

int restore_main(int argc, char** argv) {
    std::string file, data_dir = environment("HONE_DATA_DIR").value_or(config::Config().data_dir);
    const bool json_wanted = wants_json(argc, argv);
    for (int i = 1; i < argc && !wants_help(argc, argv); ++i) {
        const std::string argument = argv[i];
        if (argument == "--data-dir" && i + 1 < argc)
            data_dir = argv[++i];
        else if (argument.starts_with("--data-dir="))
            data_dir = argument.substr(11);
        else if (file.empty() && !argument.starts_with("--"))
            file = argument;
        else if (argument != "--json")
            return report_failure(invalid("unknown argument " + argument + " (--help explains)"), json_wanted);
    }
    if (file.empty() && !wants_help(argc, argv))
        return report_failure(invalid("hone restore needs FILE, a backup (--help explains)"), json_wanted);
    if (wants_help(argc, argv)) {
        std::printf(
            "Usage: hone restore FILE [--data-dir DIR] [--json]\n\nUnpacks a backup made by `hone backup` into a "
            "data directory that holds no database yet. DIR is ./hone-data if not given.\n"
            "The master key is not part of a backup: put your copy of master.key into DIR before you start the "
            "server.\n");
        return 0;
    }
    crypto::start();
    auto resolved = resolve_directory(data_dir);
    if (!resolved.ok()) return report_failure(resolved.error(), json_wanted);
    data_dir = std::move(resolved).value();
    auto restored = restore_backup(file, data_dir);
    if (!restored.ok()) return report_failure(restored.error(), json_wanted);
    if (json_wanted)
        std::printf("%s\n", json::print(json::Object{{"data_dir", data_dir},
                                                     {"created_at", restored.value().created_at},
                                                     {"hone_version", restored.value().hone_version}})
                                .c_str());
    else
        std::printf(
            "Restored the backup of %s (Hone %s) into %s.\nIf it has secrets, put your copy of master.key there; "
            "then start it with: hone serve --data-dir %s\n",
            restored.value().created_at.c_str(), restored.value().hone_version.c_str(), data_dir.c_str(),
            quote_shell(data_dir).c_str());
    return 0;
}

int print_main(int argc, char** argv) {
    const std::string what = argc == 2 ? argv[1] : "";
    if (what == "openapi")
        std::fputs(json::print_pretty(api::openapi(version)).c_str(), stdout);
    else if (what == "types")
        std::fputs(api::typescript_types().c_str(), stdout);
    else if (what == "config")
        std::fputs(config::print_markdown().c_str(), stdout);
    else if (what == "permissions")
        std::fputs(api::permissions_markdown().c_str(), stdout);
    else {
        std::fprintf(stderr, "Usage: hone print openapi|types|config|permissions\n\nPrints a document that is made "
                             "from the program itself.\n");
        return what == "--help" ? 0 : 2;
    }
    return 0;
}

} // namespace hone::server
