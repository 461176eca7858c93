// The small process that makes sandboxes. Started before any thread of the server; forks one shim per sandbox, so that
// the server's size never matters, and cleans up after shims that died. One thread; talks by protocol.h.
#pragma once

#include "base/result.h"
#include "sandbox/image/store.h"
#include "sandbox/shim/protocol.h"
#include "sandbox/shim/shim.h"
#include "sandbox/wall/channel.h"

#include <string>

namespace hone::sandbox {

// Probes the machine. A missing primitive is an error that names it.
Result<Machine> probe_machine();

class Spawner {
public:
    // `command`: in the process of a command, whose arguments and environment must not show in the process list.
    enum class Place { process_of_its_own, command };
    static Result<Spawner> open(const std::string& data_directory, Place place = Place::process_of_its_own);

    // Serves until the peer closes the connection. Shims keep running.
    void serve(Channel client);

    Result<SpawnerReply> act(const SpawnerRequest& request, std::vector<Fd>& descriptors);

    // In a command, when it has done its work: cleans up, unless a shim that it made will do so at its own end.
    void retire();

    // What a dead shim left behind: processes, cgroups, folders. Returns how many sandboxes were cleaned up.
    Result<int64_t> reconcile(const std::optional<SandboxId>& only);

    // Everything before the fork: checks, id, journal, lock. Without a spec: for a slot.
    Result<ShimStart> describe_shim(std::optional<SandboxSpec> spec);

private:
    Spawner(Store store, Machine machine, std::pair<Fd, Fd> lifeline, Place place)
        : m_store(std::move(store)),
          m_machine(std::move(machine)),
          m_lifeline(std::move(lifeline)),
          m_place(place) {}
    Result<SpawnerReply> create(std::optional<SandboxSpec> spec, std::vector<Fd>& descriptors);
    Result<> clean_up(const SandboxId& id);
    bool makes_namespaces();

    Store m_store;
    Machine m_machine;
    std::pair<Fd, Fd> m_lifeline; // slots read the first end; the second is open as long as this process lives
    Place m_place;
    bool m_left_to_shim = false; // the cleaning up
    std::optional<bool> m_makes_namespaces;
};

// The whole life of a spawner process.
void run_spawner(const std::string& data_directory, Channel client);

// A connection to a live shim; Code::not_found when there is none.
Result<Channel> connect_to_shim(const Store& store, const SandboxId& id);

} // namespace hone::sandbox
