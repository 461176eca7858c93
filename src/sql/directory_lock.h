// Keeps a second server off a data directory: an flock on DIR/lock, which the kernel drops when the process ends,
// however it ends. The file keeps the owner's pid for the message. Held by `hone serve` from before open to after
// close.
#pragma once

#include "base/file.h"

namespace hone::sql {

class DirectoryLock {
public:
    // `busy` when another process holds it: "another hone serve (pid N) uses DIR".
    static Result<DirectoryLock> acquire(const std::string& directory);

private:
    explicit DirectoryLock(Fd file) : m_file(std::move(file)) {}
    Fd m_file;
};

} // namespace hone::sql
