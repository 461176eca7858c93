// Drivers against recorded output of the real programs (tests/corpus/harness).
#include "base/file.h"
#include "harness/catalog.h"
#include "harness/driver.h"
#include "harness/reading.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <map>

using namespace hone;
using namespace hone::harness;

namespace {

std::string recorded(const std::string& name) {
    auto text = read_file(std::string(HONE_SOURCE_DIR "/tests/corpus/harness/") + name + ".jsonl");
    REQUIRE(text.ok());
    return text.value();
}

Setup setup() {
    return {
        .model = "some-model", .session = "0192a0a0-0000-7000-8000-000000000001", .program = "/opt/harness/program"};
}

std::map<EventKind, int> counted(const std::vector<Event>& events) {
    std::map<EventKind, int> counts;
    for (const Event& event : events) counts[event.kind] += 1;
    return counts;
}

std::string last_text(const std::vector<Event>& events, EventKind kind) {
    for (auto event = events.rbegin(); event != events.rend(); ++event)
        if (event->kind == kind) return event->text;
    return "(none)";
}

// Feeds a recording in pieces of `size` bytes, as a pipe would.
Output fed(Driver& driver, const std::string& text, size_t size = 1000) {
    Output output;
    for (size_t at = 0; at < text.size(); at += size) driver.read(std::string_view(text).substr(at, size), output);
    return output;
}

} // namespace

