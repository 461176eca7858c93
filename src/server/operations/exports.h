// Exports of spans that are kept in the object store: one object each, below the id of its project, deleted after a
// time or with the project. Callers have found the project with the permission that they need. Any thread.
#pragma once

#include "access/access.h"
#include "api/core/call.h"
#include "base/duty.h"
#include "objects/object_store.h"

#include <atomic>
#include <string>
#include <vector>

namespace hone::server {

struct ExportParts {
    objects::ObjectStore& store;
    access::Access& access;
    const Clock& clock;
    Duration lifetime;
    // Of this data directory (objects/owner.h): of those that share a store, only one deletes by itself. Empty: the
    // store is this data directory.
    std::string owner;
};

class Exports {
public:
    explicit Exports(ExportParts parts)
        : m_parts(std::move(parts)),
          m_duty({"exports", std::chrono::hours(1)}, [this]() -> Result<> {
              TRY(sweep());
              return {};
          }) {}
    void start() { m_duty.start(); }

    // Reads the source to its end; busy while this server writes another one.
    Result<api::StoredExport> store(const access::Caller& caller, const access::Project& project,
                                    net::BodySource& source, std::string_view ending);
    // Newest first.
    Result<std::vector<api::StoredExport>> list(const access::Project& project) const;
    // `direct`: an address in the store where it has such addresses, for five minutes.
    Result<api::ExportContent> content(const access::Project& project, const std::string& name, bool direct) const;
    Result<> remove(const access::Caller& caller, const access::Project& project, const std::string& name);
    // Deletes those whose time is over and those of deleted projects. The number of them.
    Result<int64_t> sweep();

private:
    api::StoredExport view_of(const objects::ObjectInfo& object) const;

    const ExportParts m_parts;
    std::atomic<bool> m_is_storing{false};
    Duty m_duty; // last
};

} // namespace hone::server
