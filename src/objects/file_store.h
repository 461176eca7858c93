// Objects as files below a directory: the key is the path. Written beside, synced, renamed; after a crash the old or
// the new content is there. Any thread, and several processes at the same time.
#pragma once

#include "objects/object_store.h"

namespace hone::objects {

class FileStore final : public ObjectStore {
public:
    // The directory is made when the first object is written.
    explicit FileStore(std::string directory) : m_directory(std::move(directory)) {}

    Result<Stored> put(const std::string& key, const Pieces& pieces,
                       const std::optional<std::string>& sha256 = std::nullopt) override;
    Result<> get(const std::string& key, const Range& range, const Sink& sink) override;
    Result<std::optional<ObjectInfo>> head(const std::string& key) override;
    Result<ObjectPage> list(const std::string& prefix, const std::string& cursor, int limit = 1000) override;
    Result<> remove(const std::string& key) override;
    Result<std::optional<std::string>> presigned_get(const std::string& key, Duration valid_for,
                                                     const std::string& file_name) override;
    Result<int64_t> discard_unfinished(Duration older_than) override;
    Result<> reach(Duration limit) override;
    std::string description() const override { return m_directory; }

private:
    Result<std::string> path_of(const std::string& key) const;

    const std::string m_directory;
};

} // namespace hone::objects
