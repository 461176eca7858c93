#include "server/backup/backup_files.h"

#include "base/file.h"
#include "base/text.h"
#include "forge/mirrors.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

namespace hone::server {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kept_folders[] = {"artifacts", "mirrors", "quarantine"};

// Git reads these as another user, from inside sandboxes.
bool is_for_sandboxes(std::string_view folder) {
    return folder != "artifacts";
}

Result<> give_modes(const std::string& folder) {
    std::error_code failed;
    std::vector<std::string> repositories;
    ::chmod(folder.c_str(), 0755);
    for (fs::recursive_directory_iterator at(folder, failed), end; !failed && at != end; at.increment(failed)) {
        const bool is_folder = at->is_directory(failed);
        if (::chmod(at->path().c_str(), is_folder ? 0755 : 0644) != 0)
            return system_error("chmod " + at->path().string(), errno);
        if (is_folder && at->path().extension() == ".git") repositories.push_back(at->path().string());
    }
    if (failed) return system_error("read " + folder, failed.value());
    for (const std::string& repository : repositories) TRY(forge::make_bare_repository(repository));
    return {};
}

} // namespace

FileSnapshot::~FileSnapshot() {
    std::error_code failed;
    if (!m_links.empty()) fs::remove_all(m_links, failed);
}

Result<FileSnapshot> FileSnapshot::take(const std::string& data_dir, const std::string& links) {
    FileSnapshot snapshot;
    snapshot.m_links = links;
    TRY(make_directories(links, 0700));
    std::error_code failed;
    for (const std::string_view folder : kept_folders) {
        const std::string root = data_dir + "/" + std::string(folder);
        for (fs::recursive_directory_iterator at(root, failed), end; !failed && at != end; at.increment(failed)) {
            std::error_code gone; // while we looked
            // Files that are half written or being moved are left out.
            if (at.depth() == 0 && at->path().filename() == "tmp") at.disable_recursion_pending();
            if (at->is_symlink(gone) || !at->is_regular_file(gone)) continue;
            std::string name = at->path().string().substr(data_dir.size() + 1);
            if (name.ends_with(".new") || !is_kept_file_name(name)) continue;
            const std::string link = links + "/" + std::to_string(snapshot.m_files.size());
            if (::link(at->path().c_str(), link.c_str()) != 0) {
                if (errno == ENOENT) continue;
                return system_error("link " + name, errno);
            }
            struct stat status {};
            if (::stat(link.c_str(), &status) != 0) return system_error("open " + link, errno);
            snapshot.m_files.push_back({std::move(name), link, status.st_size});
        }
        if (failed && failed != std::errc::no_such_file_or_directory)
            return system_error("read " + root, failed.value());
        failed.clear();
    }
    return snapshot;
}

bool is_kept_file_name(std::string_view name) {
    if (name.size() > 250) return false;
    const auto parts = split(name, '/');
    if (parts.size() < 2 ||
        std::find(std::begin(kept_folders), std::end(kept_folders), parts[0]) == std::end(kept_folders) ||
        parts[1] == "tmp")
        return false;
    return std::all_of(parts.begin(), parts.end(), [](std::string_view part) {
        return !part.empty() && part.size() <= 100 && part.front() != '.' &&
               std::all_of(part.begin(), part.end(), [](char c) {
                   return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
                          c == '_' || c == '-';
               });
    });
}

Result<> move_kept_files(const std::string& from, const std::string& data_dir) {
    for (const std::string_view folder : kept_folders) {
        const std::string source = from + "/" + std::string(folder), target = data_dir + "/" + std::string(folder);
        if (!file_exists(source)) continue;
        if (is_for_sandboxes(folder)) TRY(give_modes(source));
        std::error_code failed;
        fs::remove_all(target, failed); // without a database: of a restore that was interrupted
        if (::rename(source.c_str(), target.c_str()) != 0) return system_error("rename " + source, errno);
    }
    return {};
}

} // namespace hone::server
