#include "run/files/run_files.h"

#include "base/text.h"
#include "review/artifacts.h"
#include "sandbox/image/volume.h"

#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

namespace hone::run {

using access::Caller, access::Permission;

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

void RunFiles::connect(sandbox::Provider& provider, const sandbox::Store& store, bool mounts_volumes) {
    m_provider = &provider;
    m_store = &store;
    m_mounts_volumes = mounts_volumes;
}

Result<RunFiles::Opened> RunFiles::open_live(const std::string& sandbox_id) const {
    Opened opened;
    opened.sandbox = TRY(m_provider->attach(sandbox::SandboxId(sandbox_id)));
    opened.files = TRY(opened.sandbox->workspace());
    opened.is_live = true;
    return opened;
}

// What a worker read with the rights of its starter is in its workspace: reading it needs the project.
Result<RunFiles::Opened> RunFiles::open_workspace(const Caller& caller, const RunId& run) const {
    const Run found = TRY(m_runs.find(caller, run));
    TRY(m_runs.find(caller, run, Permission::project_read));
    if (m_provider == nullptr || m_store == nullptr)
        return unavailable("this server cannot isolate workers, so runs have no workspaces; `hone check` states why");
    if (found.workspace_removed_at) return conflict("the workspace of the run has expired");
    const auto rows = TRY(m_database.query("SELECT sandbox_id, thread FROM runs WHERE id = ?", run));
    if (rows.empty()) return not_found("run " + run.text());
    if (!rows.front().is_null(0)) {
        auto live = open_live(rows.front().text(0));
        if (live.ok()) return live; // otherwise it is ending just now
    }
    const sandbox::Volumes volumes(*m_store, m_mounts_volumes);
    auto volume = volumes.view(rows.front().text(1), [this](int image) { return m_provider->mount_volume(image); });
    if (!volume.ok() && volume.error().code == Code::not_found)
        return not_found("a workspace of this run: it has none before its first sandbox");
    Opened opened;
    auto kept = std::make_shared<sandbox::Volume>(TRY(volume));
    opened.files = std::move(kept->files);
    opened.volume = std::move(kept);
    return opened;
}

Result<std::vector<FileEntry>> RunFiles::list(const Caller& caller, const RunId& run, const std::string& path) const {
    const std::string checked = path.empty() ? std::string() : TRY(checked_workspace_path(path));
    const Opened opened = TRY(open_workspace(caller, run));
    return list_folder(opened.files.get(), checked);
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
    const Opened opened = TRY(open_workspace(caller, run));
    Download made = TRY(begin_download());
    made.bytes = TRY(copy_workspace_file(opened.files.get(), checked, made.file.get()));
    made.name = last_part(checked);
    made.media_type = TRY(sniff(made.file.get(), made.name));
    ::lseek(made.file.get(), 0, SEEK_SET);
    return made;
}

Result<Download> RunFiles::archive(const Caller& caller, const RunId& run, const std::string& path) const {
    const std::string checked = path.empty() ? std::string() : TRY(checked_workspace_path(path));
    const Opened opened = TRY(open_workspace(caller, run));
    Download made = TRY(begin_download());
    made.bytes = TRY(archive_folder(opened.files.get(), checked, made.file.get()));
    made.name = (checked.empty() ? run.text() : last_part(checked)) + ".tar";
    made.media_type = "application/x-tar";
    ::lseek(made.file.get(), 0, SEEK_SET);
    return made;
}

Result<Run> RunFiles::give(const Caller& caller, const RunId& run, const std::vector<std::string>& uploads) const {
    Run changed = TRY(m_runs.attach_files(caller, run, uploads));
    if (m_provider == nullptr || is_over(changed.state)) return changed;
    const auto rows = TRY(m_database.query("SELECT sandbox_id FROM runs WHERE id = ?", run));
    if (rows.empty() || rows.front().is_null(0)) return changed; // its worker writes them before the next turn
    const auto live = open_live(rows.front().text(0));
    if (!live.ok()) return changed;
    TRY(m_uploads.place(run, *live.value().sandbox));
    return changed;
}

} // namespace hone::run
