// What the sandbox commands do once their arguments are parsed. Each returns the exit status of the program: the
// command's own where there is one, 125 when Hone itself refused or failed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hone::sandbox {

struct RunOptions {
    std::string data_directory;
    std::string memory, cpus, timeout, wall_clock, pids, disk, inodes, io, output, open_files;
    std::string network = "none";
    std::string image, init_script, init_timeout, thread, tier, cwd;
    std::vector<std::string> environment, mounts, command, labels;
    bool json = false, pty = false, stdin_open = false, allow_ptrace = false, detach = false, keep = false;
    bool require_cgroup = false, init_degrade = false;
};

struct GarbageOptions {
    std::string data_directory;
    std::string layers_age = "30d";
    std::string layers_bytes = "20g";
    std::string threads_age = "30d";
};

// Empty: neither HONE_DATA_DIR nor HOME is set.
std::string default_data_directory();

int run_in_sandbox(const RunOptions& options);
int execute_in_sandbox(const RunOptions& options, const std::string& id);
int list_sandboxes(const std::string& data_directory, bool json);
int control_sandbox(const std::string& data_directory, const std::string& id, const std::string& verb);
int collect_garbage(const GarbageOptions& options);
int handle_thread(const std::string& data_directory, const std::string& verb, const std::string& thread,
                  const std::string& target);
int add_image_command(const std::string& data_directory, const std::string& name, const std::string& source,
                      const std::string& most_bytes);
// What the sandbox of `image add` runs: the archive on standard input, into the current directory.
int unpack_command(bool layer, int64_t most_bytes, int64_t most_files);
struct BuildImageOptions {
    std::string data_directory;
    std::string recipe; // `default`, or a file
    std::string name;   // empty: that of the recipe
    std::string mirror; // empty: the public one
    std::string most_bytes = "16g";
    bool json = false;
};
int build_image_command(const BuildImageOptions& options);
int prune_images_command(const std::string& data_directory, const std::string& age, bool json);
int list_images_command(const std::string& data_directory, bool json);
int remove_image_command(const std::string& data_directory, const std::string& name);

} // namespace hone::sandbox
