// Harness programs on this machine: DIR/harnesses/NAME/VERSION, installed once from npm or from a tarball, mounted
// read-only into sandboxes at /opt/harness. Any process; an installation appears in one step.
#pragma once

#include "base/fields.h"
#include "base/result.h"
#include "base/time.h"
#include "sandbox/provider/provider.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace hone::run {

struct InstalledHarness {
    std::string name;
    std::string version;
    std::string source;
    int64_t bytes = 0;
    Time installed_at{};
    static constexpr Pack fields{
        Field{"name", &InstalledHarness::name, "Harness: claude-code, codex, opencode, gemini, qwen, copilot."},
        Field{"version", &InstalledHarness::version, "Version of its npm package."},
        Field{"source", &InstalledHarness::source, "Source of the installation."},
        Field{"bytes", &InstalledHarness::bytes, "Size on disk."},
        Field{"installed_at", &InstalledHarness::installed_at, "Time of the installation."},
    };
};

// The newest version of a harness's package, as it was when someone looked.
struct NewestHarness {
    std::string version;
    Time checked_at{};
    static constexpr Pack fields{
        Field{"version", &NewestHarness::version, "Newest version in the registry."},
        Field{"checked_at", &NewestHarness::checked_at, "Time of the check."},
    };
};

// Watches an installation. `cancelled` is called a few times a second.
struct InstallWatch {
    std::function<void(const std::string&)> note; // gets lines of progress
    std::function<bool()> cancelled{};            // empty: it is never cancelled
    bool is_cancelled() const { return cancelled && cancelled(); }
};

// A version as npm writes it.
bool is_harness_version(std::string_view text);

// Where the programs lie inside a sandbox.
constexpr std::string_view harness_mount = "/opt/harness";

class HarnessStore {
public:
    explicit HarnessStore(std::string data_directory) : m_directory(std::move(data_directory) + "/harnesses") {}

    // Newest installation first.
    Result<std::vector<InstalledHarness>> list() const;
    // The one that runs use: that version, or without one the newest installation. not_found explains how to install
    // it.
    Result<InstalledHarness> find(std::string_view name, std::string_view version = "") const;
    std::string directory(const InstalledHarness& harness) const;

    // Unpacks the packages with npm in a new folder, checks that the program starts, then publishes the folder. Code of
    // the packages (install scripts, the program itself) runs only in sandboxes of `provider`, without network; npm
    // runs none of it and gets no variable of this process beside `npm_variables`. `source`: empty for the registry
    // that npm is set up for, else a .tgz file, or a folder of them for an air-gapped machine. conflict when it was
    // cancelled.
    Result<InstalledHarness> install(sandbox::Provider& provider, const std::string& name, const std::string& version,
                                     const std::string& source, const Clock& clock, const InstallWatch& watch) const;
    Result<> remove(const std::string& name, const std::string& version) const;

    // Reads the newest version from the registry that npm is set up for, and remembers it for `newest`.
    Result<std::string> check_newest(const std::string& name, const Clock& clock) const;
    // What the last check found; none before the first.
    std::optional<NewestHarness> newest(std::string_view name) const;

private:
    std::string m_directory;
};

} // namespace hone::run
