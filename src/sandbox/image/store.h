// Where the local provider keeps things on disk, below DIR/sandbox, and the journal of what exists. A sandbox is
// recorded before anything of it is made; its shim holds a lock as long as it lives, which distinguishes a
// live sandbox from what a crash left behind. Any process; each call is one short file operation.
#pragma once

#include "base/file.h"
#include "base/result.h"
#include "sandbox/provider/spec.h"

#include <string>
#include <vector>

namespace hone::sandbox {

// What must be cleaned up when the shim is gone.
struct Journal {
    SandboxId id;
    Time created{};
    std::vector<std::string> cgroups;
    std::optional<std::string> container; // gVisor's name for it
    static constexpr Pack fields{
        Field{"id", &Journal::id, "Sandbox."},
        Field{"created", &Journal::created, "Time of creation."},
        Field{"cgroups", &Journal::cgroups, "Control group directories."},
        Field{"container", &Journal::container, "Container of the gVisor runtime."},
    };
};

class Store {
public:
    // Creates the folders. `data_directory` is Hone's.
    static Result<Store> open(const std::string& data_directory);

    const std::string& directory() const { return m_directory; }
    std::string data_directory() const { return m_directory.substr(0, m_directory.rfind('/')); }
    std::string live() const { return m_directory + "/live"; }
    std::string live(const SandboxId& id) const { return live() + "/" + id.text(); }
    std::string images() const { return m_directory + "/images"; }
    std::string layers() const { return m_directory + "/layers"; }
    std::string threads() const { return m_directory + "/threads"; }
    std::string base() const { return m_directory + "/base"; }
    std::string trash() const { return m_directory + "/trash"; }
    std::string audit() const { return m_directory + "/audit.jsonl"; }
    std::string notes() const { return m_directory + "/shim.log"; }

    // Writes the journal and makes the sandbox's folder visible; the returned lock must be held while it lives.
    Result<Fd> begin(const Journal& journal) const;
    Result<Journal> journal(const SandboxId& id) const;
    // The lock if it is free: the sandbox is dead. Code::busy while its shim lives.
    Result<Fd> lock_dead(const SandboxId& id) const;
    std::vector<SandboxId> sandboxes() const;
    // Removes the folder; missing is fine.
    Result<> forget(const SandboxId& id) const;
    // A shared lock on a layer or an image in use; `gc` takes it alone before it removes one.
    Result<Fd> hold(const std::string& directory) const;
    // Alone, waiting for others; for building. Alone or nothing (a closed Fd), for removing.
    Result<Fd> hold_alone(const std::string& directory) const;
    Fd try_alone(const std::string& directory) const;
    // A random key of this installation, made on first use and kept as `folder`/key. Names derived from it cannot be
    // guessed, and names of one folder say nothing about another's.
    Result<std::string> key(const std::string& folder) const;
    // Moves a tree out of sight in one step; `empty_trash` deletes it later.
    Result<> discard(const std::string& path) const;
    void empty_trash() const;

private:
    std::string making() const { return m_directory + "/making.lock"; }
    void sweep_half_made(const std::vector<std::string>& names) const;

    std::string m_directory;
};

} // namespace hone::sandbox
