// For tests: the scripted API of tests/managed_agents in a process of its own, a journal in memory, tools that count.
#pragma once

#include "base/mutex.h"
#include "base/testing.h"
#include "crypto/crypto.h"
#include "managed/follower.h"
#include "managed/launch.h"

#include <array>
#include <csignal>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <map>
#include <memory>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace hone::managed::testing {

constexpr std::string_view test_key = "sk-ant-canary-5d1f";

template <class T>
T must(Result<T> result) {
    REQUIRE_MESSAGE(result.ok(), (result.ok() ? "" : result.error().message));
    return std::move(result).value();
}

// Ends with its standard input.
class FakeProcess {
public:
    explicit FakeProcess(const std::string& source) {
        std::signal(SIGPIPE, SIG_IGN);
        crypto::start();
        std::array<int, 2> input{}, output{};
        REQUIRE(::pipe2(input.data(), O_CLOEXEC) == 0);
        REQUIRE(::pipe2(output.data(), O_CLOEXEC) == 0);
        posix_spawn_file_actions_t actions;
        ::posix_spawn_file_actions_init(&actions);
        ::posix_spawn_file_actions_adddup2(&actions, input[0], 0);
        ::posix_spawn_file_actions_adddup2(&actions, output[1], 1);
        std::array<std::string, 6> words{"python3",
                                         "-B",
                                         source + "/tests/managed_agents/managed_agents.py",
                                         "--key",
                                         std::string(test_key),
                                         "--until-input-ends"};
        std::vector<char*> arguments;
        for (std::string& word : words) arguments.push_back(word.data());
        arguments.push_back(nullptr);
        REQUIRE(::posix_spawnp(&m_process, "python3", &actions, nullptr, arguments.data(), environ) == 0);
        ::posix_spawn_file_actions_destroy(&actions);
        ::close(input[0]);
        ::close(output[1]);
        m_input = Fd(input[1]);
        const Fd from(output[0]);
        std::string line;
        for (char byte = 0; ::read(from.get(), &byte, 1) == 1 && byte != '\n';) line += byte;
        REQUIRE(line.starts_with("listening http://"));
        url = line.substr(line.find(' ') + 1);
    }
    ~FakeProcess() {
        m_input = Fd();
        ::waitpid(m_process, nullptr, 0);
    }
    FakeProcess(const FakeProcess&) = delete;
    FakeProcess& operator=(const FakeProcess&) = delete;

    std::string url;

private:
    Fd m_input;
    pid_t m_process = 0;
};

// The scripted API as after its start. One process serves all tests, one after the other: to start one takes longer
// than most of them, above all on a busy machine.
class FakeApi {
public:
    FakeApi(const std::string& source, uint32_t seed) {
        static const FakeProcess process(source);
        url = process.url;
        post("/_reset", R"({"seed": )" + std::to_string(seed) + "}");
    }

    json::Value get(const std::string& path) { return exchange("GET", path, {}); }
    void post(const std::string& path, std::string body) { exchange("POST", path, std::move(body)); }
    // The events of the history, "id type" each.
    std::vector<std::string> history(const std::string& session) {
        std::vector<std::string> events;
        const json::Value truth = get("/_sessions/" + session);
        for (const json::Value& event : truth.at("events").as_array())
            events.push_back(text_at(event, {"id"}) + " " + text_at(event, {"type"}));
        return events;
    }
    ModelUsage usage(const std::string& session) {
        const json::Value truth = get("/_sessions/" + session);
        const auto tokens = [&](const char* name) { return truth.at("usage").at(name).as_int64(); };
        return {tokens("input_tokens"), tokens("output_tokens"), tokens("cache_read_input_tokens"),
                tokens("cache_creation_input_tokens")};
    }
    // How many results each call has got, all calls together with how many were refused.
    std::pair<std::vector<int64_t>, int64_t> results(const std::string& session) {
        const json::Value truth = get("/_sessions/" + session);
        std::vector<int64_t> accepted;
        for (const auto& entry : truth.at("accepted").as_object()) accepted.push_back(entry.value().as_int64());
        return {accepted, truth.at("refused_results").as_int64()};
    }

    std::string url;

private:
    json::Value exchange(const std::string& method, const std::string& path, std::string body) {
        net::ClientRequest request;
        request.method = method;
        request.url = url + path;
        request.body = std::move(body);
        const net::ClientResponse response = must(m_client.send(request));
        REQUIRE(response.status == 200);
        return must(json::parse(response.body));
    }

    net::HttpClient m_client;
};

// Adds the credential. Can end the client at a request: before it is sent, or when its response is in.
class TestTransport final : public Transport {
public:
    Result<net::ClientResponse> send(net::ClientRequest request) override {
        request.headers.push_back({"Authorization", "Bearer " + std::string(test_key)});
        const int number = ++requests;
        if (number == end_before && request.cancel != nullptr) request.cancel->cancel();
        auto response = m_client.send(request);
        if (number == end_after && request.cancel != nullptr) request.cancel->cancel();
        return response;
    }
    std::atomic<int> requests = 0;
    int end_before = 0;
    int end_after = 0;

private:
    net::HttpClient m_client;
};

