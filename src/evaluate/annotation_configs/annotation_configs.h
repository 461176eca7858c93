// Annotation configs of spaces, and the projects that use them. Reading needs dataset_read in the space, writing
// eval_write; a project's assignments need project_read and eval_write in the project. Thread-safe.
#pragma once

#include "access/access.h"
#include "access/page.h"
#include "evaluate/annotation_configs/annotation_config.h"

namespace hone::evaluate {

constexpr size_t most_annotation_labels = 1000;

class AnnotationConfigs {
public:
    AnnotationConfigs(sql::Database& database, const Clock& clock, access::Access& access)
        : m_database(database),
          m_clock(clock),
          m_access(access) {}

    // Newest first.
    Result<access::Page<AnnotationConfig>> list(const access::Caller& caller, const access::SpaceId& space,
                                                const access::PageRequest& page) const;
    // By id, or by name within `space`.
    Result<AnnotationConfig> find(const access::Caller& caller, const access::SpaceId& space,
                                  std::string_view id_or_name,
                                  access::Permission permission = access::Permission::dataset_read) const;
    Result<AnnotationConfig> create(const access::Caller& caller, const access::SpaceId& space,
                                    const AnnotationConfigContent& content);
    // Replaces everything but the id.
    Result<AnnotationConfig> update(const access::Caller& caller, const AnnotationConfigId& id,
                                    const AnnotationConfigContent& content);
    // Annotations of its name are kept.
    Result<> remove(const access::Caller& caller, const AnnotationConfigId& id);

    // Of a project that the caller may read; newest first.
    Result<access::Page<AnnotationConfig>> of_project(const access::Project& project,
                                                      const access::PageRequest& page) const;
    // `project` was found with eval_write; the configs must belong to its space. Harmless to repeat.
    Result<> set_for_project(const access::Caller& caller, const access::Project& project,
                             const std::vector<AnnotationConfigId>& ids);
    Result<> assign(const access::Caller& caller, const access::Project& project, const AnnotationConfig& config);
    Result<> unassign(const access::Caller& caller, const access::Project& project, const AnnotationConfig& config);

private:
    Result<AnnotationConfig> config(const access::Caller& caller, const AnnotationConfigId& id,
                                    access::Permission permission) const;

    sql::Database& m_database;
    const Clock& m_clock;
    access::Access& m_access;
};

} // namespace hone::evaluate
