#include "api/handlers.h"

namespace hone::api {

namespace {
constexpr int64_t longest_grace_seconds = 7 * 86400;
constexpr int64_t longest_expiry_days = 3650;
} // namespace

Result<List<access::Key>> list_keys(const Call& call, const ListKeys& query) {
    const auto space = TRY(call.access().spaces.choose(call.caller, query.space));
    return call.access().keys.list(call.caller, space, query.include_revoked.value_or(false),
                                   TRY(page_of(query.limit, query.cursor)));
}

Result<One<access::Key>> create_key(const Call& call, const InSpace& query, const CreateKey& body) {
    const auto space = TRY(call.access().spaces.choose(call.caller, query.space));
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

} // namespace hone::api
