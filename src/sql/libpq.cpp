#include "sql/libpq.h"

#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <libpq-fe.h>

namespace hone::sql {
namespace {

void* libpq_handle() {
    static void* const handle = ::dlopen("libpq.so.5", RTLD_NOW | RTLD_LOCAL);
    return handle;
}

template <class Function>
Function* libpq_function(const char* name) {
    void* const handle = libpq_handle();
    void* const address = handle == nullptr ? nullptr : ::dlsym(handle, name);
    if (address == nullptr) { // a bug: load_libpq was not called, or its error was ignored
        std::fprintf(stderr, "libpq has no function %s\n", name);
        std::abort();
    }
    return reinterpret_cast<Function*>(address);
}

} // namespace

Result<> load_libpq() {
    if (libpq_handle() != nullptr) return {};
    return unavailable("PostgreSQL needs the library libpq.so.5; install Debian's package libpq5");
}

} // namespace hone::sql

// The functions of <libpq-fe.h> that this folder calls. A call to any other does not link: add it here.
#define FORWARD(result, name, parameters, arguments)                                                                   \
    extern "C" result name parameters {                                                                                \
        static auto* const function = hone::sql::libpq_function<decltype(name)>(#name);                                \
        return function arguments;                                                                                     \
    }

FORWARD(void, PQclear, (PGresult * result), (result))
FORWARD(char*, PQcmdStatus, (PGresult * result), (result))
FORWARD(char*, PQcmdTuples, (PGresult * result), (result))
FORWARD(PGconn*, PQconnectdb, (const char* url), (url))
FORWARD(PGconn*, PQconnectdbParams, (const char* const* keywords, const char* const* values, int expand),
        (keywords, values, expand))
FORWARD(void, PQconninfoFree, (PQconninfoOption * options), (options))
FORWARD(PQconninfoOption*, PQconninfoParse, (const char* url, char** message), (url, message))
FORWARD(char*, PQerrorMessage, (const PGconn* connection), (connection))
FORWARD(PGresult*, PQexec, (PGconn * connection, const char* sql), (connection, sql))
FORWARD(PGresult*, PQexecPrepared,
        (PGconn * connection, const char* name, int count, const char* const* values, const int* lengths,
         const int* formats, int result_format),
        (connection, name, count, values, lengths, formats, result_format))
FORWARD(void, PQfinish, (PGconn * connection), (connection))
FORWARD(void, PQfreemem, (void* memory), (memory))
FORWARD(Oid, PQftype, (const PGresult* result, int column), (result, column))
FORWARD(int, PQgetisnull, (const PGresult* result, int row, int column), (result, row, column))
FORWARD(int, PQgetlength, (const PGresult* result, int row, int column), (result, row, column))
FORWARD(char*, PQgetvalue, (const PGresult* result, int row, int column), (result, row, column))
FORWARD(int, PQnfields, (const PGresult* result), (result))
FORWARD(int, PQntuples, (const PGresult* result), (result))
FORWARD(PGPing, PQping, (const char* url), (url))
FORWARD(PGresult*, PQprepare, (PGconn * connection, const char* name, const char* sql, int count, const Oid* types),
        (connection, name, sql, count, types))
FORWARD(char*, PQresultErrorField, (const PGresult* result, int field), (result, field))
FORWARD(char*, PQresultErrorMessage, (const PGresult* result), (result))
FORWARD(size_t, PQresultMemorySize, (const PGresult* result), (result))
FORWARD(ExecStatusType, PQresultStatus, (const PGresult* result), (result))
FORWARD(PQnoticeProcessor, PQsetNoticeProcessor, (PGconn * connection, PQnoticeProcessor processor, void* argument),
        (connection, processor, argument))
FORWARD(ConnStatusType, PQstatus, (const PGconn* connection), (connection))
FORWARD(PGTransactionStatusType, PQtransactionStatus, (const PGconn* connection), (connection))

#undef FORWARD
