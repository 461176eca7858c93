// The keys that encrypt secrets.
#include "api/core/in_path.h"
#include "api/core/route.h"
#include "api/core/shapes.h"
#include "secret/vault.h"

namespace hone::api {

// --- shapes --------------------------------------------------------------------------------------------------------

enum class RotateWhat { master, data };
constexpr auto enum_names(RotateWhat) {
    return std::array{EnumName{RotateWhat::master, "master"}, EnumName{RotateWhat::data, "data"}};
}

struct RotateEncryption {
    RotateWhat what = RotateWhat::data;
    std::optional<std::string> space;
    static constexpr Pack fields{
        Field{"what", &RotateEncryption::what,
              "master: the key that encrypts data keys; data: the keys that encrypt secrets."},
        Field{"space", &RotateEncryption::space, "data: only the data keys of this space."},
    };
};

// --- handlers ------------------------------------------------------------------------------------------------------

Result<One<secret::EncryptionState>> get_encryption(const Call& call) {
    return One<secret::EncryptionState>{TRY(call.services.vault.key_state(call.caller))};
}

Result<One<secret::Rotation>> rotate_encryption(const Call& call, const RotateEncryption& body) {
    if (body.what == RotateWhat::master) {
        if (body.space) return invalid("there is one master key: space belongs to data keys");
        return One<secret::Rotation>{TRY(call.services.vault.rotate_master(call.caller))};
    }
    std::optional<secret::Scope> scope;
    if (body.space) scope = secret::Scope{TRY(call.access().spaces.find(call.caller, *body.space)).id};
    return One<secret::Rotation>{TRY(call.services.vault.rotate_data(call.caller, scope))};
}

// --- routes --------------------------------------------------------------------------------------------------------

namespace {

using enum access::Permission;

const Route encryption_table[] = {
    route<get_encryption>("GET", "/v1/encryption", need(secret_rotate), "State of the keys that encrypt secrets."),
    route<rotate_encryption>("POST", "/v1/encryption/rotate", need(secret_rotate),
                             "Rotate the master key or data keys, without downtime."),
};

} // namespace

std::span<const Route> encryption_routes() {
    return encryption_table;
}

} // namespace hone::api
