#include "server/operations/exports.h"

#include "base/text.h"
#include "crypto/crypto.h"
#include "objects/owner.h"

#include <algorithm>

namespace hone::server {

namespace {

constexpr Duration address_lifetime = std::chrono::minutes(5);
constexpr int64_t block_bytes = 4 << 20; // of one request to the store
constexpr size_t piece_bytes = 256 << 10;

std::string folder_of(const access::ProjectId& project) {
    return "exports/" + project.text() + "/";
}

// "spans-20261117T175000Z-1a2b3c4d.jsonl": in the order of time.
std::string new_name(Time now, std::string_view ending) {
    std::string digits;
    for (const char c : to_text(now).substr(0, 19))
        if (c != '-' && c != ':') digits += c;
    return "spans-" + digits + "Z-" + to_hex(crypto::random_bytes(4)) + "." + std::string(ending);
}

Result<std::string> key_of(const access::Project& project, const std::string& name) {
    const std::string key = folder_of(project.id) + name;
    if (name.find('/') != std::string::npos || !objects::check_key(key).ok())
        return not_found("export " + std::string(truncate_utf8(name, 60)));
    return key;
}

// An object as a body. Exports have names of their own and are never replaced, so that the pieces are of one content.
class ObjectBody final : public net::BodySource {
public:
    ObjectBody(objects::ObjectStore& store, std::string key, int64_t bytes)
        : m_store(store),
          m_key(std::move(key)),
          m_bytes(bytes) {}
    Result<std::string> next() override {
        if (m_given == m_block.size() && m_at < m_bytes) {
            m_block.clear();
            m_given = 0;
            TRY(m_store.get(m_key, {m_at, std::min(block_bytes, m_bytes - m_at)},
                            [this](std::string_view bytes) -> Result<> {
                                m_block += bytes;
                                return {};
                            }));
            if (m_block.empty()) return unavailable("the export became shorter while it was read");
            m_at += static_cast<int64_t>(m_block.size());
        }
        std::string piece = m_block.substr(m_given, piece_bytes);
        m_given += piece.size();
        return piece;
    }

private:
    objects::ObjectStore& m_store;
    const std::string m_key;
    const int64_t m_bytes;
    int64_t m_at = 0; // where the next request begins
    std::string m_block;
    size_t m_given = 0;
};

} // namespace

api::StoredExport Exports::view_of(const objects::ObjectInfo& object) const {
    return {object.key.substr(object.key.rfind('/') + 1), object.bytes, object.changed_at,
            object.changed_at + m_parts.lifetime};
}

Result<api::StoredExport> Exports::store(const access::Caller& caller, const access::Project& project,
                                         net::BodySource& source, std::string_view ending) {
    if (m_is_storing.exchange(true))
        return busy("this server is writing another export: try again when it is complete");
    objects::ObjectInfo made;
    made.changed_at = m_parts.clock.now();
    made.key = folder_of(project.id) + new_name(made.changed_at, ending);
    const auto stored = m_parts.store.put(made.key, [&] { return source.next(); });
    m_is_storing = false;
    if (!stored.ok()) return stored.error();
    made.bytes = stored.value().bytes;
    api::StoredExport view = view_of(made);
    TRY(m_parts.access.audit.record(
        caller, {"export_store", project.space_id, project.id.text(), {{"name", view.name}, {"bytes", view.bytes}}}));
    return view;
}

Result<std::vector<api::StoredExport>> Exports::list(const access::Project& project) const {
    std::vector<api::StoredExport> all;
    std::string cursor;
    do {
        const objects::ObjectPage page = TRY(m_parts.store.list(folder_of(project.id), cursor));
        for (const objects::ObjectInfo& object : page.objects) all.push_back(view_of(object));
        cursor = page.next;
    } while (!cursor.empty());
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.name > b.name; });
    return all;
}

Result<api::ExportContent> Exports::content(const access::Project& project, const std::string& name,
                                            bool direct) const {
    const std::string key = TRY(key_of(project, name));
    const auto found = TRY(m_parts.store.head(key));
    if (!found) return not_found("export " + name);
    api::ExportContent content;
    if (direct)
        if (const auto address = TRY(m_parts.store.presigned_get(key, address_lifetime, name)); address)
            content.address = *address;
    if (content.address.empty()) content.stream = std::make_unique<ObjectBody>(m_parts.store, key, found->bytes);
    return content;
}

Result<> Exports::remove(const access::Caller& caller, const access::Project& project, const std::string& name) {
    const std::string key = TRY(key_of(project, name));
    if (!TRY(m_parts.store.head(key))) return not_found("export " + name);
    TRY(m_parts.store.remove(key));
    return m_parts.access.audit.record(caller,
                                       {"export_delete", project.space_id, project.id.text(), {{"name", name}}});
}

Result<int64_t> Exports::sweep() {
    if (!m_parts.owner.empty() && !TRY(objects::is_owner(m_parts.store, m_parts.owner))) return int64_t{0};
    const Time now = m_parts.clock.now();
    const auto projects = TRY(m_parts.access.projects.spaces()); // by their ids
    int64_t removed = 0;
    std::string cursor;
    do {
        const objects::ObjectPage page = TRY(m_parts.store.list("exports/", cursor));
        for (const objects::ObjectInfo& object : page.objects) {
            const auto parts = split(object.key, '/');
            if (parts.size() != 3) continue;
            if (projects.contains(std::string(parts[1])) && object.changed_at + m_parts.lifetime > now) continue;
            TRY(m_parts.store.remove(object.key));
            ++removed;
        }
        cursor = page.next;
    } while (!cursor.empty());
    return removed;
}

} // namespace hone::server
