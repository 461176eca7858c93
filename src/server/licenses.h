// What the program is made of and under which licenses, as docs/dependencies.md lists it; the same list is the bill of
// materials of the packages. Pure; any thread.
#pragma once

#include "api/core/call.h"

namespace hone::server {

extern const char* const dependencies_document;

// The rows of its tables about what is shipped.
std::vector<api::LicenseView> read_licenses(std::string_view document);

} // namespace hone::server
