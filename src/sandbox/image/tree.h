// Directory trees that a worker may have filled: measured, copied out and deleted without following links, without
// recursion, whatever their depth, names and permissions. Any thread.
#pragma once

#include "base/file.h"
#include "base/result.h"

#include <cstdint>
#include <string>

namespace hone::sandbox {

// Deletes the tree; missing is fine. Deep trees are flattened on the way, so depth costs nothing.
Result<> remove_tree(const std::string& path);

struct TreeSize {
    int64_t bytes = 0; // allocated, hard links counted once
    int64_t files = 0;
    bool complete = true; // false: there is more than was counted
    bool denied = false;  // a directory could not be read for lack of permission
    bool changed = false; // an entry was gone when it was to be read: files may have been moved past the reading
};
// What to do with a directory that its owner made unreadable.
enum class Unreadable {
    report, // leave it: the result is denied and incomplete
    open,   // make it readable for its owner; for trees that nothing uses any more
};
// Reads depth first with few open descriptors, whatever the depth and the width. A tree with more than `most_files`
// entries is incomplete, as is one whose directories are moved while they are read.
TreeSize measure_tree(int directory, int64_t most_files, Unreadable unreadable = Unreadable::report);

struct ExportLimits {
    int64_t most_files = 10'000;
    int64_t most_bytes = int64_t{1} << 30;
    int64_t most_file_bytes = int64_t{256} << 20;
    int most_depth = 64;
};
struct ExportReport {
    int64_t files = 0;
    int64_t bytes = 0;
    int64_t skipped = 0; // links, devices, pipes, sockets, unreadable or over a limit
};
// Copies regular files below `directory` to the new folder `destination`, mode 0600, nothing else: no links, no holes
// blown up, no special files, no permissions taken over.
Result<ExportReport> export_tree(int directory, const std::string& destination, const ExportLimits& limits);

// Copies one file with its holes, sharing the blocks where the file system can.
Result<> copy_file(const std::string& from, const std::string& to);

// Copies everything (files with holes, directories, links, modes) for a fork of a volume kept as a directory.
Result<> copy_tree(const std::string& from, const std::string& to);

} // namespace hone::sandbox
