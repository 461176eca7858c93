#include "sandbox/shim/spawner.h"

#include "base/log.h"
#include "base/text.h"
#include "crypto/crypto.h"
#include "sandbox/helper/helper.h"
#include "sandbox/image/layer.h"
#include "sandbox/provider/audit.h"
#include "sandbox/shim/body.h"
#include "sandbox/shim/protocol.h"
#include "sandbox/wall/access_rules.h"
#include "sandbox/wall/base_root.h"
#include "sandbox/wall/enter.h"
#include "sandbox/wall/program.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <grp.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace hone::sandbox {

namespace {

// Far above what people and distributions hand out; each sandbox gets one at random.
constexpr unsigned first_unique_uid = 0x70000000;
constexpr unsigned unique_uid_mask = 0x0fffffff;
// A group is empty only between its making and the entry of its first process: milliseconds, on a busy machine more.
constexpr Duration youngest_swept_group = std::chrono::minutes(2);

// A fork shows the arguments and the environment of its parent, and a shim lives long: what was typed, values of
// variables among it, must not be in the process list for all that time.
void forget_origin(const std::string& title) {
    const auto shown = read_file("/proc/self/cmdline", 8 << 20);
    char* const start = program_invocation_name; // argv[0], unless it was moved
    if (!shown.ok() || shown.value().size() < 2 || std::strcmp(start, shown.value().c_str()) != 0) return;
    const size_t room = shown.value().size();
    for (char** entry = ::environ; entry != nullptr && *entry != nullptr; ++entry)
        if (*entry > start && *entry < start + (8 << 20)) std::memset(*entry, 0, std::strlen(*entry));
    std::memset(start, 0, room);
    std::memcpy(start, title.data(), std::min(title.size(), room - 1));
    ::clearenv();
}

unsigned random_uid() {
    uint32_t number = 0;
    std::memcpy(&number, crypto::random_bytes(sizeof number).data(), sizeof number);
    return first_unique_uid + (number & unique_uid_mask);
}

} // namespace

Result<Machine> probe_machine() {
    Machine machine;
    machine.as_root = ::geteuid() == 0;
    machine.cgroups = CgroupHost::probe(true);
    machine.landlock_version = landlock_version();
    if (machine.landlock_version < 1)
        return unavailable("this kernel has no Landlock, or it is off (boot with lsm=landlock,…)");
    if (!kernel_has_seccomp()) return unavailable("this kernel has no seccomp filters");
    machine.masks = masked_proc_entries();
    if (::access("/usr/bin/runsc", X_OK) == 0) machine.gvisor_program = "/usr/bin/runsc";
    const std::string path = TRY(find_init_program());
    const std::string program = TRY(read_file(path, 16 << 20));
    // A copy that cannot be changed, so that a worker who reaches its pid 1's executable reaches nothing of the host.
    machine.init_program = TRY(sealed_memory_file("hone-init", program, true));
    return machine;
}

Result<Spawner> Spawner::open(const std::string& data_directory, Place place) {
    Store store = TRY(Store::open(data_directory));
    Machine machine = TRY(probe_machine());
    if (place == Place::process_of_its_own) machine.filter = SyscallFilter::build(SyscallFilter::Ptrace::refused);
    // A worker keeps the further groups of its creator, whatever its uid is: be in none. Only root can.
    if (machine.as_root && ::setgroups(0, nullptr) != 0) return system_error("leave the groups of root", errno);
    TRY(make_base_roots(store.base(), machine.as_root ? static_cast<int>(inside_uid) : -1));
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return system_error("create a pipe", errno);
    return Spawner(std::move(store), std::move(machine), {Fd(ends[0]), Fd(ends[1])}, place);
}

Result<> check_policy(const Machine& machine, const SandboxSpec& spec) {
    TRY(validate(spec));
    if (*spec.uid_policy == UidPolicy::unique && !machine.as_root)
        return unavailable("uid_policy unique needs a spawner that runs as root");
    if (*spec.uid_policy == UidPolicy::caller && machine.as_root)
        return invalid("uid_policy caller would make the worker root of the host");
    if (*spec.minimum_tier == Tier::gvisor && machine.gvisor_program.empty())
        return unavailable("minimum_tier gvisor: runsc is not installed (apt install runsc)");
    return {};
}

bool Spawner::makes_namespaces() {
    if (!m_makes_namespaces) m_makes_namespaces = namespaces_refused() == 0;
    return *m_makes_namespaces;
}

Result<ShimStart> Spawner::describe_shim(std::optional<SandboxSpec> spec) {
    if (spec) TRY(check_policy(m_machine, *spec));
    ShimStart start_info;
    start_info.machine = &m_machine;
    start_info.store = &m_store;
    start_info.tier = spec ? *spec->minimum_tier : Tier::ns;
    start_info.is_helper = spec && spec->without_namespaces && !makes_namespaces();
    if (start_info.is_helper) TRY(helpers_possible());
    start_info.host_uid = m_machine.as_root ? random_uid() : ::geteuid();
    if (!spec) start_info.lifeline = Fd(::fcntl(m_lifeline.first.get(), F_DUPFD_CLOEXEC, 3));
    start_info.spec = std::move(spec);
    const SystemClock clock;
    start_info.journal.id = make_id<SandboxTag>(clock);
    start_info.journal.created = clock.now();
    if (!start_info.is_helper) start_info.journal.cgroups = Cgroup::plan(m_machine.cgroups, start_info.journal.id);
    if (start_info.tier == Tier::gvisor) start_info.journal.container = start_info.journal.id.text();
    start_info.lock = TRY(m_store.begin(start_info.journal));
    return start_info;
}

