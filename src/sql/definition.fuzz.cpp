// Any bytes as a migration: no crash, and what a script was split into can be translated for both engines.
#include "sql/statement.h"

using namespace hone;
using namespace hone::sql;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const std::string_view script(reinterpret_cast<const char*>(data), size);
    const auto statements = split_script(script);
    if (!statements.ok()) return 0;
    for (const std::string& statement : statements.value())
        for (const Engine engine : {Engine::sqlite, Engine::postgres}) {
            const auto definition = translate_definition(statement, engine);
            CHECK_OR_ABORT(definition.ok());
            CHECK_OR_ABORT(translate(definition.value(), engine).ok());
        }
    return 0;
}
