// What copies of the first process do with one stream each, in processes of their own.
#pragma once

#include "base/result.h"
#include "kubernetes/link/mount_table.h"

#include <string>
#include <vector>

namespace hone::pod {

// Reads a bundle, makes its files, and responds with a ShimReply.
void receive_files(int socket, const std::vector<kubernetes::TargetMount>& mounts);
// `request`: "list PATH", "copy PATH" or "archive PATH" of the workspace; "home" or "home-state" (home.h). Sends the
// content, then a ShimReply and its length (4 bytes). Inside the walls.
void send_requested(int socket, const std::string& request);
// A ShimReply as text.
std::string report_of(const Result<>& done);

} // namespace hone::pod
