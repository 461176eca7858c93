// For tests only: tests/kubernetes_fake, an API server in Python, as a process of its own, and a client of it over TLS.
#pragma once

#include "base/file.h"
#include "base/mutex.h"
#include "kubernetes/api/api.h"
#include "kubernetes/api/object.h"
#include "kubernetes/pod/pod_spec.h"
#include "net/testing/certificates.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace hone::kubernetes::testing {

using namespace std::chrono_literals;

constexpr auto long_enough = 20s; // for what happens within milliseconds

class FakeCluster {
public:
    FakeCluster() {
        const auto files = m_authority.issue("api", "DNS:kubernetes.default,IP:127.0.0.1");
        int input[2], output[2];
        REQUIRE(::pipe2(input, O_CLOEXEC) == 0);
        REQUIRE(::pipe2(output, O_CLOEXEC) == 0);
        m_input = Fd(input[1]);
        const Fd child_input(input[0]), child_output(output[1]), own_output(output[0]);
        posix_spawn_file_actions_t actions;
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_adddup2(&actions, child_input.get(), 0);
        posix_spawn_file_actions_adddup2(&actions, child_output.get(), 1);
        std::vector<std::string> words{"python3",         HONE_SOURCE_DIR "/tests/kubernetes_fake/fake_api.py",
                                       files.certificate, files.key,
                                       "first-token",     m_authority.ca_file()};
        std::vector<char*> arguments;
        for (std::string& word : words) arguments.push_back(word.data());
        arguments.push_back(nullptr);
        REQUIRE(::posix_spawnp(&m_process, "python3", &actions, nullptr, arguments.data(), environ) == 0);
        posix_spawn_file_actions_destroy(&actions);
        for (char c = 0; ::read(own_output.get(), &c, 1) == 1 && c != '\n';) m_port += c;
        REQUIRE(!m_port.empty());
    }
    ~FakeCluster() {
        m_input.reset(); // its end ends the server
        int status = 0;
        ::waitpid(m_process, &status, 0);
    }
    FakeCluster(const FakeCluster&) = delete;
    FakeCluster& operator=(const FakeCluster&) = delete;

    ClusterAccess access(const std::string& token = "first-token") const {
        ClusterAccess made;
        made.server = "https://127.0.0.1:" + m_port;
        made.authorities = read_file(m_authority.ca_file()).value();
        made.token = crypto::SecretBytes(token);
        made.name_space = "workers";
        return made;
    }
    json::Value control(const std::string& command) const {
        net::ClientOptions options;
        options.ca_file = m_authority.ca_file();
        net::HttpClient client(options);
        net::ClientRequest request;
        request.method = "POST";
        request.url = "https://127.0.0.1:" + m_port + "/control";
        request.body = command;
        const auto response = client.send(request);
        REQUIRE_MESSAGE(response.ok(), (response.ok() ? "" : response.error().message));
        REQUIRE(response.value().status == 200);
        return json::parse(response.value().body).value();
    }
    void run_pod(const std::string& name) const {
        control(R"({"do":"status","pod":")" + name +
                R"(","status":{"phase":"Running","containerStatuses":[{"name":"worker","state":{"running":{}}}]}})");
    }
    // How often a request that contains this was sent.
    int64_t requests(const std::string& part) const {
        const json::Value state = control(R"({"do":"state"})");
        int64_t count = 0;
        for (const json::Value& request : list_at(state, {"requests"}))
            count += std::string_view(request.get_string()).find(part) != std::string_view::npos ? 1 : 0;
        return count;
    }
    net::testing::TestAuthority& authority() { return m_authority; }

private:
    net::testing::TestAuthority m_authority;
    Fd m_input;
    pid_t m_process = 0;
    std::string m_port;
};

// A client of it. Its waits are recorded and do not last.
struct Client {
    explicit Client(ClusterAccess access)
        : credentials(Credentials::open(std::move(access), clock).value()),
          api(*credentials, clock) {
        api.wait = [this](Duration time, net::Cancel* cancel) -> Result<> {
            {
                const Lock lock(mutex);
                waits.push_back(time);
            }
            if (cancel != nullptr && cancel->is_cancelled()) return conflict("cancelled");
            return {};
        };
    }
    FakeClock clock{from_ns(0)};
    std::unique_ptr<Credentials> credentials;
    Api api;
    Mutex mutex; // channels wait on threads of their own
    std::vector<Duration> waits;
};

inline const std::string pods = "/api/v1/namespaces/workers/pods";

inline json::Value pod_for(const std::string& last_letter) {
    PodSettings settings;
    settings.installation = "ins-1";
    settings.image = settings.tools_image = "example/worker:1";
    PodRequest request;
    request.sandbox = sandbox::SandboxId("sbx_01JCQZ5V8M000000000000000" + last_letter);
    request.user_key = last_letter;
    return pod_of(settings, request).value();
}
inline std::string name_for(const std::string& last_letter) {
    return "hone-01jcqz5v8m000000000000000" + last_letter;
}

} // namespace hone::kubernetes::testing
