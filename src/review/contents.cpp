#include "review/contents.h"

#include "base/log.h"
#include "base/text.h"
#include "base/time.h"
#include "crypto/crypto.h"
#include "objects/file_store.h"
#include "objects/owner.h"

namespace hone::review {

namespace {

// Longer than any upload takes.
constexpr auto unfinished_age = std::chrono::hours(24);

std::string content_key(const std::string& digest) {
    return "artifacts/" + digest.substr(0, 2) + "/" + digest;
}

bool is_content_digest(std::string_view text) {
    return text.size() == 64 && from_hex(text).ok();
}

Result<> sweep_store(objects::ObjectStore& store, std::chrono::nanoseconds age, const Contents::IsNamed& is_named,
                     Contents::Swept& swept) {
    const Time before = SystemClock().now() - age; // stores have the time of their own, not that of tests
    std::string cursor;
    do {
        const objects::ObjectPage page = TRY(store.list("artifacts/", cursor));
        for (const objects::ObjectInfo& object : page.objects) {
            const std::string digest = object.key.substr(object.key.rfind('/') + 1);
            if (object.changed_at >= before || TRY(is_named(digest))) continue;
            TRY(store.remove(object.key));
            swept.bytes += object.bytes;
            swept.removed += 1;
        }
        cursor = page.next;
    } while (!cursor.empty());
    TRY(store.discard_unfinished(unfinished_age));
    return {};
}

} // namespace

Contents::Contents(const std::string& data_directory)
    : m_local(std::make_unique<objects::FileStore>(data_directory)),
      m_store(m_local.get()) {}

Contents::~Contents() = default;

void Contents::set_store(objects::ObjectStore& store, std::string owner) {
    m_store = &store;
    m_owner = std::move(owner);
}

Result<std::string> Contents::keep(std::string_view content) {
    const std::string digest = to_hex(crypto::hash(content));
    TRY(m_store->put(content_key(digest), objects::pieces_of(std::string(content))));
    return digest;
}

Result<std::string> Contents::read(const std::string& digest, size_t limit) const {
    if (!is_content_digest(digest)) return not_found("content " + digest.substr(0, 16));
    auto content = objects::get_text(*m_store, content_key(digest), limit);
    if (!content.ok() && content.error().code == Code::not_found && m_store != m_local.get())
        content = objects::get_text(*m_local, content_key(digest), limit);
    if (content.ok() && to_hex(crypto::hash(content.value())) != digest)
        return corrupt("the content " + digest.substr(0, 16));
    return content;
}

Result<bool> Contents::may_delete() const {
    if (m_store == m_local.get()) return true;
    return objects::is_owner(*m_store, m_owner);
}

Result<> Contents::remove(const std::string& digest, std::chrono::nanoseconds age, const IsNamed& is_named) {
    if (!is_content_digest(digest)) return {};
    for (objects::ObjectStore* store : {m_local.get(), m_store}) {
        if (store == m_store && !TRY(may_delete())) continue;
        const auto found = TRY(store->head(content_key(digest)));
        const bool is_recent = found && found->changed_at >= SystemClock().now() - age;
        if (found && !is_recent && !TRY(is_named(digest))) TRY(store->remove(content_key(digest)));
        if (m_store == m_local.get()) break;
    }
    return {};
}

Result<Contents::Swept> Contents::sweep(std::chrono::nanoseconds age, const IsNamed& is_named) {
    Swept swept;
    TRY(sweep_store(*m_local, age, is_named, swept));
    if (m_store == m_local.get()) return swept;
    if (!TRY(may_delete())) {
        log(Level::warning, "unused contents in the object store are not deleted: another data directory owns it",
            {{"store", m_store->description()}});
        return swept;
    }
    TRY(sweep_store(*m_store, age, is_named, swept));
    return swept;
}

} // namespace hone::review
