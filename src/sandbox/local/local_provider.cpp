#include "sandbox/local/local_provider.h"

#include "base/log.h"
#include "base/mutex.h"
#include "sandbox/image/volume.h"
#include "sandbox/image/workspace.h"
#include "sandbox/local/slot_pool.h"
#include "sandbox/shim/protocol.h"
#include "sandbox/shim/spawner.h"
#include "sandbox/wall/access_rules.h"
#include "sandbox/wall/cgroup.h"
#include "sandbox/wall/channel.h"
#include "sandbox/wall/program.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

namespace hone::sandbox {

namespace {

constexpr size_t output_step = 1 << 20;

class LocalSandbox final : public Sandbox {
public:
    LocalSandbox(SandboxId id, Channel channel) : m_id(std::move(id)), m_channel(std::move(channel)) {}

    const SandboxId& id() const override { return m_id; }

    Result<SandboxView> view() override { return view_of(ShimVerb::view, {}); }
    Result<SandboxView> stop() override { return view_of(ShimVerb::stop, {}); }

    Result<int64_t> execute(const Command& command) override {
        ShimRequest request;
        request.verb = ShimVerb::execute;
        request.command = command;
        const ShimReply reply = TRY(exchange(request));
        return reply.number.value_or(0);
    }

    Result<CommandResult> wait(int64_t command, int64_t timeout_ms) override {
        ShimRequest request = about(ShimVerb::wait, command);
        if (timeout_ms >= 0) request.timeout_ms = timeout_ms;
        const ShimReply reply = TRY(exchange(request));
        if (!reply.result) return corrupt("the shim sent no result");
        if (!reply.finished.value_or(false)) return busy("the command still runs");
        return *reply.result;
    }

    Result<SandboxView> wait_stopped(int64_t timeout_ms) override {
        ShimRequest request;
        request.verb = ShimVerb::wait;
        if (timeout_ms >= 0) request.timeout_ms = timeout_ms;
        const ShimReply reply = TRY(exchange(request));
        if (!reply.view) return corrupt("the shim sent no view");
        if (!reply.finished.value_or(false)) return busy("the sandbox still runs");
        return *reply.view;
    }

    Result<Output> output(int64_t command, int64_t offset, int64_t timeout_ms) override {
        const Lock lock(m_mutex);
        Spool& spool = m_spools[command];
        if (!spool.file.is_open()) {
            std::vector<Fd> descriptors;
            const ShimReply reply = TRY(exchange_locked(about(ShimVerb::output, command), descriptors));
            if (descriptors.size() != 1) return corrupt("the shim sent no spool");
            spool.file = std::move(descriptors[0]);
            spool.finished = reply.finished.value_or(false);
            spool.size = reply.size.value_or(0);
        }
        if (offset >= spool.size && !spool.finished) {
            ShimRequest request = about(ShimVerb::output, command);
            request.offset = offset;
            if (timeout_ms >= 0) request.timeout_ms = timeout_ms;
            std::vector<Fd> none;
            const ShimReply reply = TRY(exchange_locked(request, none));
            spool.finished = reply.finished.value_or(false);
            spool.size = reply.size.value_or(0);
        }
        return read_spool(spool, offset);
    }

    Result<size_t> write_input(int64_t command, std::string_view bytes, int64_t timeout_ms) override {
        const Lock lock(m_inputs_mutex);
        Fd& pipe = m_inputs[command];
        if (!pipe.is_open()) {
            pipe = TRY(input(command));
            ::fcntl(pipe.get(), F_SETFL, O_NONBLOCK);
        }
        for (bool has_waited = false;; has_waited = true) {
            const ssize_t written = ::write(pipe.get(), bytes.data(), bytes.size());
            if (written >= 0) return static_cast<size_t>(written);
            if (errno == EINTR) continue;
            if (errno != EAGAIN) return conflict("nothing reads the command's input");
            if (timeout_ms == 0 || has_waited) return size_t{0};
            pollfd wait{pipe.get(), POLLOUT, 0};
            ::poll(&wait, 1, static_cast<int>(std::min<int64_t>(timeout_ms, INT32_MAX)));
        }
    }
    Result<> close_input(int64_t command) override {
        {
            const Lock lock(m_inputs_mutex);
            m_inputs.erase(command);
        }
        return send(about(ShimVerb::close_input, command));
    }
    Result<Fd> input(int64_t command) override { return descriptor_of(about(ShimVerb::input, command)); }
    Result<Fd> stdout_pipe(int64_t command) override { return descriptor_of(about(ShimVerb::stdout_pipe, command)); }
    Result<> signal(int64_t command, int signal) override {
        ShimRequest request = about(ShimVerb::signal, command);
        request.value = signal;
        return send(request);
    }
    Result<> resize(int64_t command, int rows, int columns) override {
        ShimRequest request = about(ShimVerb::resize, command);
        request.rows = rows;
        request.columns = columns;
        return send(request);
    }
    Result<> freeze() override { return send(about(ShimVerb::freeze, std::nullopt)); }
    Result<> thaw() override { return send(about(ShimVerb::thaw, std::nullopt)); }

