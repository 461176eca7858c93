#include "run/files/run_files.h"

#include "base/text.h"
#include "review/artifacts.h"
#include "sandbox/image/workspace.h"

#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

namespace hone::run {

using access::Caller, access::Permission;
using sandbox::checked_workspace_path;

namespace {

constexpr int most_downloads = 8;
constexpr size_t sniffed_bytes = 8192;

std::string last_part(const std::string& path) {
    return path.substr(path.rfind('/') + 1);
}

// The type is what the content is; of text, what its name ends in.
Result<std::string> sniff(int file, const std::string& name) {
    std::string head(sniffed_bytes, '\0');
    const ssize_t got = ::pread(file, head.data(), head.size(), 0);
    if (got < 0) return system_error("read " + name, errno);
    head.resize(static_cast<size_t>(got));
    // A character that the end of the piece cut is not a reason to call it binary.
    if (head.size() == sniffed_bytes) head = std::string(truncate_utf8(head, sniffed_bytes - 4));
    return review::sniff_media_type(name, head);
}

} // namespace

// What a worker read with the rights of its starter is in its workspace: reading it needs the project.
Result<std::unique_ptr<sandbox::Files>> RunFiles::open_workspace(const Caller& caller, const RunId& run) const {
    const Run found = TRY(m_runs.find(caller, run));
    TRY(m_runs.find(caller, run, Permission::project_read));
    sandbox::Provider* const provider = provider_of(found.provider);
    if (provider == nullptr)
        return unavailable("this server cannot isolate workers, so runs have no workspaces; `hone check` states why");
    if (found.workspace_removed_at) return conflict("the workspace of the run has expired");
    const auto rows = TRY(m_database.query("SELECT sandbox_id, thread FROM runs WHERE id = ?", run));
    if (rows.empty()) return not_found("run " + run.text());
    if (!rows.front().is_null(0)) {
        auto live = provider->attach(sandbox::SandboxId(rows.front().text(0)));
        auto files = live.ok() ? live.value()->files() : Result<std::unique_ptr<sandbox::Files>>(live.error());
        if (files.ok()) return files; // otherwise it is ending just now
    }
    auto kept = provider->thread_files(rows.front().text(1));
    if (!kept.ok() && kept.error().code == Code::not_found)
        return not_found("a workspace of this run: it has none before its first sandbox");
    return kept;
}

Result<std::vector<FileEntry>> RunFiles::list(const Caller& caller, const RunId& run, const std::string& path) const {
    const std::string checked = path.empty() ? std::string() : TRY(checked_workspace_path(path));
    const auto files = TRY(open_workspace(caller, run));
    return files->list(checked, {});
}

Result<Download> RunFiles::begin_download() const {
    Download made;
    if (m_downloads.fetch_add(1) >= most_downloads) {
        --m_downloads;
        return busy("too many downloads of workspaces are under way; try again later");
    }
    made.place = std::shared_ptr<void>(nullptr, [this](void*) { --m_downloads; });
    TRY(make_directories(m_directory, 0700));
    const std::string path = m_directory + "/download-" + make_ulid(m_clock.now()) + ".part";
    made.file = Fd(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!made.file.is_open()) return system_error("create " + path, errno);
    ::unlink(path.c_str());
    return made;
}

Result<Download> RunFiles::download(const Caller& caller, const RunId& run, const std::string& path) const {
    const std::string checked = TRY(checked_workspace_path(path));
    const auto files = TRY(open_workspace(caller, run));
    Download made = TRY(begin_download());
    made.bytes = TRY(files->copy(checked, made.file.get(), {}));
    made.name = last_part(checked);
    made.media_type = TRY(sniff(made.file.get(), made.name));
    ::lseek(made.file.get(), 0, SEEK_SET);
    return made;
}

Result<Download> RunFiles::archive(const Caller& caller, const RunId& run, const std::string& path) const {
    const std::string checked = path.empty() ? std::string() : TRY(checked_workspace_path(path));
    const auto files = TRY(open_workspace(caller, run));
    Download made = TRY(begin_download());
    made.bytes = TRY(files->archive(checked, made.file.get(), {}));
    made.name = (checked.empty() ? run.text() : last_part(checked)) + ".tar";
    made.media_type = "application/x-tar";
    ::lseek(made.file.get(), 0, SEEK_SET);
    return made;
}

Result<Run> RunFiles::give(const Caller& caller, const RunId& run, const std::vector<std::string>& uploads) const {
    Run changed = TRY(m_runs.attach_files(caller, run, uploads));
    sandbox::Provider* const provider = provider_of(changed.provider);
    if (provider == nullptr || is_over(changed.state)) return changed;
    const auto rows = TRY(m_database.query("SELECT sandbox_id FROM runs WHERE id = ?", run));
    if (rows.empty() || rows.front().is_null(0)) return changed; // its worker writes them before the next turn
    const auto live = provider->attach(sandbox::SandboxId(rows.front().text(0)));
    if (!live.ok()) return changed;
    TRY(m_uploads.place(run, *live.value()));
    return changed;
}

} // namespace hone::run
