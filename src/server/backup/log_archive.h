// Segments of the span log in the object store: wal/OWNER/NAME, where OWNER is the data directory that wrote them. Any
// thread; blocks.
#pragma once

#include "objects/object_store.h"
#include "telemetry/log/segment_archive.h"

#include <string>

namespace hone::server {

class LogArchive final : public telemetry::SegmentArchive {
public:
    LogArchive(objects::ObjectStore& objects, const std::string& owner)
        : m_objects(objects),
          m_folder("wal/" + owner + "/") {}

    Result<std::string> put(const std::string& name, const std::string& path, const IsStopped& is_stopped) override;
    Result<> get(const std::string& name, const std::string& sha256, const std::string& path,
                 const IsStopped& is_stopped) override;
    Result<> remove(const std::string& name) override { return m_objects.remove(m_folder + name); }

private:
    Result<> check_marker();

    objects::ObjectStore& m_objects;
    const std::string m_folder;
    bool m_has_marker = false; // the archiver's thread
};

} // namespace hone::server
