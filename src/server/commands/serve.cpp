#include "base/file.h"
#include "base/log.h"
#include "crypto/crypto.h"
#include "server/commands/arguments.h"
#include "server/commands/commands.h"
#include "server/demo/demo.h"
#include "server/demo/demo_model.h"
#include "server/demo/demo_progress.h"
#include "server/server.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <malloc.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <thread>
#include <unistd.h>

namespace hone::server {

namespace {

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

// Sends "READY=1" or "STOPPING=1" to systemd, when it started this process with Type=notify.
void notify_service_manager(std::string_view state) {
    const auto named = environment("NOTIFY_SOCKET");
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (!named || named->size() < 2 || named->size() >= sizeof address.sun_path) return;
    named->copy(address.sun_path, named->size());
    if (address.sun_path[0] == '@') address.sun_path[0] = 0; // a name without a file
    const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + named->size());
    const Fd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    if (::sendto(socket.get(), state.data(), state.size(), MSG_NOSIGNAL, reinterpret_cast<const sockaddr*>(&address),
                 length) < 0)
        log(Level::warning, "the service manager was not notified", {{"state", std::string(state)}, {"errno", errno}});
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
    std::unique_ptr<DemoModel> model; // outlives the server, whose judge calls it
    // After the server has dropped its privileges, which threads do not share, and before a task of an earlier demo
    // continues.
    const auto start_model = [&] {
        auto started = DemoModel::start(demo_model_port(data_dir));
        if (started.ok())
            model = std::move(started).value();
        else
            log(Level::warning, "the demo has no scripted model", {{"why", started.error().message}});
    };
    auto server = Server::start(std::move(loaded).value(), clock, environment("HONE_ADMIN_PASSWORD"),
                                demo ? std::function<void()>(start_model) : nullptr);
    if (!server.ok()) return report_failure(server.error(), false);
    greet(*server.value());
    notify_service_manager("READY=1");
    if (demo) {
        const auto print = [](const std::string& line) {
            std::printf("%s\n", line.c_str());
            std::fflush(stdout);
        };
        DemoParts parts = server.value()->demo_parts();
        if (model) parts.model_port = model->port();
        if (const auto opened = Demo(parts, print).open(); !opened.ok()) return report_failure(opened.error(), false);
        std::printf("The demo is ready: %s   (Ctrl-C ends the demo; its data stay in %s)\n",
                    server.value()->url().c_str(), data_dir.c_str());
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
        // A second signal ends the process immediately.
        pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
        notify_service_manager("STOPPING=1");
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
            "faults, and an analyst that\ninvestigates them in a sandbox. Needs no key and no network: its LLM judge "
            "calls a scripted model that\nthe demo serves on 127.0.0.1. --data-dir is ./hone-demo if not given.\nWith "
            "ANTHROPIC_API_KEY (or ANTHROPIC_BASE_URL) set and Claude Code "
            "installed "
            "(hone harness install\nclaude-code --data-dir DIR) that is the analyst.\n");
        return 0;
    }
    ::setenv("HONE_DATA_DIR", "hone-demo", 0); // a flag wins over it
    return run_server(argc, argv, true);
}

} // namespace hone::server
