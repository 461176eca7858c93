// The client as a process on a real pseudo terminal: colours, widths, prompts.
#include "cli/testing/scripted_server.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <poll.h>
#include <pty.h>
#include <sys/wait.h>
#include <termios.h>

using namespace hone;
using namespace hone::cli::testing;

namespace {

// Runs cli_client on a terminal of its own, 60 columns wide.
class OnTerminal {
public:
    OnTerminal(const std::vector<std::string>& arguments, const std::map<std::string, std::string>& environment) {
        winsize size{};
        size.ws_row = 24;
        size.ws_col = 60;
        std::vector<std::string> variables{"TERM=xterm"};
        for (const auto& [name, value] : environment) variables.push_back(name + "=" + value);
        std::vector<std::string> words{"hone"};
        words.insert(words.end(), arguments.begin(), arguments.end());
        std::vector<char*> argv, envp;
        for (auto& word : words) argv.push_back(word.data());
        for (auto& variable : variables) envp.push_back(variable.data());
        argv.push_back(nullptr);
        envp.push_back(nullptr);
        int controller = -1;
        m_pid = forkpty(&controller, nullptr, nullptr, &size);
        if (m_pid == 0) {
            execve(HONE_CLI_CLIENT, argv.data(), envp.data());
            _exit(127);
        }
        REQUIRE(m_pid > 0);
        m_controller = Fd(controller);
    }
    ~OnTerminal() {
        if (m_pid <= 0) return;
        kill(m_pid, SIGKILL);
        waitpid(m_pid, nullptr, 0);
    }

    void type(const std::string& text) { REQUIRE(write_all(m_controller.get(), text).ok()); }

    // Reads on until the text has been shown; false when the program ended without.
    bool wait_for(const std::string& text) {
        while (m_shown.find(text) == std::string::npos)
            if (!read_some()) return false;
        return true;
    }
    bool echoes() const {
        termios now{};
        REQUIRE(tcgetattr(m_controller.get(), &now) == 0);
        return (now.c_lflag & ECHO) != 0;
    }
    int finish() {
        while (read_some()) {
        }
        int status = 0;
        REQUIRE(waitpid(std::exchange(m_pid, -1), &status, 0) > 0);
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }
    const std::string& shown() const { return m_shown; }

private:
    bool read_some() {
        pollfd waiting{m_controller.get(), POLLIN, 0};
        REQUIRE_MESSAGE(poll(&waiting, 1, 60'000) == 1, m_shown);
        std::array<char, 4096> buffer{};
        const ssize_t got = read(m_controller.get(), buffer.data(), buffer.size());
        if (got <= 0) return false; // EIO: the other side is closed
        m_shown.append(buffer.data(), static_cast<size_t>(got));
        return true;
    }

    pid_t m_pid = -1;
    Fd m_controller;
    std::string m_shown;
};

constexpr const char* one_project =
    R"({"data":[{"id":"project_01JAAAAAAAAAAAAAAAAAAAAAAA","name":"a name that is rather long",
 "description":"and a description that is longer still","restricted":false,"retention_days":null,"created_at":"2026-01-01T00:00:00Z"}],"next_cursor":null})";

constexpr const char* terminal_shop = R"({"data":{"id":"project_1","name":"shop"}})";

} // namespace

TEST_CASE("on a terminal a table has a bold title, fits the width, and prints short times") {
    ScriptedServer server;
    server.on("GET /v1/projects", 200, one_project);
    Client client;
    client.log_in_to(server);
    OnTerminal terminal({"project", "list"}, client.environment);
    CHECK(terminal.finish() == 0);
    CHECK(terminal.shown().starts_with("\x1b[1mID "));
    CHECK(terminal.shown().find("project_01JAAAAAAAAAAAAAAAAAAAAAAA  a name …  and a des") != std::string::npos);
    CHECK(terminal.shown().find("2026-01-01\r\n") != std::string::npos);

    client.environment["NO_COLOR"] = "1";
    OnTerminal plain({"project", "list"}, client.environment);
    CHECK(plain.finish() == 0);
    CHECK(plain.shown().find('\x1b') == std::string::npos);
}

