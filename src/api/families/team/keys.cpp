// API keys.
#include "api/core/in_path.h"
#include "api/core/route.h"
#include "api/core/shapes.h"

namespace hone::api {

// --- shapes --------------------------------------------------------------------------------------------------------

enum class KeyListScope { space, installation };
constexpr auto enum_names(KeyListScope) {
    return std::array{EnumName{KeyListScope::space, "space"}, EnumName{KeyListScope::installation, "installation"}};
}

enum class KeyOrder { created, last_used };
constexpr auto enum_names(KeyOrder) {
    return std::array{EnumName{KeyOrder::created, "created"}, EnumName{KeyOrder::last_used, "last_used"}};
}

struct ListKeys {
    static constexpr bool is_query = true;
    std::optional<std::string> space;
    std::optional<KeyListScope> scope;
    std::optional<bool> include_revoked;
    std::optional<int64_t> unused_days;
    std::optional<KeyOrder> order;
    std::optional<int64_t> limit;
    std::optional<std::string> cursor;
    static constexpr Pack fields{
        Field{"space", &ListKeys::space, "Id or name of the space; the caller's first one if not given."},
        Field{"scope", &ListKeys::scope, "installation: the keys of all spaces; for installation owners."},
        Field{"include_revoked", &ListKeys::include_revoked, ""},
        Field{"unused_days", &ListKeys::unused_days, "Only keys that were not used for so many days."},
        Field{"order", &ListKeys::order,
              "created: oldest first, if not given. last_used: never used first, then longest unused."},
        Field{"limit", &ListKeys::limit, "Rows in one response, 1 to 1000; 100 if not given."},
        Field{"cursor", &ListKeys::cursor, "next_cursor of the previous response."},
    };
};

struct CreateKey {
    std::string name;
    json::Defaulted<access::KeyKind> kind = access::KeyKind::personal;
    std::optional<std::vector<std::string>> scopes;
    std::optional<access::Role> role;
    std::optional<Time> expires_at;
    std::optional<int64_t> expires_in_days;
    static constexpr Pack fields{
        Field{"name", &CreateKey::name, ""},
        Field{"kind", &CreateKey::kind, "personal (default) or service."},
        Field{"scopes", &CreateKey::scopes, "Permission names, or all (default), or read."},
        Field{"role", &CreateKey::role, "Role of a service key."},
        Field{"expires_at", &CreateKey::expires_at, ""},
        Field{"expires_in_days", &CreateKey::expires_in_days, "Days until it expires, instead of expires_at."},
    };
};

struct RotateKey {
    json::Defaulted<int64_t> grace_seconds;
    static constexpr Pack fields{
        Field{"grace_seconds", &RotateKey::grace_seconds, "Seconds for which the old key still works; 0 if not given."},
    };
};

// --- handlers ------------------------------------------------------------------------------------------------------

namespace {

constexpr int64_t longest_grace_seconds = 7 * 86400;
constexpr int64_t longest_expiry_days = 3650;

} // namespace

Result<List<access::Key>> list_keys(const Call& call, const ListKeys& query) {
    std::optional<access::SpaceId> space;
    if (query.scope != KeyListScope::installation)
        space = TRY(space_of(call, query.space));
    else if (query.space)
        return invalid("space and scope=installation exclude each other");
    access::KeyFilter filter;
    filter.include_revoked = query.include_revoked.value_or(false);
    filter.by_last_use = query.order == KeyOrder::last_used;
    if (query.unused_days) {
        if (*query.unused_days < 1 || *query.unused_days > longest_expiry_days)
            return invalid("unused_days must be between 1 and " + std::to_string(longest_expiry_days));
        filter.unused_for = std::chrono::hours(24 * *query.unused_days);
    }
    return call.access().keys.list(call.caller, space, filter, TRY(page_of(query.limit, query.cursor)));
}

Result<One<access::Key>> create_key(const Call& call, const InSpace& query, const CreateKey& body) {
    const auto space = TRY(space_of(call, query.space));
    access::NewKey wanted;
    wanted.name = body.name;
    wanted.kind = body.kind;
    if (body.scopes) wanted.scopes = *body.scopes;
    wanted.role = body.role;
    wanted.expires_at = body.expires_at;
    if (body.expires_in_days) {
        if (body.expires_at) return invalid("expires_at and expires_in_days exclude each other");
        if (*body.expires_in_days < 1 || *body.expires_in_days > longest_expiry_days)
            return invalid("expires_in_days must be between 1 and " + std::to_string(longest_expiry_days));
        wanted.expires_at = call.services.clock.now() + std::chrono::hours(24 * *body.expires_in_days);
    }
    return One<access::Key>{TRY(call.access().keys.create(call.caller, space, wanted))};
}

Result<One<access::Key>> revoke_key(const Call& call) {
    const auto id = TRY(parse_id<access::KeyTag>(call.at("key")));
    return One<access::Key>{TRY(call.access().keys.revoke(call.caller, id))};
}

Result<One<access::Key>> rotate_key(const Call& call, const RotateKey& body) {
    const auto id = TRY(parse_id<access::KeyTag>(call.at("key")));
    const int64_t grace = body.grace_seconds;
    if (grace < 0 || grace > longest_grace_seconds)
        return invalid("grace_seconds must be between 0 and " + std::to_string(longest_grace_seconds));
    return One<access::Key>{TRY(call.access().keys.rotate(call.caller, id, std::chrono::seconds(grace)))};
}

// --- routes --------------------------------------------------------------------------------------------------------

namespace {

using enum access::Permission;

const Route keys_table[] = {
    route<list_keys>(
        "GET", "/v1/keys", need(key_create),
        "API keys of the caller; all keys of the space with key_manage, of the installation with user_manage."),
    route<create_key>("POST", "/v1/keys", need(key_create), "Create an API key; it is shown once.").secret(),
    route<revoke_key>("DELETE", "/v1/keys/{key}", need(key_create),
                      "Revoke a key; key_manage is needed for keys of others."),
    route<rotate_key>("POST", "/v1/keys/{key}/rotate", need(key_create),
                      "Replace a key by a new one with the same permissions.")
        .secret(),
};

} // namespace

std::span<const Route> keys_routes() {
    return keys_table;
}

} // namespace hone::api