// Short pauses, and timeouts that no busy machine reaches: what a timeout does is a test of its own. `quiet` is no
// timeout: what a list that is behind does not have yet is found by the next one.
inline Pace quick_pace() {
    Pace pace;
    pace.first_retry = std::chrono::milliseconds(2);
    pace.longest_retry = std::chrono::milliseconds(50);
    pace.retries = 8;
    pace.overlap = std::chrono::seconds(1);
    pace.quiet = std::chrono::milliseconds(300);
    for (Duration* timeout :
         {&pace.call_timeout, &pace.join_timeout, &pace.status_timeout, &pace.stop_timeout, &pace.settle})
        *timeout = std::chrono::minutes(10);
    return pace;
}

// What a database would have: it outlives the followers.
class MemoryJournal final : public Journal {
public:
    Result<Progress> load() override {
        const Lock lock(m_mutex);
        return json::read<Progress>(m_progress);
    }
    Result<Appended> append(const Event& event, const Progress& after) override {
        const Lock lock(m_mutex);
        if (m_fail_at != 0 && ++m_appends == m_fail_at) return internal("the disk is full");
        if (m_ids.contains(event.id)) return Appended::duplicate;
        if (after.sequence != static_cast<int64_t>(m_events.size()) + 1) return Appended::behind;
        m_ids.insert(event.id);
        m_events.push_back(event);
        m_progress = json::write(after);
        return Appended::recorded;
    }
    std::vector<std::string> events() const {
        const Lock lock(m_mutex);
        std::vector<std::string> lines;
        for (const Event& event : m_events) lines.push_back(event.id + " " + event.type);
        return lines;
    }
    std::vector<Event> all() const {
        const Lock lock(m_mutex);
        return m_events;
    }
    void fail_at(int append) {
        const Lock lock(m_mutex);
        m_fail_at = append;
        m_appends = 0;
    }

private:
    mutable Mutex m_mutex;
    std::string m_progress GUARDED_BY(m_mutex) = json::write(Progress{});
    std::vector<Event> m_events GUARDED_BY(m_mutex);
    std::set<std::string> m_ids GUARDED_BY(m_mutex);
    int m_fail_at GUARDED_BY(m_mutex) = 0;
    int m_appends GUARDED_BY(m_mutex) = 0;
};

// Stores its replies by call, as the run layer does.
class CountingTools final : public Tools {
public:
    Result<ToolReply> run(const ToolCall& call) override {
        const Lock lock(m_mutex);
        ++calls;
        if (const auto stored = m_replies.find(call.id); stored != m_replies.end()) return stored->second;
        ++executed;
        return m_replies[call.id] = {call.name + ": saved", false};
    }
    std::atomic<int> calls = 0;
    std::atomic<int> executed = 0;

private:
    Mutex m_mutex;
    std::map<std::string, ToolReply> m_replies GUARDED_BY(m_mutex);
};

// One session of a play with everything that outlives a server.
struct Scene {
    Scene(const std::string& source, std::string play_name, uint32_t seed = 1)
        : own(std::make_unique<FakeApi>(source, seed)),
          fake(*own),
          play(std::move(play_name)) {}
    // Many sessions of one test.
    Scene(FakeApi& shared, std::string play_name) : fake(shared), play(std::move(play_name)) {}

    ApiOptions options() const { return {fake.url + "/play/" + play, {}, pace}; }
    std::string start(NewSession wanted = {}) {
        net::Cancel cancel;
        TestTransport transport;
        Api api(options(), transport, clock);
        Launch launch(api);
        static std::atomic<int> number = 0;
        wanted.run_id = "run_" + std::to_string(++number);
        wanted.agent = must(launch.agent({"agent", "claude-opus-5-5", "Read.", {}}, cancel));
        wanted.environment = must(launch.environment({"closed", false, {}, false, {}}, cancel));
        wanted.first_message = "Begin.";
        return session = must(launch.session(wanted, clock.now(), cancel));
    }
    Result<Progress> follow(int64_t messages = 1) {
        net::Cancel cancel;
        TestTransport transport;
        return follow(messages, transport, cancel);
    }
    Result<Progress> follow(int64_t messages, TestTransport& transport, net::Cancel& cancel) {
        Api api(options(), transport, clock);
        return Follower(api, session, journal, tools).follow(messages, cancel);
    }
    void say(int64_t number, const std::string& text) {
        net::Cancel cancel;
        TestTransport transport;
        Api api(options(), transport, clock);
        must(Launch(api).message(session, number, text, cancel));
    }

    std::unique_ptr<FakeApi> own;
    FakeApi& fake;
    std::string play;
    Pace pace = quick_pace();
    SystemClock clock;
    MemoryJournal journal;
    CountingTools tools;
    std::string session;
};

} // namespace hone::managed::testing
