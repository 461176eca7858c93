// Hone's client of Kubernetes as a command, for the suite `kubernetes`: what it returns is printed as JSON.
//   kubernetes_client KUBECONFIG get PATH | post PATH (body from standard input)
//   kubernetes_client KUBECONFIG pod NAMESPACE SANDBOX IMAGE       creates it, compares it, watches it until it is
//   ready kubernetes_client KUBECONFIG exec NAMESPACE POD[:CONTAINER] COMMAND…
//                                                                  input, output, and as status the exit code
//   kubernetes_client KUBECONFIG delete NAMESPACE POD              by its uid, and watches until it is gone
//   kubernetes_client KUBECONFIG follow NAMESPACE INSTALLATION IMAGE NODE_LABEL NODE_VALUE      follow.h
#include "base/file.h"
#include "base/log.h"
#include "crypto/crypto.h"
#include "follow.h"
#include "kubernetes/api/exec.h"
#include "kubernetes/api/object.h"
#include "kubernetes/api/watcher.h"
#include "kubernetes/pod/admission.h"
#include "kubernetes/pod/pod_spec.h"
#include "kubernetes/pod/pod_state.h"

#include <cstdio>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <thread>

using namespace hone;
using namespace hone::kubernetes;

namespace {

constexpr auto longest = std::chrono::seconds(60);

std::string pods_of(const std::string& name_space) {
    return "/api/v1/namespaces/" + name_space + "/pods";
}

std::string all_input() {
    return {std::istreambuf_iterator<char>(std::cin), {}};
}

Result<int> print(const ApiResponse& response) {
    json::Object shown{{"status", response.status}, {"reason", response.reason}, {"message", response.message}};
    shown["body"] = response.body;
    std::cout << json::print(shown) << "\n";
    return response.ok() ? 0 : 1;
}

// Ends the watch when the pod is what is waited for.
class Waiting final : public WatchHandler {
public:
    Waiting(std::string name, bool until_gone, net::Cancel& cancel)
        : m_name(std::move(name)),
          m_until_gone(until_gone),
          m_cancel(cancel) {}
    void seen(const json::Value& object) override {
        if (text_at(object, {"metadata", "name"}) != m_name) return;
        exists = true;
        state = read_pod_state(object);
        ++events;
        if (!m_until_gone && (state.is_ready || state.phase == PodPhase::ended)) m_cancel.cancel();
    }
    void gone(const std::string& name, const std::string&) override {
        if (name != m_name) return;
        exists = false;
        if (m_until_gone) m_cancel.cancel();
    }
    void listed() override {
        if (m_until_gone && !exists) m_cancel.cancel();
    }
    bool exists = false;
    PodState state;
    int64_t events = 0;

private:
    const std::string m_name;
    const bool m_until_gone;
    net::Cancel& m_cancel;
};

Result<> watch_until(Api& api, const std::string& path, Waiting& waiting, net::Cancel& cancel) {
    Watcher watcher(api, waiting, {path, ""}, &cancel);
    net::Cancel done;
    std::jthread timer([&] {
        (void)api.wait(longest, &done);
        cancel.cancel();
    });
    for (;;) {
        const auto step = watcher.step();
        if (!step.ok() || cancel.is_cancelled() || !api.wait(step.value(), &cancel).ok()) break;
    }
    done.cancel();
    return {};
}

Result<int> create_pod(Api& api, const std::string& name_space, const std::string& id, const std::string& image) {
    PodSettings settings;
    settings.installation = "test";
    settings.image = settings.tools_image = image;
    settings.pull_policy = "Never";
    PodRequest request;
    request.sandbox = sandbox::SandboxId(id);
    request.user_key = id;
    request.limits.memory_bytes = int64_t{64} << 20;
    request.limits.cpus = 0.1;
    request.limits.disk_bytes = int64_t{64} << 20;
    const json::Value sent = TRY(pod_of(settings, request));
    const ApiResponse created = TRY(api.create(pods_of(name_space), sent));
    if (!created.ok()) return print(created);
    json::Array differences;
    for (const Difference& each : admission_differences(sent, created.body))
        differences.push_back(json::Value(each.path + " " + each.what));
    net::Cancel cancel;
    Waiting waiting(pod_name(request.sandbox), false, cancel);
    TRY(watch_until(api, pods_of(name_space), waiting, cancel));
    std::cout << json::print(json::Object{{"name", pod_name(request.sandbox)},
                                          {"uid", uid_of(id)},
                                          {"differences", differences},
                                          {"is_ready", waiting.state.is_ready},
                                          {"text", waiting.state.text},
                                          {"events", waiting.events}})
              << "\n";
    return waiting.state.is_ready ? 0 : 1;
}

Result<int> delete_pod(Api& api, const std::string& name_space, const std::string& name) {
    const std::string path = pods_of(name_space) + "/" + name;
    const ApiResponse found = TRY(api.get(path));
    if (!found.ok()) return print(found);
    const ApiResponse removed = TRY(api.remove(path, delete_options(text_at(found.body, {"metadata", "uid"}), 1)));
    if (!removed.ok()) return print(removed);
    net::Cancel cancel;
    Waiting waiting(name, true, cancel);
    TRY(watch_until(api, pods_of(name_space), waiting, cancel));
    std::cout << json::print(json::Object{{"exists", waiting.exists}}) << "\n";
    return waiting.exists ? 1 : 0;
}

Result<int> execute(Api& api, const ExecRequest& request) {
    const std::unique_ptr<Exec> exec = TRY(Exec::open(api, request));
    std::jthread sender([&exec] {
        const std::string input = all_input();
        if (exec->send(input).ok()) (void)exec->close_input();
    });
    for (;;) {
        const bool is_open = TRY(exec->step(std::chrono::seconds(1), [](ExecStream stream, std::string_view bytes) {
            return write_all(stream == ExecStream::err ? 2 : 1, bytes);
        }));
        if (is_open) continue;
        if (exec->outcome()->exit_code) return static_cast<int>(*exec->outcome()->exit_code);
        return unavailable(exec->outcome()->message);
    }
}

Result<int> run(const std::vector<std::string>& words) {
    if (words.size() < 3)
        return invalid("usage: kubernetes_client KUBECONFIG get|post|remove|pod|exec|delete|follow …");
    const std::string config = TRY(read_file(words[0]));
    ClusterAccess access = TRY(parse_kubeconfig(config, "", std::filesystem::path(words[0]).parent_path().string()));
    const SystemClock clock;
    const auto credentials = TRY(Credentials::open(std::move(access), clock));
    Api api(*credentials, clock);
    const std::string& verb = words[1];
    if (verb == "get") return print(TRY(api.get(words[2])));
    if (verb == "post") return print(TRY(api.create(words[2], TRY(json::parse(all_input())))));
    if (verb == "pod" && words.size() == 5) return create_pod(api, words[2], words[3], words[4]);
    if (verb == "remove") return print(TRY(api.remove(words[2], json::Object{})));
    if (verb == "follow" && words.size() == 7) return follow(api, {words[2], words[3], words[4], words[5], words[6]});
    if (verb == "delete" && words.size() == 4) return delete_pod(api, words[2], words[3]);
    if (verb == "exec" && words.size() > 4) {
        const size_t colon = words[3].find(':');
        const std::string container =
            colon == std::string::npos ? std::string(worker_container) : words[3].substr(colon + 1);
        const std::vector<std::string> command(words.begin() + 4, words.end());
        return execute(api, {words[2], words[3].substr(0, colon), container, command, true, true});
    }
    return invalid("not a command: " + verb);
}

} // namespace

int main(int count, char** words) {
    crypto::start();
    set_log(LogFormat::text, Level::warning);
    const auto done = run({words + 1, words + count});
    if (done.ok()) return done.value();
    std::cerr << code_name(done.error().code) << ": " << done.error().message << "\n";
    return 125;
}