TEST_CASE("a password prompt does not show the password, which can be corrected") {
    ScriptedServer server;
    server.on("POST /v1/login", [](const net::Request& request) {
        if (request.body.find("\"secret\"") == std::string::npos)
            return net::error_response(401, "unauthorized", "wrong");
        net::Response response = net::json_response(200, R"({"data":{"csrf_token":"c"}})");
        response.set_header("Set-Cookie", "hone_session=x");
        return response;
    });
    server.on("POST /v1/keys", 200, R"({"data":{"id":"key_1","key":"hone_k"}})");
    Client client;
    OnTerminal terminal({"login", "--url", server.url()}, client.environment);
    REQUIRE(terminal.wait_for("Email: "));
    CHECK(terminal.echoes());
    terminal.type("ada@example.com\n");
    REQUIRE(terminal.wait_for("Password: "));
    CHECK_FALSE(terminal.echoes());
    terminal.type("rubbish\x15secreté\x7ft\x7f\n");
    CHECK(terminal.finish() == 0);
    CHECK(terminal.shown().find("secre") == std::string::npos);
    CHECK(terminal.shown().find("Logged in") != std::string::npos);
}

TEST_CASE("Ctrl-C at the password ends the program and gives the terminal its echo back") {
    ScriptedServer server;
    Client client;
    OnTerminal terminal({"login", "--url", server.url(), "--email", "a@b.c"}, client.environment);
    REQUIRE(terminal.wait_for("Password: "));
    terminal.type("sec\x03");
    REQUIRE(terminal.wait_for("cancelled"));
    CHECK(terminal.echoes());
    CHECK(terminal.finish() == 1);
    CHECK(server.seen().empty());
}

TEST_CASE("deleting needs the name as confirmation") {
    ScriptedServer server;
    server.on("GET /v1/projects/shop", 200, terminal_shop);
    server.on("DELETE /v1/projects/project_1", 200, R"({"data":{}})");
    Client client;
    client.log_in_to(server);
    {
        OnTerminal terminal({"project", "delete", "shop"}, client.environment);
        REQUIRE(terminal.wait_for("Type shop to continue: "));
        terminal.type("yes\n");
        CHECK(terminal.finish() == 2);
        CHECK(terminal.shown().find("not confirmed") != std::string::npos);
    }
    for (const auto& seen : server.seen()) CHECK(seen.method == "GET");
    OnTerminal terminal({"project", "delete", "shop"}, client.environment);
    REQUIRE(terminal.wait_for("Type shop to continue: "));
    terminal.type("shop\n");
    CHECK(terminal.finish() == 0);
    CHECK(server.seen().back().method == "DELETE");
}

TEST_CASE("a terminal gets no binary backup and no raw escapes of an audit export") {
    ScriptedServer server;
    server.on("GET /v1/audit/export", [](const net::Request&) {
        net::Response response = net::text_response(200, "{\"actor_name\":\"\u202E\u009b2J\"}\n");
        response.content_type = "application/x-ndjson";
        return response;
    });
    Client client;
    client.log_in_to(server);
    OnTerminal backup({"backup", "-"}, client.environment);
    CHECK(backup.finish() == 2);
    OnTerminal audit({"audit", "export"}, client.environment);
    CHECK(audit.finish() == 0);
    CHECK(audit.shown() == "{\"actor_name\":\"\\u202e\\u009b2J\"}\r\n");
}

TEST_CASE("a reader that leaves early ends the command quietly") {
    ScriptedServer server;
    server.on("GET /v1/projects", 200, one_project);
    Client client;
    client.log_in_to(server);
    const std::string errors = client.home() + "/errors";
    const std::string gate = client.home() + "/gate";
    const std::string script = client.home() + "/script";
    // The reader closes its end, and only then lets the client start.
    REQUIRE(write_file(script, "mkfifo " + gate + "\n( read -r _ < " + gate +
                                   "; exec " HONE_CLI_CLIENT " project list 2>" + errors +
                                   " ) | { exec <&-; echo go > " + gate + "; }\nexit ${PIPESTATUS[0]}\n")
                .ok());
    FILE* pipe = popen(("HONE_URL=" + server.url() + " HONE_API_KEY=k bash " + script).c_str(), "r");
    REQUIRE(pipe != nullptr);
    CHECK(WEXITSTATUS(pclose(pipe)) == 1);
    CHECK(read_file(errors).value().empty());
}
