#include "pod/helpers.h"

#include "base/file.h"
#include "kubernetes/link/bundle.h"
#include "pod/home.h"
#include "sandbox/image/workspace.h"
#include "sandbox/shim/protocol.h"

#include <fcntl.h>

namespace hone::pod {

namespace {

Result<> send_part(int socket, const std::string& request) {
    if (request == "home") return send_home(socket);
    if (request == "home-state") return send_home_state(socket);
    const size_t blank = request.find(' ');
    const std::string verb = request.substr(0, blank);
    const std::string path = blank == std::string::npos ? std::string() : request.substr(blank + 1);
    if (!path.empty()) TRY(sandbox::checked_workspace_path(path));
    const Fd workspace(::open("/workspace", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!workspace.is_open()) return system_error("open the workspace", errno);
    const sandbox::FileLimits limits;
    if (verb == "copy") {
        TRY(sandbox::copy_workspace_file(workspace.get(), path, socket, limits));
        return {};
    }
    if (verb == "archive") {
        TRY(sandbox::archive_folder(workspace.get(), path, socket, limits));
        return {};
    }
    if (verb != "list") return invalid("not a request for files: " + verb);
    for (const sandbox::FileEntry& entry : TRY(sandbox::list_folder(workspace.get(), path, limits)))
        TRY(write_all(socket, json::write(entry) + "\n"));
    return {};
}

} // namespace

std::string report_of(const Result<>& done) {
    return json::write(done.ok() ? sandbox::ShimReply() : sandbox::refusal<sandbox::ShimReply>(done.error()));
}

void receive_files(int socket, const std::vector<kubernetes::TargetMount>& mounts) {
    const auto done = kubernetes::read_bundle(
        socket, [&](const std::string& target) { return kubernetes::place_of(mounts, target); });
    (void)write_all(socket, report_of(done));
}

void send_requested(int socket, const std::string& request) {
    std::string report = report_of(send_part(socket, request));
    const size_t length = report.size();
    for (int shift = 0; shift < 32; shift += 8) report += static_cast<char>(length >> shift & 0xff);
    (void)write_all(socket, report);
}

} // namespace hone::pod
