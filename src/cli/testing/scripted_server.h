// A real HTTP server on a free port whose answers a test scripts, and a way to run a client command against it and look
// at what came out. The shapes are those of the public API.
#pragma once

#include "base/file.h"
#include "base/mutex.h"
#include "cli/cli.h"
#include "net/server.h"
#include "json/json.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

namespace hone::cli::testing {

inline bool contains(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

// A directory of its own that goes away with the test.
class TemporaryDirectory {
public:
    TemporaryDirectory() {
        std::string form = (std::filesystem::temp_directory_path() / "hone-cli-XXXXXX").string();
        REQUIRE(mkdtemp(form.data()) != nullptr);
        m_path = form;
    }
    ~TemporaryDirectory() { std::filesystem::remove_all(m_path); }
    TemporaryDirectory(const TemporaryDirectory&) = delete;
    TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
    const std::string& path() const { return m_path; }

private:
    std::string m_path;
};

struct Seen {
    std::string method, target, body, authorization, cookie, csrf, id;
};

class ScriptedServer final : public net::Handler {
public:
    using Answer = std::function<net::Response(const net::Request&)>;

    ScriptedServer() {
        net::ServerOptions options;
        options.listen = {{"127.0.0.1:0", "", ""}};
        options.edge_threads = 1;
        auto started = net::Server::start(options, *this);
        REQUIRE(started.ok());
        m_server = std::move(started).value();
    }

    std::string url() const { return "http://" + m_server->addresses().front(); }

    // Before the command runs. `route` is "GET /v1/projects", without the query.
    void on(const std::string& route, Answer answer) {
        const Lock lock(m_mutex);
        m_answers[route] = std::move(answer);
    }
    void on(const std::string& route, int status, const std::string& body) {
        on(route, [=](const net::Request&) { return net::json_response(status, body); });
    }

    // Takes the log of what was asked so far.
    std::vector<Seen> seen() {
        const Lock lock(m_mutex);
        return std::exchange(m_seen, {});
    }

    net::Plan plan(const net::RequestHead&) override { return {}; }
    net::Response handle(net::Request&& request) override {
        Answer answer;
        {
            const Lock lock(m_mutex);
            m_seen.push_back({request.method, request.target, request.body,
                              std::string(request.header("Authorization")), std::string(request.header("Cookie")),
                              std::string(request.header("X-CSRF-Token")), request.id});
            if (const auto found = m_answers.find(request.method + " " + request.path); found != m_answers.end())
                answer = found->second;
        }
        return answer ? answer(request) : net::error_response(404, "not_found", "no such route in this test");
    }

private:
    Mutex m_mutex;
    std::map<std::string, Answer> m_answers GUARDED_BY(m_mutex);
    std::vector<Seen> m_seen GUARDED_BY(m_mutex);
    std::unique_ptr<net::Server> m_server; // last: stops before what its threads use is destroyed
};

struct Outcome {
    int exit = -1;
    std::string out;
    std::string err;
    json::Value json() const {
        auto parsed = json::parse(out);
        REQUIRE_MESSAGE(parsed.ok(), out);
        return std::move(parsed).value();
    }
};

// Runs commands with an environment and a home of their own.
class Client {
    TemporaryDirectory m_home; // first: the environment names it

public:
    std::map<std::string, std::string> environment{{"HOME", m_home.path()}};
    FakeClock clock{parse_time("2026-11-15T12:00:00Z").value()};
    std::string input;

    const std::string& home() const { return m_home.path(); }
    std::string credentials_file() const { return m_home.path() + "/.config/hone/credentials.json"; }

    void log_in_to(const ScriptedServer& server) {
        environment["HONE_URL"] = server.url();
        environment["HONE_API_KEY"] = "hone_secret";
    }

    Outcome run(const std::vector<std::string>& arguments) {
        const Fd in = memory_file(), out = memory_file(), err = memory_file();
        REQUIRE(write_all(in.get(), input).ok());
        REQUIRE(lseek(in.get(), 0, SEEK_SET) == 0);
        World world{in.get(), out.get(), err.get(), {}, &clock};
        world.environment = [this](const std::string& name) -> std::optional<std::string> {
            const auto found = environment.find(name);
            return found == environment.end() ? std::nullopt : std::optional(found->second);
        };
        Outcome outcome;
        outcome.exit = run_client(arguments, m_local, world);
        outcome.out = content(out);
        outcome.err = content(err);
        return outcome;
    }

private:
    static Fd memory_file() {
        Fd made(memfd_create("cli-test", MFD_CLOEXEC));
        REQUIRE(made.is_open());
        return made;
    }
    static std::string content(const Fd& file) {
        return read_file("/proc/self/fd/" + std::to_string(file.get()), 1 << 30).value();
    }

    std::vector<LocalCommand> m_local{{"serve", "Run the server.", "hone-server"},
                                      {"engine", "Not for people.", "hone-server", true}};
};

} // namespace hone::cli::testing
