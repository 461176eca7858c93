// A provider as a process, for tests and measurements in Python: each line of the input is a request, each line of the
// output a reply with the same `id`. Requests are served at the same time.
//   provider_driver local DATA_FOLDER HONE_PROGRAM
//   provider_driver kubernetes DATA_FOLDER KUBECONFIG NAMESPACE IMAGE [STORAGE_CLASS [READY [POD_USER [RUNTIME]]]]
// {"id":1,"do":"start","spec":{…}}                    → {"id":1,"ok":true,"sandbox":"sbx_…"}
// {"id":2,"do":"run","sandbox":"…","command":{…}}     → its result, with `out` and `err`
// {"id":3,"do":"hold","sandbox":"…"}                  → the view, once the sandbox has stopped
// view, stop, destroy, attach; list; files (of a thread: its entries); copy (a file of the workspace, by its path);
// reconcile; threads (removes all but `kept`); echo (what
// connects to port 3129 gets its bytes back); ready (waits until pods are prepared); close (the provider; the last
// request); memory (resident bytes of this process)
#include "base/log.h"
#include "base/mutex.h"
#include "crypto/crypto.h"
#include "kubernetes/provider/kubernetes_provider.h"
#include "sandbox/local/local_provider.h"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

using namespace hone;
using namespace hone::sandbox;

namespace {

Result<std::unique_ptr<Provider>> open_provider(const std::vector<std::string>& words) {
    if (words.size() >= 3 && words[0] == "local") return open_local_provider({words[1], words[2]});
    if (words.size() < 5 || words[0] != "kubernetes") return invalid("usage: see the head of driver.cpp");
    static const SystemClock clock;
    kubernetes::ProviderOptions options;
    options.access = TRY(kubernetes::parse_kubeconfig(TRY(read_file(words[2])), "",
                                                      std::filesystem::path(words[2]).parent_path().string()));
    options.name_space = words[3];
    options.pods.image = options.pods.tools_image = words[4];
    options.pods.pull_policy = "Never";
    if (words.size() > 5) options.storage_class = words[5];
    if (words.size() > 6 && !words[6].empty()) options.ready = std::stoul(words[6]);
    if (words.size() > 7 && !words[7].empty())
        options.pods.user = parse_enum<kubernetes::PodUser>(words[7]).value_or(kubernetes::PodUser::own_uid);
    if (words.size() > 8) options.pods.runtime_classes[Tier::gvisor] = words[8];
    options.folder = words[1] + "/kubernetes";
    options.store = TRY(Store::open(words[1]));
    return kubernetes::open_kubernetes_provider(std::move(options), clock);
}

std::string text_in(const json::Object& request, std::string_view name) {
    const json::Value* found = request.if_contains(name);
    return found != nullptr && found->is_string() ? std::string(found->get_string()) : std::string();
}

class Driver {
public:
    explicit Driver(std::unique_ptr<Provider> provider) : m_provider(std::move(provider)) {}
    ~Driver() {
        m_is_over = true;
        for (std::thread& echo : m_echoes) echo.join();
    }