Result<SpawnerReply> Spawner::create(std::optional<SandboxSpec> spec, std::vector<Fd>& descriptors) {
    ShimStart start_info = TRY(describe_shim(std::move(spec)));
    auto [ours, theirs] = TRY(Channel::make_pair());
    start_info.creator = std::move(theirs);
    SpawnerReply reply;
    reply.id = start_info.journal.id;
    const pid_t pid = ::fork();
    if (pid == 0) {
        if (m_place == Place::command) {
            forget_origin("hone spawner --data-dir " + m_store.data_directory());
            start_info.at_the_end = [this] { (void)reconcile(std::nullopt).ok(); };
        }
        run_shim(std::move(start_info));
    }
    if (pid > 0) m_left_to_shim = true;
    if (pid < 0) {
        const int error_number = errno;
        (void)m_store.forget(start_info.journal.id).ok();
        return system_error("fork a shim", error_number);
    }
    descriptors.push_back(ours.release());
    return reply;
}

Result<Channel> connect_to_shim(const Store& store, const SandboxId& id) {
    const Fd folder(::open(store.live(id).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!folder.is_open()) return not_found("sandbox " + id.text());
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string path =
        "/proc/self/fd/" + std::to_string(folder.get()) + "/shim.sock"; // short, however deep the folder
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    Fd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
        return not_found("live sandbox " + id.text());
    return Channel(std::move(socket));
}

Result<> Spawner::clean_up(const SandboxId& id) {
    auto lock = m_store.lock_dead(id);
    if (!lock.ok()) return lock.error().code == Code::not_found ? Result<>() : Result<>(std::move(lock).error());
    auto journal = m_store.journal(id);
    if (journal.ok()) {
        Cgroup group = Cgroup::adopt(journal.value().cgroups);
        (void)group.freeze(false).ok();
        group.kill();
        if (journal.value().container && !m_machine.gvisor_program.empty())
            (void)run_program({m_machine.gvisor_program, "--root", m_store.live(id) + "/runsc", "delete", "--force",
                               *journal.value().container})
                .ok();
        TRY(group.remove());
        const auto session = read_file(m_store.live(id) + "/" + std::string(session_file), 32);
        if (const auto number = parse_integer(session.ok() ? session.value() : ""); number.ok())
            end_helpers(static_cast<pid_t>(number.value()));
    }
    TRY(m_store.forget(id));
    SandboxEvent event;
    event.time = SystemClock().now();
    event.kind = EventKind::reconciled;
    event.sandbox = id;
    return append_event(m_store.audit(), event);
}

Result<int64_t> Spawner::reconcile(const std::optional<SandboxId>& only) {
    int64_t cleaned = 0;
    for (const SandboxId& id : only ? std::vector<SandboxId>{*only} : m_store.sandboxes()) {
        auto outcome = clean_up(id);
        if (outcome.ok())
            ++cleaned;
        else if (outcome.error().code != Code::busy)
            log(Level::error, "sandbox not cleaned up", {{"sandbox", id.text()}, {"error", outcome.error().message}});
    }
    if (!only) {
        (void)remove_empty_groups(m_machine.cgroups, SystemClock().now() - youngest_swept_group);
        discard_obsolete_layers(m_store);
    }
    return cleaned;
}

void Spawner::retire() {
    if (!m_left_to_shim) (void)reconcile(std::nullopt).ok();
}

Result<SpawnerReply> Spawner::act(const SpawnerRequest& request, std::vector<Fd>& descriptors) {
    SpawnerReply reply;
    reply.id = request.id;
    switch (request.verb) {
    case SpawnerVerb::create:
        if (!request.spec) return invalid("create needs a spec");
        return create(request.spec, descriptors);
    case SpawnerVerb::prepare:
        return create(std::nullopt, descriptors);
    case SpawnerVerb::attach: {
        if (!request.id) return invalid("attach needs an id");
        Channel channel = TRY(connect_to_shim(m_store, *request.id));
        descriptors.push_back(channel.release());
        return reply;
    }
    case SpawnerVerb::list:
        reply.sandboxes.emplace();
        for (const SandboxId& id : m_store.sandboxes()) {
            const auto dead = m_store.lock_dead(id);
            // A slot has no socket yet: it is no sandbox yet.
            if (!dead.ok() && dead.error().code == Code::busy && file_exists(m_store.live(id) + "/shim.sock"))
                reply.sandboxes->push_back(id);
        }
        return reply;
    case SpawnerVerb::namespaces:
        reply.count = makes_namespaces() ? 1 : 0;
        return reply;
    case SpawnerVerb::reconcile:
        reply.count = TRY(reconcile(request.id));
        return reply;
    }
    return internal("not reached");
}

void Spawner::serve(Channel client) {
    ::prctl(PR_SET_NAME, "hone-spawner");
    ::signal(SIGCHLD, SIG_IGN);                                                   // shims are not waited for
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::signal(signal, SIG_IGN); // ends with its server, not before
    for (;;) {
        auto message = client.receive();
        if (!message.ok()) return;
        auto request = json::read<SpawnerRequest>(message.value().text);
        std::vector<Fd> descriptors;
        auto reply = request.ok() ? act(request.value(), descriptors) : Result<SpawnerReply>(request.error());
        std::vector<int> numbers;
        for (const Fd& descriptor : descriptors) numbers.push_back(descriptor.get());
        if (!client.send(json::write(reply.ok() ? reply.value() : refusal<SpawnerReply>(reply.error())), numbers).ok())
            return;
    }
}

void run_spawner(const std::string& data_directory, Channel client) {
    auto spawner = Spawner::open(data_directory);
    if (spawner.ok()) return spawner.value().serve(std::move(client));
    // Every request gets the reason: it can do nothing else.
    while (client.receive().ok())
        if (!client.send(json::write(refusal<SpawnerReply>(spawner.error()))).ok()) break;
}

} // namespace hone::sandbox
