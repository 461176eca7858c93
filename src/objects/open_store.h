// The object store of a configuration. Used by the server, `hone check` and `hone restore`.
#pragma once

#include "objects/location.h"
#include "objects/object_store.h"

#include <memory>

namespace hone::objects {

struct StoreSettings {
    std::string object_store = "file"; // as parse_location reads it
    std::string credentials_file;
    std::string ca_file;
    std::string data_dir;
};

// Reads the credentials, but sends nothing yet. `clock` outlives the store.
Result<std::unique_ptr<ObjectStore>> open_store(const StoreSettings& settings, const Environment& environment,
                                                const Clock& clock);

} // namespace hone::objects
