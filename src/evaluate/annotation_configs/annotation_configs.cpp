#include "evaluate/annotation_configs/annotation_configs.h"

#include "base/text.h"
#include "sql/columns.h"
#include "json/json.h"

#include <cmath>
#include <set>

namespace hone::evaluate {

using access::Caller, access::Page, access::PageRequest, access::Permission, access::SpaceId;

namespace {

constexpr std::string_view config_fields =
    "c.id, c.space_id, c.name, c.type, c.description, c.direction, c.labels, c.lower_bound, c.upper_bound, "
    "c.threshold, c.created_at, c.updated_at";

AnnotationConfig config_of(const sql::Row& row) {
    AnnotationConfig config;
    config.id = row.id<AnnotationConfigTag>(0);
    config.space_id = row.id<access::SpaceTag>(1);
    config.content.name = row.text(2);
    config.content.type = parse_enum<AnnotationConfigType>(row.text(3)).value_or(AnnotationConfigType::freeform);
    config.content.description = row.text(4);
    if (const auto direction = row.optional_text(5)) config.content.direction = parse_enum<ScoreDirection>(*direction);
    auto labels = json::read<std::vector<AnnotationLabel>>(row.text(6));
    if (labels.ok()) config.content.labels = std::move(labels).value();
    config.content.lower_bound = row.optional_real(7);
    config.content.upper_bound = row.optional_real(8);
    config.content.threshold = row.optional_real(9);
    config.created_at = row.time(10);
    config.updated_at = row.time(11);
    return config;
}

Result<std::string> checked_label(std::string_view what, const std::string& text, size_t longest) {
    if (text.empty() || text.size() > longest || !is_valid_utf8(text) || text.find('\0') != std::string::npos)
        return invalid(std::string(what) + " must be UTF-8 text of 1 to " + std::to_string(longest) + " bytes");
    return text;
}

Result<> check_labels(const AnnotationConfigContent& content) {
    if (content.type != AnnotationConfigType::categorical) return {};
    if (content.labels.empty()) return invalid("values must not be empty");
    if (content.labels.size() > most_annotation_labels)
        return invalid("values has at most " + std::to_string(most_annotation_labels) + " entries");
    std::set<std::string_view> seen;
    for (const AnnotationLabel& each : content.labels) {
        TRY(checked_label("a label", each.label, 500));
        if (!seen.insert(each.label).second) return invalid("label " + each.label + " is there twice");
        if (each.score && !std::isfinite(*each.score)) return invalid("a score must be a finite number");
    }
    return {};
}

Result<> check_config(const AnnotationConfigContent& content) {
    TRY(checked_label("name", content.name, 500));
    if (content.name == "note") return conflict("the name note is reserved for notes");
    if (content.description.size() > 10'000 || !is_valid_utf8(content.description) ||
        content.description.find('\0') != std::string::npos)
        return invalid("description must be UTF-8 text of at most 10000 bytes");
    if (!content.direction && content.type != AnnotationConfigType::freeform)
        return invalid("optimization_direction is missing");
    for (const auto& number : {content.lower_bound, content.upper_bound, content.threshold})
        if (number && !std::isfinite(*number)) return invalid("bounds and threshold must be finite numbers");
    if (content.lower_bound && content.upper_bound && *content.lower_bound >= *content.upper_bound)
        return invalid("lower_bound must be below upper_bound");
    return check_labels(content);
}

Error config_absent(std::string_view text) {
    return not_found("annotation config " + std::string(truncate_utf8(text, 100)));
}

Result<AnnotationConfig> allowed_config(const Caller& caller, AnnotationConfig found, Permission permission,
                                        std::string_view text) {
    const auto allowed = caller.require(permission, found.space_id);
    if (allowed.ok()) return found;
    return allowed.error().code == Code::not_found ? config_absent(text) : allowed.error();
}

std::string labels_text(const AnnotationConfigContent& content) {
    return json::print(json::to_value(content.labels));
}

std::optional<std::string> direction_text(const AnnotationConfigContent& content) {
    if (!content.direction) return std::nullopt;
    return std::string(name_of(*content.direction));
}

Result<Page<AnnotationConfig>> page_of_rows(const sql::Rows& rows, const PageRequest& page) {
    std::vector<AnnotationConfig> found;
    for (const auto& row : rows) found.push_back(config_of(row));
    return access::make_page(std::move(found), page, [](const AnnotationConfig& one) { return one.id.text(); });
}

// Ids sort by their time of creation; this is after all of them.
constexpr std::string_view after_every_id = "~";

} // namespace

Result<Page<AnnotationConfig>> AnnotationConfigs::list(const Caller& caller, const SpaceId& space,
                                                       const PageRequest& page) const {
    TRY(caller.require(Permission::dataset_read, space));
    const std::string after = TRY(page.after());
    return page_of_rows(
        TRY(m_database.query("SELECT " + std::string(config_fields) +
                                 " FROM annotation_configs c WHERE c.space_id = ? AND c.id < ? ORDER "
                                 "BY c.id DESC LIMIT ?",
                             space, after.empty() ? std::string(after_every_id) : after, page.limit + 1)),
        page);
}

Result<AnnotationConfig> AnnotationConfigs::find(const Caller& caller, const SpaceId& space,
                                                 std::string_view id_or_name, Permission permission) const {
    if (!is_valid_utf8(id_or_name) || id_or_name.find('\0') != id_or_name.npos) return config_absent(id_or_name);
    const auto rows = TRY(m_database.query(
        "SELECT " + std::string(config_fields) +
            " FROM annotation_configs c WHERE c.id = ? OR (c.space_id = ? AND c.name = ?) ORDER BY CASE WHEN c.id = ? "
            "THEN 0 ELSE 1 END LIMIT 1",
        id_or_name, space, id_or_name, id_or_name));
    if (rows.empty()) return config_absent(id_or_name);
    return allowed_config(caller, config_of(rows.front()), permission, id_or_name);
}

Result<AnnotationConfig> AnnotationConfigs::config(const Caller& caller, const AnnotationConfigId& id,
                                                   Permission permission) const {
    const auto rows =
        TRY(m_database.query("SELECT " + std::string(config_fields) + " FROM annotation_configs c WHERE c.id = ?", id));
    if (rows.empty()) return config_absent(id.text());
    return allowed_config(caller, config_of(rows.front()), permission, id.text());
}

Result<AnnotationConfig> AnnotationConfigs::create(const Caller& caller, const SpaceId& space,
                                                   const AnnotationConfigContent& content) {
    TRY(caller.require(Permission::eval_write, space));
    TRY(check_config(content));
    AnnotationConfig made{make_id<AnnotationConfigTag>(m_clock), space, content, m_clock.now(), m_clock.now()};
    TRY(m_database.write([&](sql::Transaction& transaction) -> Result<> {
        if (TRY(transaction.execute(
                "INSERT INTO annotation_configs (id, space_id, name, type, description, direction, labels, "
                "lower_bound, "
                "upper_bound, threshold, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON "
                "CONFLICT (space_id, name) DO NOTHING",
                made.id, space, content.name, name_of(content.type), content.description, direction_text(content),
                labels_text(content), content.lower_bound, content.upper_bound, content.threshold, made.created_at,
                made.updated_at)) == 0)
            return conflict("an annotation config named " + content.name + " exists already in this space");
        return m_access.audit.record(transaction, caller,
                                     {"annotation_config_create", space, made.id.text(), {{"name", content.name}}});
    }));
    return made;
}

Result<AnnotationConfig> AnnotationConfigs::update(const Caller& caller, const AnnotationConfigId& id,
                                                   const AnnotationConfigContent& content) {
    AnnotationConfig changed = TRY(config(caller, id, Permission::eval_write));
    TRY(check_config(content));
    changed.content = content;
    changed.updated_at = m_clock.now();
    TRY(m_database.write([&](sql::Transaction& transaction) -> Result<> {
        const auto taken =
            TRY(transaction.query("SELECT id FROM annotation_configs WHERE space_id = ? AND name = ? AND id <> ?",
                                  changed.space_id, content.name, id));
        if (!taken.empty())
            return conflict("an annotation config named " + content.name + " exists already in this space");
        TRY(transaction.execute(
            "UPDATE annotation_configs SET name = ?, type = ?, description = ?, direction = ?, labels = ?, lower_bound "
            "= ?, upper_bound = ?, threshold = ?, updated_at = ? WHERE id = ?",
            content.name, name_of(content.type), content.description, direction_text(content), labels_text(content),
            content.lower_bound, content.upper_bound, content.threshold, changed.updated_at, id));
        return m_access.audit.record(
            transaction, caller, {"annotation_config_update", changed.space_id, id.text(), {{"name", content.name}}});
    }));
    return changed;
}

Result<> AnnotationConfigs::remove(const Caller& caller, const AnnotationConfigId& id) {
    const AnnotationConfig gone = TRY(config(caller, id, Permission::eval_write));
    return m_database.write([&](sql::Transaction& transaction) -> Result<> {
        TRY(transaction.execute("DELETE FROM annotation_configs WHERE id = ?", id));
        return m_access.audit.record(
            transaction, caller, {"annotation_config_delete", gone.space_id, id.text(), {{"name", gone.content.name}}});
    });
}

Result<Page<AnnotationConfig>> AnnotationConfigs::of_project(const access::Project& project,
                                                             const PageRequest& page) const {
    const std::string after = TRY(page.after());
    return page_of_rows(
        TRY(m_database.query("SELECT " + std::string(config_fields) +
                                 " FROM annotation_configs c JOIN project_annotation_configs p ON p.config_id = c.id "
                                 "WHERE p.project_id = ? AND c.id < ? ORDER BY c.id DESC LIMIT ?",
                             project.id, after.empty() ? std::string(after_every_id) : after, page.limit + 1)),
        page);
}

Result<> AnnotationConfigs::set_for_project(const Caller& caller, const access::Project& project,
                                            const std::vector<AnnotationConfigId>& ids) {
    if (ids.size() > most_annotation_labels)
        return invalid("a project has at most " + std::to_string(most_annotation_labels) + " annotation configs");
    for (const AnnotationConfigId& id : ids)
        if (TRY(config(caller, id, Permission::dataset_read)).space_id != project.space_id)
            return config_absent(id.text());
    return m_database.write([&](sql::Transaction& transaction) -> Result<> {
        TRY(transaction.execute("DELETE FROM project_annotation_configs WHERE project_id = ?", project.id));
        for (const AnnotationConfigId& id : ids)
            TRY(transaction.execute("INSERT INTO project_annotation_configs (project_id, config_id) VALUES (?, ?) ON "
                                    "CONFLICT (project_id, config_id) DO NOTHING",
                                    project.id, id));
        return m_access.audit.record(transaction, caller,
                                     {"project_annotation_configs",
                                      project.space_id,
                                      project.id.text(),
                                      {{"configs", static_cast<int64_t>(ids.size())}}});
    });
}

Result<> AnnotationConfigs::assign(const Caller& caller, const access::Project& project,
                                   const AnnotationConfig& config) {
    if (config.space_id != project.space_id) return config_absent(config.id.text());
    return m_database.write([&](sql::Transaction& transaction) -> Result<> {
        if (TRY(transaction.execute("INSERT INTO project_annotation_configs (project_id, config_id) VALUES (?, ?) ON "
                                    "CONFLICT (project_id, config_id) DO NOTHING",
                                    project.id, config.id)) == 0)
            return {};
        return m_access.audit.record(
            transaction, caller,
            {"project_annotation_configs", project.space_id, project.id.text(), {{"added", config.content.name}}});
    });
}

Result<> AnnotationConfigs::unassign(const Caller& caller, const access::Project& project,
                                     const AnnotationConfig& config) {
    return m_database.write([&](sql::Transaction& transaction) -> Result<> {
        if (TRY(transaction.execute("DELETE FROM project_annotation_configs WHERE project_id = ? AND config_id = ?",
                                    project.id, config.id)) == 0)
            return {};
        return m_access.audit.record(
            transaction, caller,
            {"project_annotation_configs", project.space_id, project.id.text(), {{"removed", config.content.name}}});
    });
}

} // namespace hone::evaluate
