#include "run/worker/run_key.h"

namespace hone::run {

namespace {

void read_rights(const std::string& rights, access::NewRunKey& key) {
    const auto value = json::parse(rights);
    if (!value.ok() || !value.value().is_object()) return;
    const json::Object& object = value.value().get_object();
    if (const json::Value* user = object.if_contains("user"); user != nullptr && user->is_string())
        key.user = access::UserId(std::string(user->get_string()));
    if (const json::Value* role = object.if_contains("role"); role != nullptr && role->is_string())
        key.role = parse_enum<access::Role>(std::string_view(role->get_string()));
    if (const json::Value* starter = object.if_contains("key"); starter != nullptr && starter->is_string())
        key.key = access::KeyId(std::string(starter->get_string()));
    if (const json::Value* signal = object.if_contains("signal"); signal != nullptr && signal->is_bool())
        key.started_by_signal = signal->get_bool();
}

} // namespace

access::NewRunKey new_run_key(const RunRecord& record, Time expires_at) {
    access::NewRunKey key;
    key.run = record.run.id.text();
    key.space = record.run.space_id;
    key.project = record.run.project_id;
    key.expires_at = expires_at;
    read_rights(record.rights, key);
    return key;
}

} // namespace hone::run
