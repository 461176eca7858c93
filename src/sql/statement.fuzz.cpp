// Any bytes as SQL: no crash, and the two engines get the same number of placeholders.
#include "sql/statement.h"

using namespace hone;
using namespace hone::sql;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const std::string_view sql(reinterpret_cast<const char*>(data), size);
    const auto sqlite = translate(sql, Engine::sqlite);
    const auto postgres = translate(sql, Engine::postgres);
    CHECK_OR_ABORT(sqlite.ok() == postgres.ok());
    if (sqlite.ok()) {
        CHECK_OR_ABORT(sqlite.value().parameters == postgres.value().parameters);
        // What was accepted once is accepted again, and reads the same.
        const auto again = translate(sqlite.value().text, Engine::sqlite);
        CHECK_OR_ABORT(again.ok() && again.value().parameters == sqlite.value().parameters);
    }
    return 0;
}
