// The object store of this installation: opened from the settings, its credentials taken out of the environment.
#pragma once

#include "config/config.h"
#include "objects/open_store.h"

#include <memory>
#include <string>

namespace hone::server {

objects::StoreSettings object_store_settings(const config::Config& config);
// The variables of the credentials as they are, for commands that end soon.
objects::Environment process_environment();
// The same, for the server: overwritten in the process, so that neither children nor /proc/PID/environ have them.
objects::Environment take_store_environment();

// Writes, reads, lists and deletes one object. What can be used, in a sentence.
Result<std::string> probe_object_store(const config::Config& config, const Clock& clock);

} // namespace hone::server