    Result<std::vector<Fd>> listeners() override {
        const Lock lock(m_mutex);
        std::vector<Fd> descriptors;
        TRY(exchange_locked(about(ShimVerb::listeners, std::nullopt), descriptors));
        return descriptors;
    }

    Result<Fd> workspace() override { return descriptor_of(about(ShimVerb::workspace, std::nullopt)); }
    Result<std::unique_ptr<Files>> files() override { return files_of(TRY(workspace())); }
    Result<> refresh(const Mount& /*changed*/) override { return {}; } // a mount shows its source

    Result<> destroy() override {
        auto gone = send(about(ShimVerb::destroy, std::nullopt));
        return !gone.ok() && gone.error().code == Code::unavailable ? Result<>()
                                                                    : gone; // it ended before it could reply
    }

    // To a slot, before anything else. Code::unavailable: it has ended, and nothing was done.
    Result<> claim(const SandboxSpec& spec) {
        ShimRequest request;
        request.verb = ShimVerb::claim;
        request.spec = spec;
        const Lock lock(m_mutex);
        TRY(m_channel.send(json::write(request)));
        if (m_channel.is_unheard()) return unavailable("the prepared sandbox ended before it was claimed");
        return {};
    }

    // The first word of a new shim: it is ready, or why it is not.
    Result<> await_ready() {
        const Lock lock(m_mutex);
        auto message = m_channel.receive();
        if (!message.ok()) return unavailable("the sandbox's shim ended while it was started");
        const ShimReply reply = TRY(json::read<ShimReply>(message.value().text));
        if (reply.code) return error_of(reply);
        return {};
    }

private:
    struct Spool {
        Fd file;
        int64_t size = 0;
        bool finished = false;
    };

    static ShimRequest about(ShimVerb verb, std::optional<int64_t> command) {
        ShimRequest request;
        request.verb = verb;
        request.number = command;
        return request;
    }

    static Result<Output> read_spool(const Spool& spool, int64_t offset) {
        Output output;
        const auto wanted = static_cast<size_t>(std::clamp<int64_t>(spool.size - offset, 0, output_step));
        std::string text(wanted, '\0');
        const ssize_t count = ::pread(spool.file.get(), text.data(), text.size(), offset);
        if (count < 0) return system_error("read the spool", errno);
        text.resize(static_cast<size_t>(count));
        const Decoded decoded = TRY(decode_frames(text));
        for (const Frame& frame : decoded.frames)
            output.parts.push_back({frame.stream, frame.time, std::string(frame.bytes)});
        output.next = offset + static_cast<int64_t>(decoded.used);
        output.finished = spool.finished && output.next >= spool.size;
        return output;
    }

    Result<ShimReply> exchange_locked(const ShimRequest& request, std::vector<Fd>& descriptors) REQUIRES_LOCK(m_mutex) {
        TRY(m_channel.send(json::write(request)));
        Message message = TRY(m_channel.receive());
        ShimReply reply = TRY(json::read<ShimReply>(message.text));
        if (reply.code) return error_of(reply);
        descriptors = std::move(message.descriptors);
        return reply;
    }

    Result<ShimReply> exchange(const ShimRequest& request) {
        const Lock lock(m_mutex);
        std::vector<Fd> none;
        return exchange_locked(request, none);
    }

    Result<> send(const ShimRequest& request) {
        TRY(exchange(request));
        return {};
    }

    Result<Fd> descriptor_of(const ShimRequest& request) {
        const Lock lock(m_mutex);
        std::vector<Fd> descriptors;
        TRY(exchange_locked(request, descriptors));
        if (descriptors.size() != 1) return corrupt("the shim sent no descriptor");
        return std::move(descriptors[0]);
    }

    Result<SandboxView> view_of(ShimVerb verb, std::optional<int64_t> command) {
        const ShimReply reply = TRY(exchange(about(verb, command)));
        if (!reply.view) return corrupt("the shim sent no view");
        return *reply.view;
    }

    const SandboxId m_id;
    Mutex m_mutex;
    Channel m_channel GUARDED_BY(m_mutex);
    std::map<int64_t, Spool> m_spools GUARDED_BY(m_mutex);
    Mutex m_inputs_mutex; // before m_mutex
    std::map<int64_t, Fd> m_inputs GUARDED_BY(m_inputs_mutex);
};

class LocalProvider final : public Provider {
public:
    explicit LocalProvider(LocalOptions options) : m_options(std::move(options)) {}

