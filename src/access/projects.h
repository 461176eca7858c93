// Projects and who may see the restricted ones. In a restricted project only explicit bindings count: a space's role
// gives nothing there, except that those who may bind can see that it exists and decide who gets in. Thread-safe.
#pragma once

#include "access/spaces.h"

namespace hone::access {

struct ProjectChange {
    std::optional<std::string> name{};
    std::optional<std::string> description{};
    std::optional<bool> restricted{};
    std::optional<std::optional<int64_t>> retention_days{}; // the inner null: back to the server's default
};

// A store that keeps data of projects. Called after a project is deleted, repeatedly until it succeeds; so it
// must be harmless to call twice.
class ProjectData {
public:
    virtual ~ProjectData() = default;
    virtual Result<> delete_project_data(const ProjectId& project) = 0;
};

class Projects {
public:
    Projects(sql::Database& database, const Clock& clock, const AuditLog& audit)
        : m_database(database),
          m_clock(clock),
          m_audit(audit) {}

    // Projects of experiments only with `include_hidden`.
    Result<Page<Project>> list(const Caller& caller, const SpaceId& space,
                               const std::optional<std::string>& name_contains, const PageRequest& page,
                               bool include_hidden = false) const;
    // By id, or by name within `space`. Checks the permission in the project; not_found when the caller may not see it.
    Result<Project> find(const Caller& caller, const SpaceId& space, std::string_view id_or_name,
                         Permission permission = Permission::project_read) const;
    Result<Project> create(const Caller& caller, const SpaceId& space, const std::string& name,
                           const std::string& description, bool restricted, std::optional<int64_t> retention_days);
    // The project that traces are sent to; made on first use. Needs trace_write, and nothing else to make it.
    Result<Project> find_or_create_for_traces(const Caller& caller, const SpaceId& space, const std::string& name);
    // The hidden project of an experiment, for the traces of its runs; its spans are kept for 90 days.
    Result<Project> create_for_experiment(const Caller& caller, const SpaceId& space, const std::string& name);
    // Whether it belongs to experiments or evaluators; also true when it is gone.
    Result<bool> is_hidden(const ProjectId& id) const;
    // Harmless when it is gone already, or is not hidden.
    Result<> remove_for_experiment(const Caller& caller, const ProjectId& id);
    Result<Project> update(const Caller& caller, const ProjectId& id, const ProjectChange& change);
    // Invisible immediately; the data is deleted later (purge).
    Result<> remove(const Caller& caller, const ProjectId& id);

    Result<std::vector<Binding>> bindings(const Caller& caller, const ProjectId& id) const;
    Result<Binding> bind(const Caller& caller, const ProjectId& id, const std::string& principal, Role role);
    Result<> unbind(const Caller& caller, const ProjectId& id, const std::string& principal);

    // The condition that `column` names a project whose content the caller may read: for lists of things
    // that belong to projects. Always true for the system.
    struct Condition {
        std::string sql;
        std::vector<sql::Value> values;
    };
    static Condition seen_by(const Caller& caller, const SpaceId& space, std::string_view column);

    // Names by id, for lists of other folders; ids without a project are left out.
    Result<std::map<ProjectId, std::string>> names(std::span<const ProjectId> ids) const;
    Result<std::optional<std::string>> name(sql::Transaction& transaction, const ProjectId& id) const;

    // What the caller may do in this project.
    Result<PermissionSet> permissions_in(const Caller& caller, const Project& project) const;

    // Days that spans are kept, of the projects with their own setting. For the retention duty.
    Result<std::map<std::string, int64_t>> retention_days() const;
    // The space of each project, hidden ones included, by their ids.
    Result<std::map<std::string, std::string>> spaces() const;

    // Stores register once at start, before requests come.
    void add_data_owner(ProjectData& owner) { m_data_owners.push_back(&owner); }
    // Lets every store delete the data of deleted projects; called by a background duty. Returns how many are done.
    Result<int64_t> purge();

private:
    Result<Project> insert(const Caller& caller, const Project& wanted, bool is_hidden = false);
    Result<Project> find_row(const std::string& condition, std::span<const sql::Value> values) const;

    sql::Database& m_database;
    const Clock& m_clock;
    const AuditLog& m_audit;
    std::vector<ProjectData*> m_data_owners;
};

} // namespace hone::access