TEST_CASE("Claude Code: messages, tools, usage and the end of each turn are read") {
    auto driver = make_claude_code();
    const auto launch = driver->launch(setup());
    REQUIRE(launch.ok());
    CHECK(launch.value().argv.back() == "/hone/claude-mcp.json");
    Output said;
    driver->send("first", said);
    CHECK(said.input == "{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"first\"}}\n");
    CHECK(driver->busy());
    for (const size_t size : {1, 7, 100'000}) {
        auto again = make_claude_code();
        REQUIRE(again->launch(setup()).ok());
        again->send("first", said);
        const Output output = fed(*again, recorded("claude-live-followup"), size);
        auto counts = counted(output.events);
        CHECK(counts[EventKind::message] == 4);
        CHECK(counts[EventKind::tool_call] == 2);
        CHECK(counts[EventKind::tool_result] == 2);
        CHECK(counts[EventKind::result] == 3);
        CHECK(counts[EventKind::error] == 0);
        CHECK_FALSE(again->busy());
        CHECK(again->succeeded());
        CHECK(last_text(output.events, EventKind::result) == "Third answer.");
        CHECK(again->harness_session() == "c875fe64-9a82-4e95-8b11-5a896ea560ac");
    }
}

TEST_CASE("Claude Code: partial messages are not reported twice, a newer version reads the same") {
    // The newer one looks its tool up first.
    const std::pair<const char*, int> recordings[] = {{"claude-basic-partial", 2}, {"claude325-basic", 3}};
    for (const auto& [name, calls] : recordings) {
        auto driver = make_claude_code();
        REQUIRE(driver->launch(setup()).ok());
        Output output;
        driver->send("go", output);
        output = fed(*driver, recorded(name));
        auto counts = counted(output.events);
        CHECK(counts[EventKind::tool_call] == calls);
        CHECK(counts[EventKind::tool_result] == calls);
        CHECK(counts[EventKind::result] == 1);
        CHECK(driver->succeeded());
    }
}

TEST_CASE("Claude Code: a failure reported as success is a failure, and a dead tool server is reported") {
    auto driver = make_claude_code();
    REQUIRE(driver->launch(setup()).ok());
    Output output;
    driver->send("go", output);
    output = fed(*driver, recorded("claude-e400"));
    CHECK_FALSE(driver->succeeded());
    CHECK_FALSE(driver->busy());
    CHECK(output.events.back().failed);
    auto other = make_claude_code();
    REQUIRE(other->launch(setup()).ok());
    output = fed(*other, recorded("claude-badmcp"));
    CHECK(counted(output.events)[EventKind::error] == 2); // two servers, each told once
    output = fed(*other, recorded("claude-badmcp"));
    CHECK(counted(output.events)[EventKind::error] == 0);
}

TEST_CASE("Claude Code: an interrupt ends the turn, the next one continues") {
    auto driver = make_claude_code();
    REQUIRE(driver->launch(setup()).ok());
    Output output;
    driver->send("sleep", output);
    driver->interrupt(output);
    CHECK(output.input.find("\"subtype\":\"interrupt\"") != std::string::npos);
    output = fed(*driver, recorded("claude-interrupt"));
    CHECK(counted(output.events)[EventKind::result] == 2);
    CHECK(driver->succeeded());
}

TEST_CASE("a harness that dies in a turn leaves an error, one that dies between turns does not") {
    auto driver = make_claude_code();
    REQUIRE(driver->launch(setup()).ok());
    Output output;
    driver->send("sleep", output);
    output = fed(*driver, recorded("claude-kill"));
    CHECK(driver->busy());
    driver->end({.code = 9, .by_signal = true}, output);
    CHECK(output.events.back().kind == EventKind::error);
    CHECK(output.events.back().text.find("signal 9") != std::string::npos);
    CHECK_FALSE(driver->busy());
    Output quiet;
    driver->end({}, quiet);
    CHECK(quiet.events.empty());
}

TEST_CASE("a resumed session requests the same session of the harness") {
    Setup again = setup();
    again.resume = "5a1e";
    auto claude = make_claude_code();
    const auto launch = claude->launch(again);
    REQUIRE(launch.ok());
    const auto& argv = launch.value().argv;
    CHECK(std::find(argv.begin(), argv.end(), "--resume") != argv.end());
    CHECK(std::find(argv.begin(), argv.end(), "--session-id") == argv.end());
    auto codex = make_codex();
    REQUIRE(codex->launch(again).ok());
    Output output;
    codex->begin(output);
    output = {};
    codex->read("{\"id\":1,\"result\":{}}\n", output);
    CHECK(output.input.find("thread/resume") != std::string::npos);
    CHECK(output.input.find("5a1e") != std::string::npos);
}

TEST_CASE("Codex: handshake, two turns, usage without overlap") {
    auto driver = make_codex();
    REQUIRE(driver->launch(setup()).ok());
    Output output;
    driver->begin(output);
    driver->send("first", output);
    CHECK(output.input.find("turn/start") == std::string::npos); // waits for its thread
    const std::string text = recorded("codex-appserver");
    const size_t half = text.find("\"method\":\"turn/completed\"");
    REQUIRE(half != std::string::npos);
    const size_t cut = text.find('\n', half) + 1;
    output = fed(*driver, text.substr(0, cut));
    CHECK(output.input.find("thread/start") != std::string::npos);
    CHECK(output.input.find("turn/start") != std::string::npos);
    CHECK_FALSE(driver->busy());
    CHECK(driver->succeeded());
    auto counts = counted(output.events);
    CHECK(counts[EventKind::message] == 2);
    CHECK(counts[EventKind::tool_call] == 2);
    CHECK(counts[EventKind::tool_result] == 2);
    CHECK(counts[EventKind::usage] == 3);
    CHECK(last_text(output.events, EventKind::result) == "All done: note.txt written and echo called.");
    for (const Event& event : output.events)
        if (event.usage) CHECK(*event.usage == Usage{.input = 400, .cache_read = 600, .output = 50});
    Output second;
    driver->send("second", second);
    CHECK(second.input.find("\"id\":4") != std::string::npos);
    output = fed(*driver, text.substr(cut));
    CHECK(last_text(output.events, EventKind::message) == "Second answer (follow-up).");
    CHECK_FALSE(driver->busy());
}

TEST_CASE("Codex: a prompt during a turn steers it, an interrupted turn has failed") {
    auto driver = make_codex();
    REQUIRE(driver->launch(setup()).ok());
    Output output;
    driver->begin(output);
    driver->send("first", output);
    const std::string text = recorded("codex-app-steer");
    const size_t middle = text.find("sleep 3");
    const size_t cut = text.find('\n', middle) + 1;
    output = fed(*driver, text.substr(0, cut));
    CHECK(driver->busy());
    Output steer;
    driver->send("steer me", steer);
    CHECK(steer.input.find("turn/steer") != std::string::npos);
    fed(*driver, text.substr(cut));
    CHECK_FALSE(driver->busy());
    CHECK(driver->succeeded());

    auto other = make_codex();
    REQUIRE(other->launch(setup()).ok());
    other->begin(output);
    other->send("first", output);
    output = fed(*other, recorded("codex-app-interrupt"));
    CHECK(counted(output.events)[EventKind::result] >= 1);
}

TEST_CASE("Codex: a rejected thread ends the run instead of waiting without a limit") {
    auto driver = make_codex();
    REQUIRE(driver->launch(setup()).ok());
    Output output;
    driver->begin(output);
    driver->send("first", output);
    driver->read("{\"id\":1,\"result\":{}}\n{\"id\":2,\"error\":{\"code\":-32600,\"message\":\"no rollout found\"}}\n",
                 output);
    CHECK_FALSE(driver->busy());
    CHECK(output.close_input);
    CHECK(output.events.back().failed);
}

TEST_CASE("Codex: a text with quotes, newlines and control characters stays one TOML string") {
    Setup hostile = setup();
    hostile.system_prompt = "say \"hi\"\n[mcp_servers.evil]\x01\\";
    auto driver = make_codex();
    const auto launch = driver->launch(hostile);
    REQUIRE(launch.ok());
    CHECK(launch.value().files[0].content.find("\"say \\\"hi\\\"\\u000a[mcp_servers.evil]\\u0001\\\\\"") !=
          std::string::npos);
}

TEST_CASE("ACP: Gemini and OpenCode read alike") {
    for (const char* flavour : {"gemini", "opencode"}) {
        auto driver = make_acp(flavour);
        REQUIRE(driver->launch(setup()).ok());
        Output output;
        driver->begin(output);
        driver->send("first", output);
        driver->send("second", output); // waits for the end of the first
        output = fed(*driver, recorded(std::string(flavour) + "-acp"), 333);
        auto counts = counted(output.events);
        CHECK(counts[EventKind::message] == 3);
        CHECK(counts[EventKind::tool_call] == 2);
        CHECK(counts[EventKind::tool_result] == 2);
        CHECK(counts[EventKind::usage] == 2);
        CHECK(counts[EventKind::result] == 2);
        CHECK(last_text(output.events, EventKind::message) == "Second answer (follow-up).");
        CHECK_FALSE(driver->busy());
        CHECK(driver->succeeded());
        CHECK_FALSE(driver->harness_session().empty());
        // Arguments of the calls are there whenever the agent gave them.
        for (const Event& event : output.events)
            if (event.kind == EventKind::tool_call) CHECK(event.input.size() > 2);
    }
}

TEST_CASE("Copilot: offline with the gateway as its provider; its count of the process becomes that of each turn") {
    for (const char* protocol : {"openai", "anthropic"}) {
        Setup wanted = setup();
        wanted.model_protocol = protocol;
        wanted.skills = {{"hone-traces", "/hone/skills/hone-traces"}};
        auto driver = make_acp("copilot");
        const auto launch = driver->launch(wanted);
        REQUIRE(launch.ok());
        std::map<std::string, std::string> env(launch.value().env.begin(), launch.value().env.end());
        CHECK(env["COPILOT_OFFLINE"] == "true");
        CHECK(env["COPILOT_PROVIDER_TYPE"] == protocol);
        CHECK(env["COPILOT_PROVIDER_BASE_URL"].starts_with("http://127.0.0.1:3129/" + std::string(protocol)));
        CHECK(env["COPILOT_PKG_CACHE_HOME"] == copilot_unpacked);
        CHECK(launch.value().folders.at(0).path == "/workspace/.hone/home/.copilot/skills/hone-traces");
    }
    auto driver = make_acp("copilot");
    REQUIRE(driver->launch(setup()).ok());
    Output output;
    driver->begin(output);
    driver->send("first", output);
    driver->send("second", output);
    output = fed(*driver, recorded("copilot-acp"), 333);
    auto counts = counted(output.events);
    CHECK(counts[EventKind::tool_call] == 1);
    CHECK(counts[EventKind::tool_result] == 1);
    CHECK(counts[EventKind::result] == 2);
    std::vector<Usage> usage;
    for (const Event& event : output.events)
        if (event.kind == EventKind::usage) usage.push_back(event.usage.value_or(Usage{}));
    REQUIRE(usage.size() == 2);
    CHECK(usage[0] == Usage{.input = 248, .cache_read = 53, .output = 69, .reasoning = 7});
    CHECK(usage[1] == Usage{.input = 196, .cache_read = 106, .output = 78, .reasoning = 14});
    CHECK(last_text(output.events, EventKind::message) == "The file is written.");
    CHECK(driver->succeeded());
}

TEST_CASE("ACP: tools have one name, however an agent shows them") {
    auto driver = make_acp("qwen");
    REQUIRE(driver->launch(setup()).ok());
    Output output;
    const auto call = [&](const std::string& id, const std::string& title, const std::string& kind) {
        driver->read("{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{\"update\":{\"sessionUpdate\":"
                     "\"tool_call\",\"toolCallId\":\"" +
                         id + "\",\"title\":\"" + title + "\",\"kind\":\"" + kind +
                         "\",\"status\":\"in_progress\"}}}\n",
                     output);
        return output.events.back().tool;
    };
    CHECK(call("1", "echo hello > made.txt", "execute") == "shell");
    CHECK(call("2", "save_file (hone MCP Server)", "other") == "hone.save_file");
    CHECK(call("3", "describe_project (hone MCP Server): {}", "other") == "hone.describe_project");
    CHECK(call("4", "read_file", "read") == "read_file");
    CHECK(call("5", "hone-query_sql", "other") == "hone.query_sql");
}

TEST_CASE("ACP: a loaded session's history is not repeated, however late it arrives, and a lost session starts again") {
    const auto answer = [](int64_t id) {
        return fmt::format(R"({{"jsonrpc":"2.0","id":{},"result":{{}}}})", id) + "\n";
    };
    const auto said = [](std::string_view text) {
        return R"({"jsonrpc":"2.0","method":"session/update","params":{"update":{"sessionUpdate":"agent_message_chunk",)"
               R"("content":{"type":"text","text":")" +
               std::string(text) + "\"}}}}\n";
    };
    Setup resumed = setup();
    resumed.resume = "earlier";
    for (const bool known : {true, false}) {
        auto driver = make_acp("gemini");
        REQUIRE(driver->launch(resumed).ok());
        Output output;
        driver->begin(output); // question 1
        driver->send("go on", output);
        driver->read(answer(1), output);
        CHECK(output.input.find("session/load") != std::string::npos);
        output = {};
        int64_t last = 3;
        if (known) {
            driver->read(said("old") + answer(2) + said("older"), output);
            driver->read(R"({"jsonrpc":"2.0","id":3,"error":{"code":-32601,"message":"Method not found"}})"
                         "\n",
                         output);
            CHECK(output.input.find("session/prompt") == std::string::npos); // something came in between
            driver->read(answer(4), output);
            last = 5;
        } else {
            driver->read(R"({"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"No previous sessions"}})"
                         "\n",
                         output);
            CHECK(output.input.find("session/new") != std::string::npos);
            CHECK(last_text(output.events, EventKind::status).find("No previous sessions") != std::string::npos);
            driver->read(R"({"jsonrpc":"2.0","id":3,"result":{"sessionId":"another"}})"
                         "\n",
                         output);
            last = 4;
        }
        CHECK(output.input.find("session/prompt") != std::string::npos);
        driver->read(said("new"), output);
        driver->read(fmt::format(R"({{"jsonrpc":"2.0","id":{},"result":{{"stopReason":"end_turn"}}}})", last) + "\n",
                     output);
        CHECK(counted(output.events)[EventKind::message] == 1);
        CHECK(last_text(output.events, EventKind::message) == "new");
        CHECK(driver->succeeded());
        CHECK(driver->harness_session() == (known ? "earlier" : "another"));
    }
}

