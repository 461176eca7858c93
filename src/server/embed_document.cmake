# cmake -DFILE=… -DOUTPUT=… -P embed_document.cmake: writes the C++ file that carries docs/dependencies.md.
file(READ ${FILE} text)
file(WRITE ${OUTPUT} "// Made from docs/dependencies.md by embed_document.cmake.
#include \"server/licenses.h\"

namespace hone::server {

const char* const dependencies_document = R\"document(${text})document\";

} // namespace hone::server
")
