// Labels of a space's datasets.
#include "evaluate/datasets/datasets.h"
#include "sql/columns.h"

namespace hone::evaluate {

using access::Caller, access::Page, access::PageRequest, access::Permission, access::SpaceId;

namespace {

constexpr Pack label_columns{
    sql::Column{"id", &DatasetLabel::id},       sql::Column{"space_id", &DatasetLabel::space_id},
    sql::Column{"name", &DatasetLabel::name},   sql::Column{"description", &DatasetLabel::description},
    sql::Column{"color", &DatasetLabel::color},
};

DatasetLabel label_of(const sql::Row& row) {
    return sql::read<DatasetLabel>(label_columns, row);
}

Result<> apply_label(DatasetLabel& label, const DatasetLabelChange& change) {
    if (change.name) label.name = TRY(checked_title("name", *change.name));
    if (change.description) {
        if (change.description->size() > 2000 || !is_valid_utf8(*change.description) ||
            change.description->find('\0') != std::string::npos)
            return invalid("description must be UTF-8 text of at most 2000 bytes");
        label.description = *change.description;
    }
    if (change.color) {
        const std::string& color = *change.color;
        if (color.size() != 7 || color[0] != '#' || color.find_first_not_of("0123456789abcdef", 1) != std::string::npos)
            return invalid("color must be # and six hexadecimal digits in lower case, such as #4f7cac");
        label.color = color;
    }
    return {};
}

} // namespace

Result<Page<DatasetLabel>> Datasets::labels(const Caller& caller, const SpaceId& space, const PageRequest& page) const {
    TRY(caller.require(Permission::dataset_read, space));
    std::vector<DatasetLabel> found;
    for (const auto& row : TRY(m_database.query("SELECT " + sql::names(label_columns) +
                                                    " FROM dataset_labels WHERE space_id = ? AND id > ? ORDER BY id "
                                                    "LIMIT ?",
                                                space, TRY(page.after()), page.limit + 1)))
        found.push_back(label_of(row));
    return access::make_page(std::move(found), page, [](const DatasetLabel& one) { return one.id.text(); });
}

Result<DatasetLabel> Datasets::label(const Caller& caller, const DatasetLabelId& id, Permission permission) const {
    const auto rows =
        TRY(m_database.query("SELECT " + sql::names(label_columns) + " FROM dataset_labels WHERE id = ?", id));
    if (rows.empty()) return not_found("label " + id.text());
    DatasetLabel found = label_of(rows.front());
    const auto allowed = caller.require(permission, found.space_id);
    if (!allowed.ok() && allowed.error().code == Code::not_found) return not_found("label " + id.text());
    if (!allowed.ok()) return allowed.error();
    return found;
}

Result<DatasetLabel> Datasets::create_label(const Caller& caller, const SpaceId& space,
                                            const DatasetLabelChange& wanted) {
    TRY(caller.require(Permission::dataset_write, space));
    DatasetLabel label;
    label.id = make_id<DatasetLabelTag>(m_clock);
    label.space_id = space;
    if (!wanted.name) return invalid("name is missing");
    if (!wanted.color) return invalid("color is missing");
    TRY(apply_label(label, wanted));
    TRY(m_database.write([&](sql::Transaction& transaction) -> Result<> {
        if (TRY(transaction.execute("INSERT INTO dataset_labels (id, space_id, name, description, color, created_at) "
                                    "VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (space_id, name) DO NOTHING",
                                    label.id, space, label.name, label.description, label.color, m_clock.now())) == 0)
            return conflict("a label named " + label.name + " exists already in this space");
        return m_access.audit.record(transaction, caller,
                                     {"dataset_label_create", space, label.id.text(), {{"name", label.name}}});
    }));
    return label;
}

Result<DatasetLabel> Datasets::update_label(const Caller& caller, const DatasetLabelId& id,
                                            const DatasetLabelChange& change) {
    DatasetLabel changed = TRY(label(caller, id, Permission::dataset_write));
    TRY(apply_label(changed, change));
    TRY(m_database.write([&](sql::Transaction& transaction) -> Result<> {
        const auto taken =
            TRY(transaction.query("SELECT id FROM dataset_labels WHERE space_id = ? AND name = ? AND id <> ?",
                                  changed.space_id, changed.name, id));
        if (!taken.empty()) return conflict("a label named " + changed.name + " exists already in this space");
        TRY(transaction.execute("UPDATE dataset_labels SET name = ?, description = ?, color = ? WHERE id = ?",
                                changed.name, changed.description, changed.color, id));
        return m_access.audit.record(transaction, caller,
                                     {"dataset_label_update", changed.space_id, id.text(), {{"name", changed.name}}});
    }));
    return changed;
}

Result<> Datasets::remove_label(const Caller& caller, const DatasetLabelId& id) {
    const DatasetLabel gone = TRY(label(caller, id, Permission::dataset_write));
    return m_database.write([&](sql::Transaction& transaction) -> Result<> {
        TRY(transaction.execute("DELETE FROM dataset_labels WHERE id = ?", id));
        return m_access.audit.record(transaction, caller,
                                     {"dataset_label_delete", gone.space_id, id.text(), {{"name", gone.name}}});
    });
}

Result<std::vector<DatasetLabel>> Datasets::labels_of(const Caller& caller, const DatasetId& id) const {
    TRY(dataset(caller, id, Permission::dataset_read));
    std::vector<DatasetLabel> found;
    for (const auto& row :
         TRY(m_database.query("SELECT " + sql::names(label_columns, "l.") +
                                  " FROM dataset_labels l JOIN dataset_label_uses u ON u.label_id = l.id WHERE "
                                  "u.dataset_id = ? ORDER BY l.name",
                              id)))
        found.push_back(label_of(row));
    return found;
}

Result<std::vector<DatasetLabel>> Datasets::set_labels(const Caller& caller, const DatasetId& id,
                                                       const std::vector<DatasetLabelId>& wanted) {
    const Dataset of = TRY(dataset(caller, id, Permission::dataset_write));
    for (const DatasetLabelId& one : wanted)
        if (TRY(label(caller, one)).space_id != of.space_id) return not_found("label " + one.text());
    TRY(m_database.write([&](sql::Transaction& transaction) -> Result<> {
        TRY(transaction.execute("DELETE FROM dataset_label_uses WHERE dataset_id = ?", id));
        for (const DatasetLabelId& one : wanted)
            TRY(transaction.execute("INSERT INTO dataset_label_uses (dataset_id, label_id) VALUES (?, ?) ON CONFLICT "
                                    "(dataset_id, label_id) DO NOTHING",
                                    id, one));
        return m_access.audit.record(
            transaction, caller,
            {"dataset_labels", of.space_id, id.text(), {{"labels", static_cast<int64_t>(wanted.size())}}});
    }));
    return labels_of(caller, id);
}

Result<DatasetLabel> Datasets::add_label(const Caller& caller, const DatasetId& id, const DatasetLabelId& wanted) {
    const Dataset of = TRY(dataset(caller, id, Permission::dataset_write));
    const DatasetLabel added = TRY(label(caller, wanted));
    if (added.space_id != of.space_id) return not_found("label " + wanted.text());
    TRY(m_database.write([&](sql::Transaction& transaction) -> Result<> {
        TRY(transaction.execute("INSERT INTO dataset_label_uses (dataset_id, label_id) VALUES (?, ?) ON CONFLICT "
                                "(dataset_id, label_id) DO NOTHING",
                                id, wanted));
        return m_access.audit.record(transaction, caller,
                                     {"dataset_labels", of.space_id, id.text(), {{"added", added.name}}});
    }));
    return added;
}

Result<> Datasets::drop_label(const Caller& caller, const DatasetId& id, const DatasetLabelId& wanted) {
    const Dataset of = TRY(dataset(caller, id, Permission::dataset_write));
    return m_database.write([&](sql::Transaction& transaction) -> Result<> {
        if (TRY(transaction.execute("DELETE FROM dataset_label_uses WHERE dataset_id = ? AND label_id = ?", id,
                                    wanted)) == 0)
            return not_found("label " + wanted.text() + " of this dataset");
        return m_access.audit.record(transaction, caller,
                                     {"dataset_labels", of.space_id, id.text(), {{"removed", wanted.text()}}});
    });
}

} // namespace hone::evaluate
