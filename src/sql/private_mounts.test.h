// Runs a test where it may mount file systems: in a child process with mounts of its own, which end with it.
// As root directly, otherwise in a user namespace; where neither is allowed the test fails and says so.
#pragma once

#include <functional>
#include <string>

namespace hone::sql::testing {

// `work` returns what is wrong, or nothing. It runs in a forked child: no threads of the parent are there.
std::string in_private_mounts(const std::function<std::string()>& work);

// Inside the work. They end the child with a message when the kernel refuses.
void mount_small_disk(const std::string& directory, const std::string& size);
void resize_small_disk(const std::string& directory, const std::string& size);
void make_read_only(const std::string& directory);

} // namespace hone::sql::testing