TEST_CASE("ACP: the output of a new session is understood by a driver that would resume it") {
    for (const char* flavour : {"gemini", "opencode"}) {
        Setup later = setup();
        later.resume = "begun";
        auto driver = make_acp(flavour);
        REQUIRE(driver->launch(later).ok());
        Output output;
        driver->begin(output);
        driver->send("first", output);
        driver->read("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n"
                     "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"sessionId\":\"begun\"}}\n"
                     "{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"stopReason\":\"end_turn\"}}\n",
                     output);
        CHECK_FALSE(driver->busy());
        output = {};
        driver->send("second", output);
        CHECK(output.input.find("session/prompt") != std::string::npos);
    }
}

TEST_CASE("ACP: permission is given, unknown requests are rejected immediately") {
    auto driver = make_acp("gemini");
    REQUIRE(driver->launch(setup()).ok());
    Output output;
    driver->read("{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"session/request_permission\",\"params\":{\"options\":["
                 "{\"optionId\":\"no\",\"kind\":\"reject_once\"},{\"optionId\":\"yes\",\"kind\":\"allow_once\"}]}}\n",
                 output);
    CHECK(output.input.find("\"optionId\":\"yes\"") != std::string::npos);
    output = {};
    driver->read("{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"method\":\"craft/drainMidTurnQueue\",\"params\":{}}\n", output);
    CHECK(output.input.find("-32601") != std::string::npos);
    CHECK(output.input.find("\"id\":\"x\"") != std::string::npos);
}

