// The files of a workspace, which a worker may change at the same time: listed and read through one open directory,
// never through a link and never outside of it. Names of workers are data. Any thread.
#pragma once

#include "base/file.h"
#include "base/result.h"
#include "sandbox/provider/files.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace hone::sandbox {

// "data/in.csv": relative; no empty part, no "." and no "..", no control characters, valid UTF-8. At most 1,000 bytes
// and 32 folders.
Result<std::string> checked_workspace_path(std::string_view path);

// Folders first, then by name. `path` empty: the workspace itself.
Result<std::vector<FileEntry>> list_folder(int workspace, const std::string& path, const FileLimits& limits = {});
// What the others do where the kernel has no openat2 (gVisor): opens a path part by part. None may be a link, or lead
// up. Closed: errno.
Fd open_by_parts(int workspace, const std::string& path, int flags);
// A regular file, for reading.
Result<Fd> open_workspace_file(int workspace, const std::string& path);
// Copies the file to `into`.
Result<int64_t> copy_workspace_file(int workspace, const std::string& path, int into, const FileLimits& limits = {});
// A folder as a tar of its regular files and folders; links and other things are left out.
Result<int64_t> archive_folder(int workspace, const std::string& path, int into, const FileLimits& limits = {});

// The files below an open directory. `kept` lives as long as the object: what keeps the directory open.
std::unique_ptr<Files> files_of(Fd directory, std::shared_ptr<void> kept = nullptr);

} // namespace hone::sandbox