    ~LocalProvider() override {
        m_pool.reset();
        const Lock lock(m_mutex);
        m_channel.close(); // its end; shims stay
        if (m_spawner > 0) ::waitpid(m_spawner, nullptr, 0);
        if (m_inside) m_inside->retire();
    }

    Result<> open() {
        {
            const Lock lock(m_mutex);
            TRY(start_spawner());
            if (m_inside) return {}; // cleans up when it has served
            SpawnerRequest request;
            request.verb = SpawnerVerb::reconcile;
            std::vector<Fd> none;
            TRY(exchange_locked(request, none));
        }
        if (m_options.ready > 0)
            m_pool = std::make_unique<SlotPool>(m_options.ready, [this]() -> Result<ReadySlot> { return make_slot(); });
        return {};
    }

    bool await_ready(int64_t timeout_ms) override { return m_pool == nullptr || m_pool->await_full(timeout_ms); }

    Capabilities capabilities() override {
        Capabilities declared;
        declared.tiers.push_back(Tier::ns);
        if (::geteuid() == 0 && ::access("/usr/bin/runsc", X_OK) == 0) declared.tiers.push_back(Tier::gvisor);
        const CgroupHost cgroups = CgroupHost::probe(false);
        declared.execute = declared.pty = declared.broker = declared.threads = declared.reattach = true;
        declared.layers = declared.shares_disk = true;
        declared.freeze = cgroups.can_freeze();
        declared.limits_by = cgroups.keeper();
        return declared;
    }

    using Provider::start;
    Result<std::unique_ptr<Sandbox>> start(const SandboxSpec& spec, const StartProgress& /*progress*/) override {
        TRY(validate(spec));
        if (auto claimed = TRY(claim_slot(spec))) return std::unique_ptr<Sandbox>(std::move(claimed));
        SpawnerRequest request;
        request.verb = SpawnerVerb::create;
        request.spec = spec;
        auto sandbox = TRY(connect(request));
        TRY(sandbox->await_ready());
        return std::unique_ptr<Sandbox>(std::move(sandbox));
    }

    Result<std::unique_ptr<Sandbox>> attach(const SandboxId& id) override {
        SpawnerRequest request;
        request.verb = SpawnerVerb::attach;
        request.id = id;
        auto sandbox = TRY(connect(request));
        return std::unique_ptr<Sandbox>(std::move(sandbox));
    }

    Result<std::vector<SandboxId>> list() override {
        const Lock lock(m_mutex);
        SpawnerRequest request;
        request.verb = SpawnerVerb::list;
        std::vector<Fd> none;
        const SpawnerReply reply = TRY(exchange_locked(request, none));
        return reply.sandboxes.value_or(std::vector<SandboxId>());
    }

    Result<bool> makes_namespaces() override {
        const Lock lock(m_mutex);
        if (m_makes_namespaces) return *m_makes_namespaces;
        SpawnerRequest request;
        request.verb = SpawnerVerb::namespaces;
        std::vector<Fd> none;
        const SpawnerReply reply = TRY(exchange_locked(request, none));
        m_makes_namespaces = reply.count.value_or(0) == 1;
        return *m_makes_namespaces;
    }

    Result<> destroy(const SandboxId& id) override {
        auto sandbox = attach(id);
        if (sandbox.ok()) return sandbox.value()->destroy();
        if (sandbox.error().code != Code::not_found) return std::move(sandbox).error();
        SpawnerRequest request;
        request.verb = SpawnerVerb::reconcile;
        request.id = id;
        const Lock lock(m_mutex);
        std::vector<Fd> none;
        TRY(exchange_locked(request, none));
        return {};
    }

    Result<int64_t> reconcile() override {
        const Lock lock(m_mutex);
        SpawnerRequest request;
        request.verb = SpawnerVerb::reconcile;
        std::vector<Fd> none;
        const SpawnerReply reply = TRY(exchange_locked(request, none));
        return reply.count.value_or(0);
    }

    Result<std::unique_ptr<Files>> thread_files(const std::string& thread) override {
        const Store store = TRY(Store::open(m_options.data_directory));
        // This process may have dropped what a mount needs.
        const Mounter mount = [this](int image) -> Result<Fd> {
            return m_options.launcher ? m_options.launcher->mount(image) : mount_for_reading(image);
        };
        auto volume = std::make_shared<Volume>(TRY(Volumes(store, ::geteuid() == 0).view(thread, mount)));
        Fd files = std::move(volume->files);
        return files_of(std::move(files), std::move(volume));
    }