TEST_CASE("a command's lines are its messages, its exit code decides") {
    Setup mine = setup();
    mine.arguments = {"--fast"};
    auto driver = make_command();
    const auto launch = driver->launch(mine);
    REQUIRE(launch.ok());
    CHECK(launch.value().argv == std::vector<std::string>{"/opt/harness/program", "--fast"});
    Output output;
    driver->send("look at this", output);
    CHECK(output.input == "look at this\n");
    CHECK(output.close_input);
    output = {};
    driver->read("hello\nwor", output);
    driver->read("ld", output);
    CHECK(output.events.size() == 1);
    driver->end({}, output);
    CHECK(output.events[1].text == "world");
    CHECK(output.events.back().kind == EventKind::result);
    CHECK(driver->succeeded());

    auto failing = make_command();
    REQUIRE(failing->launch(mine).ok());
    output = {};
    failing->send("x", output);
    failing->read("{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"fine\"}\n", output);
    failing->end({.code = 3}, output);
    CHECK_FALSE(failing->succeeded());
}

TEST_CASE("an endless line is dropped, the next one is read") {
    Lines lines;
    std::vector<std::string> seen;
    const auto take = [&](std::string_view line) { seen.emplace_back(line); };
    const std::string chunk(1 << 20, 'x');
    for (int i = 0; i < 40; ++i) lines.add(chunk, take);
    lines.add("\nnext\n", take);
    CHECK(seen == std::vector<std::string>{"next"});
    CHECK(lines.dropped() == 1);
}

TEST_CASE("every harness of the catalog has a driver") {
    for (const Harness& harness : catalog()) {
        CHECK(find(harness.name) == &harness);
        auto driver = make_driver(harness);
        CHECK(driver->launch(setup()).ok());
        Setup nothing;
        CHECK_FALSE(driver->launch(nothing).ok());
    }
    CHECK(find("nothing") == nullptr);
    CHECK(supports(*find("opencode"), "anthropic"));
    CHECK_FALSE(supports(*find("opencode"), "gemini"));
    CHECK_FALSE(supports(*find("opencode"), "open"));
}
