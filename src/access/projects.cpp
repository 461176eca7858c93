#include "access/projects.h"

#include "access/names.h"
#include "base/log.h"
#include "sql/columns.h"

namespace hone::access {

namespace {

constexpr std::string_view select_project =
    "SELECT id, name, description, space_id, restricted, retention_days, created_at FROM projects";

Project project_of(const sql::Row& row) {
    return {row.id<ProjectTag>(0),   row.text(1), row.text(2), row.id<SpaceTag>(3), row.flag(4),
            row.optional_integer(5), row.time(6)};
}

Result<> check_retention(const std::optional<int64_t>& days) {
    if (days && (*days < 1 || *days > 36500)) return invalid("retention_days must be between 1 and 36500");
    return {};
}

std::string like_pattern(std::string_view text) {
    std::string pattern = "%";
    for (const char c : text) {
        if (c == '%' || c == '_' || c == '\\') pattern += '\\';
        pattern += c;
    }
    return pattern + "%";
}

json::Value retention_value(const std::optional<int64_t>& days) {
    return days ? json::Value(*days) : json::Value(nullptr);
}

} // namespace

Result<PermissionSet> Projects::permissions_in(const Caller& caller, const Project& project) const {
    if (!caller.bound_project.empty() && caller.bound_project != project.id) return PermissionSet();
    const PermissionSet in_space = caller.permissions_in(project.space_id);
    if (!project.restricted || caller.kind == CallerKind::system) return in_space;
    PermissionSet allowed;
    if (in_space.has(Permission::project_bind)) allowed.add(Permission::project_bind);
    if (in_space.empty()) return allowed; // a binding gives nothing to those outside the space
    // A custom role denies what it does not name, in restricted projects too.
    const PermissionSet limit =
        caller.custom_role_in(project.space_id).empty() ? permissions_of(Role::owner) : in_space;
    const auto rows = TRY(m_database.query("SELECT role FROM bindings WHERE project_id = ? AND principal = ?",
                                           project.id, caller.principal()));
    if (!rows.empty())
        if (const auto role = parse_enum<Role>(rows.front().text(0)))
            allowed = allowed | (permissions_of(*role) & caller.scope & limit);
    return allowed;
}

Result<Project> Projects::find_row(const std::string& condition, std::span<const sql::Value> values) const {
    const auto rows = TRY(m_database.run_query(std::string(select_project) + " WHERE " + condition, values));
    if (rows.empty()) return not_found("project");
    return project_of(rows.front());
}

Result<Project> Projects::find(const Caller& caller, const SpaceId& space, std::string_view id_or_name,
                               Permission permission) const {
    if (caller.is_guest()) return unauthorized("log in, or send an API key as `Authorization: Bearer …`");
    const auto absent = [&] { return not_found("project " + std::string(truncate_utf8(id_or_name, 100))); };
    const sql::Value values[] = {sql::to_value(id_or_name), sql::to_value(space), sql::to_value(id_or_name),
                                 sql::to_value(id_or_name)};
    auto found =
        find_row("id = ? OR (space_id = ? AND name = ?) ORDER BY CASE WHEN id = ? THEN 0 ELSE 1 END LIMIT 1", values);
    if (!found.ok()) return found.error().code == Code::not_found ? absent() : found.error();
    const PermissionSet allowed = TRY(permissions_in(caller, found.value()));
    if (allowed.has(permission)) return found;
    if (!allowed.has(Permission::project_read) && !allowed.has(Permission::project_bind)) {
        // Seen by others in a space the caller belongs to: only its existence is hidden when it is restricted.
        if (!found.value().restricted && caller.bound_project.empty() && caller.role_in(found.value().space_id))
            return forbidden("this needs the permission " + std::string(name_of(permission)) + " in the space");
        return absent();
    }
    return forbidden("this needs the permission " + std::string(name_of(permission)) + " in the project");
}

Projects::Condition Projects::seen_by(const Caller& caller, const SpaceId& space, std::string_view column) {
    if (caller.kind == CallerKind::system) return {"1 = 1", {}};
    Condition condition{std::string(column) +
                            " IN (SELECT p.id FROM projects p WHERE p.space_id = ? AND (p.restricted = 0 "
                            "OR EXISTS (SELECT 1 FROM bindings b WHERE b.project_id = p.id AND "
                            "b.principal = ?)))",
                        {sql::to_value(space), sql::to_value(caller.principal())}};
    if (!caller.bound_project.empty()) {
        condition.sql += " AND " + std::string(column) + " = ?";
        condition.values.push_back(sql::to_value(caller.bound_project));
    }
    return condition;
}

Result<std::map<ProjectId, std::string>> Projects::names(std::span<const ProjectId> ids) const {
    std::map<ProjectId, std::string> names;
    if (ids.empty()) return names;
    const auto rows = TRY(m_database.run_query(
        "SELECT id, name FROM projects WHERE id IN (" + sql::marks(ids.size()) + ")", sql::to_values(ids)));
    for (const auto& row : rows) names.emplace(row.id<ProjectTag>(0), row.text(1));
    return names;
}

Result<std::optional<std::string>> Projects::name(sql::Transaction& transaction, const ProjectId& id) const {
    const auto rows = TRY(transaction.query("SELECT name FROM projects WHERE id = ?", id));
    if (rows.empty()) return std::optional<std::string>();
    return std::optional(rows.front().text(0));
}

Result<Page<Project>> Projects::list(const Caller& caller, const SpaceId& space,
                                     const std::optional<std::string>& name_contains, const PageRequest& page,
                                     bool include_hidden) const {
    TRY(caller.require(Permission::project_read, space));
    const std::string after = TRY(page.after());
    std::string sql = std::string(select_project) + " WHERE space_id = ? AND id > ?";
    std::vector<sql::Value> values{sql::to_value(space), sql::to_value(after)};
    if (caller.kind != CallerKind::system) {
        // Those who may bind see that a restricted project exists.
        sql += " AND (restricted = 0 OR ? = 1 OR EXISTS (SELECT 1 FROM bindings b WHERE b.project_id = projects.id AND "
               "b.principal = ?))";
        values.push_back(sql::to_value(caller.permissions_in(space).has(Permission::project_bind)));
        values.push_back(sql::to_value(caller.principal()));
    }
    if (!include_hidden) sql += " AND hidden = 0";
    if (!caller.bound_project.empty()) {
        sql += " AND id = ?";
        values.push_back(sql::to_value(caller.bound_project));
    }
    if (name_contains) {
        if (name_contains->size() > 100) return invalid("name_contains must be at most 100 bytes long");
        // Letters beyond ASCII are compared as they are: the engines disagree about their case.
        sql += " AND LOWER(name) LIKE ? ESCAPE '\\'";
        values.push_back(sql::to_value(like_pattern(lowercase_ascii(*name_contains))));
    }
    sql += " ORDER BY id LIMIT ?";
    values.push_back(sql::to_value(page.limit + 1));
    const auto rows = TRY(m_database.run_query(sql, values));
    std::vector<Project> projects;
    for (const auto& row : rows) projects.push_back(project_of(row));
    return make_page(std::move(projects), page, [](const Project& project) { return project.id.text(); });
}

Result<Project> Projects::create(const Caller& caller, const SpaceId& space, const std::string& wanted_name,
                                 const std::string& wanted_description, bool restricted,
                                 std::optional<int64_t> retention_days) {
    TRY(caller.require(Permission::project_create, space));
    Project project;
    project.name = TRY(checked_name("name", wanted_name));
    project.description = TRY(checked_description(wanted_description));
    TRY(check_retention(retention_days));
    project.space_id = space;
    project.restricted = restricted;
    project.retention_days = retention_days;
    return insert(caller, project);
}

Result<Project> Projects::find_or_create_for_traces(const Caller& caller, const SpaceId& space,
                                                    const std::string& wanted_name) {
    TRY(caller.require(Permission::trace_write, space));
    Project project;
    project.name = TRY(checked_name("the project's name", wanted_name));
    project.space_id = space;
    const auto known = [&] { return find(caller, space, project.name, Permission::trace_write); };
    if (auto found = known(); found.ok() || found.error().code != Code::not_found) return found;
    auto made = insert(caller, project);
    if (made.ok() || made.error().code != Code::conflict) return made;
    // Another request was faster, or it is a restricted project that this caller does not see.
    auto found = known();
    if (!found.ok() && found.error().code == Code::not_found)
        return forbidden("traces cannot be sent to a project named " + project.name + " with this key");
    return found;
}

Result<Project> Projects::create_for_experiment(const Caller& caller, const SpaceId& space, const std::string& name) {
    TRY(caller.require(Permission::experiment_write, space));
    Project project;
    project.name = TRY(checked_name("name", name));
    project.space_id = space;
    project.retention_days = 90;
    return insert(caller, project, true);
}

Result<bool> Projects::is_hidden(const ProjectId& id) const {
    const auto rows = TRY(m_database.query("SELECT hidden FROM projects WHERE id = ?", id));
    return rows.empty() || rows.front().integer(0) != 0;
}

Result<> Projects::remove_for_experiment(const Caller& caller, const ProjectId& id) {
    return m_database.write([&](sql::Transaction& transaction) -> Result<> {
        const auto rows = TRY(transaction.query("SELECT space_id, name FROM projects WHERE id = ? AND hidden = 1", id));
        if (rows.empty()) return {};
        const auto space = rows.front().id<SpaceTag>(0);
        TRY(caller.require(Permission::experiment_write, space));
        TRY(transaction.execute("DELETE FROM projects WHERE id = ?", id));
        TRY(transaction.execute("INSERT INTO deleted_projects (id, space_id, name, deleted_at) VALUES (?,?,?,?)", id,
                                space, rows.front().text(1), m_clock.now()));
        return m_audit.record(transaction, caller,
                              {"project_delete", space, id.text(), {{"name", rows.front().text(1)}}});
    });
}

Result<Project> Projects::insert(const Caller& caller, const Project& project, bool is_hidden) {
    return m_database.write([&](sql::Transaction& transaction) -> Result<Project> {
        const auto taken = TRY(transaction.query("SELECT id FROM projects WHERE space_id = ? AND name = ?",
                                                 project.space_id, project.name));
        if (!taken.empty()) return conflict("a project named " + project.name + " exists already in this space");
        Project made = project;
        made.id = make_id<ProjectTag>(m_clock);
        made.created_at = m_clock.now();
        TRY(transaction.execute("INSERT INTO projects (id, space_id, name, description, restricted, retention_days, "
                                "created_at, hidden) VALUES (?,?,?,?,?,?,?,?)",
                                made.id, made.space_id, made.name, made.description, made.restricted,
                                made.retention_days, made.created_at, is_hidden));
        // The creator of a restricted project can see it.
        if (made.restricted && caller.kind != CallerKind::system)
            TRY(transaction.execute("INSERT INTO bindings (project_id, principal, role, created_at) VALUES (?,?,?,?)",
                                    made.id, caller.principal(),
                                    name_of(caller.role_in(made.space_id).value_or(Role::member)), made.created_at));
        TRY(m_audit.record(
            transaction, caller,
            {"project_create", made.space_id, made.id.text(), {{"name", made.name}, {"restricted", made.restricted}}}));
        return made;
    });
}

Result<Project> Projects::update(const Caller& caller, const ProjectId& id, const ProjectChange& change) {
    TRY(find(caller, {}, id.text(), Permission::project_update));
    if (change.retention_days) TRY(check_retention(*change.retention_days));
    return m_database.write([&](sql::Transaction& transaction) -> Result<Project> {
        const auto rows = TRY(transaction.query(std::string(select_project) + " WHERE id = ?", id));
        if (rows.empty()) return not_found("project " + id.text());
        Project project = project_of(rows.front());
        // Opening or closing a project decides who sees it, like a binding does.
        if (change.restricted && *change.restricted != project.restricted)
            TRY(caller.require(Permission::project_bind, project.space_id));
        if (change.name) project.name = TRY(checked_name("name", *change.name));
        if (change.description) project.description = TRY(checked_description(*change.description));
        if (change.retention_days) project.retention_days = *change.retention_days;
        const bool closes = change.restricted && *change.restricted && !project.restricted;
        if (change.restricted) project.restricted = *change.restricted;
        const auto taken = TRY(transaction.query("SELECT id FROM projects WHERE space_id = ? AND name = ? AND id <> ?",
                                                 project.space_id, project.name, id));
        if (!taken.empty()) return conflict("a project named " + project.name + " exists already in this space");
        TRY(transaction.execute(
            "UPDATE projects SET name = ?, description = ?, restricted = ?, retention_days = ? WHERE id = ?",
            project.name, project.description, project.restricted, project.retention_days, id));
        if (closes && caller.kind != CallerKind::system)
            TRY(transaction.execute("INSERT INTO bindings (project_id, principal, role, created_at) VALUES (?,?,?,?) "
                                    "ON CONFLICT (project_id, principal) DO NOTHING",
                                    id, caller.principal(),
                                    name_of(caller.role_in(project.space_id).value_or(Role::member)), m_clock.now()));
        TRY(m_audit.record(transaction, caller,
                           {"project_update",
                            project.space_id,
                            id.text(),
                            {{"name", project.name},
                             {"description", project.description},
                             {"restricted", project.restricted},
                             {"retention_days", retention_value(project.retention_days)}}}));
        return project;
    });
}

Result<> Projects::remove(const Caller& caller, const ProjectId& id) {
    const Project project = TRY(find(caller, {}, id.text(), Permission::project_delete));
    return m_database.write([&](sql::Transaction& transaction) -> Result<> {
        const int64_t deleted = TRY(transaction.execute("DELETE FROM projects WHERE id = ?", id));
        if (deleted == 0) return not_found("project " + id.text());
        TRY(transaction.execute("INSERT INTO deleted_projects (id, space_id, name, deleted_at) VALUES (?,?,?,?)", id,
                                project.space_id, project.name, m_clock.now()));
        return m_audit.record(transaction, caller,
                              {"project_delete", project.space_id, id.text(), {{"name", project.name}}});
    });
}

Result<std::vector<Binding>> Projects::bindings(const Caller& caller, const ProjectId& id) const {
    TRY(find(caller, {}, id.text(), Permission::project_bind));
    const auto rows =
        TRY(m_database.query("SELECT b.principal, COALESCE(u.email, k.name, ''), b.role, b.created_at FROM bindings b "
                             "LEFT JOIN users u ON u.id = b.principal LEFT JOIN api_keys k ON k.id = b.principal "
                             "WHERE b.project_id = ? ORDER BY b.principal LIMIT 10000",
                             id));
    std::vector<Binding> bindings;
    for (const auto& row : rows)
        bindings.push_back({row.text(0), row.text(0) == signal_principal ? "Signal" : row.text(1),
                            parse_enum<Role>(row.text(2)).value_or(Role::viewer), row.time(3)});
    return bindings;
}

Result<Binding> Projects::bind(const Caller& caller, const ProjectId& id, const std::string& principal, Role role) {
    const Project project = TRY(find(caller, {}, id.text(), Permission::project_bind));
    TRY(require_may_grant(caller, project.space_id, role));
    return m_database.write([&](sql::Transaction& transaction) -> Result<Binding> {
        const auto known = TRY(transaction.query(
            "SELECT u.email FROM members m JOIN users u ON u.id = m.user_id WHERE m.space_id = ? AND m.user_id = ? "
            "UNION ALL SELECT name FROM api_keys WHERE space_id = ? AND id = ? AND user_id IS NULL",
            project.space_id, principal, project.space_id, principal));
        std::string name = principal == signal_principal ? "Signal" : "";
        if (name.empty() && known.empty())
            return not_found("a member or service key " + std::string(truncate_utf8(principal, 100)) + " of the space");
        if (name.empty()) name = known.front().text(0);
        const Time now = m_clock.now();
        TRY(transaction.execute("INSERT INTO bindings (project_id, principal, role, created_at) VALUES (?,?,?,?) "
                                "ON CONFLICT (project_id, principal) DO UPDATE SET role = excluded.role",
                                id, principal, name_of(role), now));
        TRY(m_audit.record(
            transaction, caller,
            {"project_bind", project.space_id, id.text(), {{"principal", principal}, {"role", name_of(role)}}}));
        const auto row = TRY(
            transaction.query("SELECT created_at FROM bindings WHERE project_id = ? AND principal = ?", id, principal));
        return Binding{principal, name, role, row.front().time(0)};
    });
}

Result<> Projects::unbind(const Caller& caller, const ProjectId& id, const std::string& principal) {
    const Project project = TRY(find(caller, {}, id.text(), Permission::project_bind));
    return m_database.write([&](sql::Transaction& transaction) -> Result<> {
        const int64_t gone =
            TRY(transaction.execute("DELETE FROM bindings WHERE project_id = ? AND principal = ?", id, principal));
        if (gone == 0) return not_found("binding of " + std::string(truncate_utf8(principal, 100)));
        return m_audit.record(transaction, caller,
                              {"project_unbind", project.space_id, id.text(), {{"principal", principal}}});
    });
}

Result<std::map<std::string, int64_t>> Projects::retention_days() const {
    std::map<std::string, int64_t> days;
    for (const auto& row :
         TRY(m_database.query("SELECT id, retention_days FROM projects WHERE retention_days IS NOT NULL")))
        days[row.text(0)] = row.integer(1);
    return days;
}

Result<std::map<std::string, std::string>> Projects::spaces() const {
    std::map<std::string, std::string> spaces;
    for (const auto& row : TRY(m_database.query("SELECT id, space_id FROM projects")))
        spaces[row.text(0)] = row.text(1);
    return spaces;
}

Result<int64_t> Projects::purge() {
    int64_t done = 0;
    // In batches by id, so that projects whose data cannot be deleted yet do not keep the others waiting.
    for (std::string position;;) {
        const auto rows =
            TRY(m_database.query("SELECT id FROM deleted_projects WHERE id > ? ORDER BY id LIMIT 100", position));
        for (const auto& row : rows) {
            const auto project = row.id<ProjectTag>(0);
            position = project.text();
            bool complete = true;
            for (ProjectData* owner : m_data_owners) {
                if (auto outcome = owner->delete_project_data(project); !outcome.ok()) {
                    log(Level::warning, "project data not deleted yet",
                        {{"project", project.text()}, {"why", outcome.error().message}});
                    complete = false;
                }
            }
            if (!complete) continue;
            TRY(m_database.execute("DELETE FROM deleted_projects WHERE id = ?", project));
            ++done;
        }
        if (rows.size() < 100) return done;
    }
}

} // namespace hone::access