    Result<json::Object> serve(const json::Object& request) {
        const std::string verb = text_in(request, "do");
        if (verb == "start") return start(request);
        if (verb == "list") {
            json::Array ids;
            for (const SandboxId& id : TRY(m_provider->list())) ids.push_back(json::Value(id.text()));
            return json::Object{{"sandboxes", std::move(ids)}};
        }
        if (verb == "files") return files(text_in(request, "thread"));
        if (verb == "threads")
            return json::Object{{"removed", TRY(m_provider->remove_other_threads({text_in(request, "kept")}))}};
        if (verb == "reconcile") return json::Object{{"removed", TRY(m_provider->reconcile())}};
        if (verb == "close") {
            m_provider.reset();
            return json::Object();
        }
        if (verb == "ready") return json::Object{{"ready", m_provider->await_ready(60'000)}};
        if (verb == "memory") return json::Object{{"bytes", memory()}};
        const SandboxId id(text_in(request, "sandbox"));
        if (verb == "destroy") {
            TRY(m_provider->destroy(id));
            return json::Object();
        }
        const std::shared_ptr<Sandbox> box = TRY(m_provider->attach(id));
        if (verb == "run") return run(*box, request);
        if (verb == "echo") return echo(*box);
        if (verb == "attach") return json::Object();
        if (verb == "copy") return copy(*box, text_in(request, "path"));
        if (verb == "view") return json::to_value(TRY(box->view())).get_object();
        if (verb == "stop") return json::to_value(TRY(box->stop())).get_object();
        if (verb == "hold") return json::to_value(TRY(hold(*box))).get_object();
        return invalid("not a request: " + verb);
    }

private:
    Result<json::Object> start(const json::Object& request) {
        const SandboxSpec spec = TRY(json::read<SandboxSpec>(json::print(request.at("spec"))));
        const auto box = TRY(m_provider->start(spec));
        return json::Object{{"sandbox", box->id().text()}};
    }

    // As a worker does it: what the pod cannot say any more is in the view.
    static Result<SandboxView> hold(Sandbox& box) {
        const auto stopped = box.wait_stopped(-1);
        return stopped.ok() ? stopped : box.view();
    }

    static Result<json::Object> run(Sandbox& box, const json::Object& request) {
        const int64_t number = TRY(box.execute(TRY(json::read<Command>(json::print(request.at("command"))))));
        std::string out, err;
        for (int64_t offset = 0;;) {
            const Output output = TRY(box.output(number, offset, -1));
            for (const Output::Part& part : output.parts) (part.stream == Stream::out ? out : err) += part.bytes;
            offset = output.next;
            if (output.finished) break;
        }
        json::Object reply = json::to_value(TRY(box.wait(number, -1))).get_object();
        reply["out"] = out;
        reply["err"] = err;
        return reply;
    }

    Result<json::Object> files(const std::string& thread) {
        const auto files = TRY(m_provider->thread_files(thread));
        json::Array names;
        for (const FileEntry& entry : TRY(files->list("", {}))) names.push_back(json::Value(entry.name));
        return json::Object{{"names", std::move(names)}};
    }

    static Result<json::Object> copy(Sandbox& box, const std::string& path) {
        const auto files = TRY(box.files());
        const Fd into(::memfd_create("copy", MFD_CLOEXEC));
        TRY(files->copy(path, into.get(), {}));
        std::string text(1 << 10, '\0');
        const ssize_t got = ::pread(into.get(), text.data(), text.size(), 0);
        text.resize(static_cast<size_t>(std::max<ssize_t>(0, got)));
        return json::Object{{"text", text}};
    }

    Result<json::Object> echo(Sandbox& box) {
        auto listeners = std::make_shared<std::vector<Fd>>(TRY(box.listeners()));
        const Lock lock(m_mutex);
        m_echoes.emplace_back([this, listeners] {
            std::vector<std::jthread> connections;
            while (!m_is_over) {
                pollfd wait{(*listeners)[1].get(), POLLIN, 0};
                if (::poll(&wait, 1, 200) != 1) continue;
                auto socket = std::make_shared<Fd>(::accept4((*listeners)[1].get(), nullptr, nullptr, SOCK_CLOEXEC));
                connections.emplace_back([socket] {
                    std::string piece(64 << 10, '\0');
                    for (ssize_t got; (got = ::read(socket->get(), piece.data(), piece.size())) > 0;)
                        if (!write_all(socket->get(), std::string_view(piece.data(), static_cast<size_t>(got))).ok())
                            return;
                });
            }
        });
        return json::Object();
    }

    static int64_t memory() {
        std::ifstream file("/proc/self/statm");
        int64_t all = 0, resident = 0;
        file >> all >> resident;
        return resident * ::sysconf(_SC_PAGESIZE);
    }

    std::unique_ptr<Provider> m_provider;
    Mutex m_mutex;
    std::atomic<bool> m_is_over{false};
    std::vector<std::thread> m_echoes GUARDED_BY(m_mutex);
};

json::Object reply_to(Driver& driver, const std::string& line, json::Value& id) {
    const auto request = json::parse(line);
    if (!request.ok() || !request.value().is_object()) return {{"ok", false}, {"why", "not a request"}};
    const json::Object& fields = request.value().get_object();
    if (const json::Value* found = fields.if_contains("id")) id = *found;
    auto done = driver.serve(fields);
    if (!done.ok()) return {{"ok", false}, {"code", code_name(done.error().code)}, {"why", done.error().message}};
    done.value()["ok"] = true;
    return std::move(done).value();
}

} // namespace

int main(int count, char** given) {
    crypto::start();
    set_log(LogFormat::text, Level::warning);
    ::signal(SIGPIPE, SIG_IGN);
    auto provider = open_provider({given + 1, given + count});
    if (!provider.ok()) return std::cerr << provider.error().message << "\n", 2;
    Driver driver(std::move(provider).value());
    Mutex output;
    std::vector<std::jthread> requests;
    for (std::string line; std::getline(std::cin, line);)
        requests.emplace_back([&driver, &output, line] {
            json::Value id;
            json::Object reply = reply_to(driver, line, id);
            reply["id"] = id;
            const Lock lock(output);
            std::cout << json::print(reply) << std::endl;
        });
    std::cout.flush();
    ::_exit(0); // requests that wait for something that does not come end with the process
}
