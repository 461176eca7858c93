// libpq, loaded when the first PostgreSQL connection is opened: it brings twenty libraries (Kerberos, LDAP, …) that no
// other command has to load. Used by postgres_connection.cpp, before any function of <libpq-fe.h>. Any thread.
#pragma once

#include "base/result.h"

namespace hone::sql {

// The error names the package that has the library.
Result<> load_libpq();

} // namespace hone::sql
