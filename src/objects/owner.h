// Which data directory may delete unused objects in a store. A second installation at the same place, such as a
// restored backup, does not know the objects of the first: it can write and read, but must not clean up.
#pragma once

#include "objects/object_store.h"

namespace hone::objects {

inline constexpr const char* owner_key = "check/owner";

// The name of a data directory as an owner: made at random at first and kept in DIR/object-store-owner.
Result<std::string> owner_of(const std::string& data_directory);
// Whether this owner owns the store; a store without an owner becomes its own. Checked before each deletion, since two
// servers that start together may both write their name and only the last one stays.
Result<bool> is_owner(ObjectStore& store, const std::string& owner);

} // namespace hone::objects
