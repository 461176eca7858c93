// Example requests of keys.cpp, one per route.
#pragma once

#include "api/core/example.test.h"

namespace hone::api::testing {

inline constexpr Example keys_examples[] = {
    {"GET /v1/keys", "space={space}"},
    {"POST /v1/keys", "space={space}", R"({"name":"ci","kind":"service","role":"viewer","scopes":["read"]})",
     access::Permission::key_manage},
    {"DELETE /v1/keys/{key}", "", "", access::Permission::key_manage, 404},
    {"POST /v1/keys/{key}/rotate", "", "{}", access::Permission::key_manage, 404},
};

} // namespace hone::api::testing