    Result<> fork_thread(const std::string& from, const std::string& to) override {
        const Store store = TRY(Store::open(m_options.data_directory));
        return Volumes(store, ::geteuid() == 0).fork(from, to);
    }

private:
    // Null: there is none, or none will do.
    Result<std::unique_ptr<LocalSandbox>> claim_slot(const SandboxSpec& spec) {
        if (spec.without_namespaces && !TRY(makes_namespaces())) return std::unique_ptr<LocalSandbox>();
        if (!m_pool || *spec.minimum_tier != Tier::ns) return std::unique_ptr<LocalSandbox>();
        while (auto slot = m_pool->take()) {
            auto sandbox = std::make_unique<LocalSandbox>(slot->id, std::move(slot->channel));
            auto claimed = sandbox->claim(spec);
            if (!claimed.ok() && claimed.error().code == Code::unavailable) continue; // ended just now
            if (!claimed.ok()) return std::move(claimed).error();
            TRY(sandbox->await_ready());
            return sandbox;
        }
        return std::unique_ptr<LocalSandbox>();
    }

    Result<ReadySlot> make_slot() {
        SpawnerRequest request;
        request.verb = SpawnerVerb::prepare;
        ReadySlot slot;
        {
            const Lock lock(m_mutex);
            std::vector<Fd> descriptors;
            const SpawnerReply reply = TRY(exchange_locked(request, descriptors));
            if (descriptors.size() != 1 || !reply.id) return corrupt("the spawner sent no channel");
            slot = {*reply.id, Channel(std::move(descriptors[0]))};
        }
        const Message message = TRY(slot.channel.receive());
        const ShimReply reply = TRY(json::read<ShimReply>(message.text));
        if (reply.code) return error_of(reply);
        return slot;
    }

    Result<> start_spawner() REQUIRES_LOCK(m_mutex) {
        if (m_spawner > 0) ::waitpid(m_spawner, nullptr, 0);
        m_spawner = 0;
        if (m_options.spawner == SpawnerKind::inside) {
            m_inside = TRY(Spawner::open(m_options.data_directory, Spawner::Place::command));
            return {};
        }
        auto [ours, theirs] = TRY(Channel::make_pair());
        if (m_options.launcher)
            TRY(m_options.launcher->start_spawner(theirs.descriptor()));
        else
            m_spawner = TRY(execute_spawner(m_options.program, m_options.data_directory, theirs.descriptor()));
        m_channel = std::move(ours);
        return {};
    }

    Result<SpawnerReply> exchange_locked(const SpawnerRequest& request, std::vector<Fd>& descriptors)
        REQUIRES_LOCK(m_mutex) {
        if (m_inside) return m_inside->act(request, descriptors);
        const std::string text = json::write(request);
        auto sent = m_channel.send(text);
        auto message = sent.ok() ? m_channel.receive() : Result<Message>(sent.error());
        if (!message.ok() && message.error().code == Code::unavailable) {
            // It died. A request that it may have carried out is not repeated; the next one finds a new spawner.
            log(Level::error, "spawner ended, starting another", {});
            TRY(start_spawner());
            if (sent.ok()) return unavailable("the spawner ended during the request");
            TRY(m_channel.send(text));
            message = m_channel.receive();
        }
        if (!message.ok()) return std::move(message).error();
        SpawnerReply reply = TRY(json::read<SpawnerReply>(message.value().text));
        if (reply.code) return error_of(reply);
        descriptors = std::move(message.value().descriptors);
        return reply;
    }

    Result<std::unique_ptr<LocalSandbox>> connect(const SpawnerRequest& request) {
        const Lock lock(m_mutex);
        std::vector<Fd> descriptors;
        const SpawnerReply reply = TRY(exchange_locked(request, descriptors));
        if (descriptors.size() != 1 || !reply.id) return corrupt("the spawner sent no channel");
        return std::make_unique<LocalSandbox>(*reply.id, Channel(std::move(descriptors[0])));
    }

    const LocalOptions m_options;
    Mutex m_mutex;
    Channel m_channel GUARDED_BY(m_mutex);
    pid_t m_spawner GUARDED_BY(m_mutex) = 0;
    std::optional<bool> m_makes_namespaces GUARDED_BY(m_mutex);
    std::optional<Spawner> m_inside GUARDED_BY(m_mutex); // instead of a process
    std::unique_ptr<SlotPool> m_pool;                    // the last member: its thread uses the spawner
};

} // namespace

Result<std::unique_ptr<Provider>> open_local_provider(const LocalOptions& options) {
    auto provider = std::make_unique<LocalProvider>(options);
    TRY(provider->open());
    return std::unique_ptr<Provider>(std::move(provider));
}

} // namespace hone::sandbox
