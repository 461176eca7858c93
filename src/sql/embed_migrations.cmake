# cmake -DFOLDER=… -DOUTPUT=… -P embed_migrations.cmake: writes the C++ file that carries migrations/NNNN_name.sql.
file(GLOB files ${FOLDER}/*.sql)
list(SORT files)
set(entries "")
foreach(file IN LISTS files)
    cmake_path(GET file STEM stem)
    if(NOT stem MATCHES "^([0-9][0-9][0-9][0-9])_([a-z0-9_]+)$")
        message(FATAL_ERROR "${file}: a migration is named NNNN_name.sql")
    endif()
    set(name ${CMAKE_MATCH_2})
    string(REGEX REPLACE "^0+" "" version ${CMAKE_MATCH_1})
    file(READ ${file} text)
    string(APPEND entries "        {${version}, \"${name}\", R\"migration(${text})migration\"},\n")
endforeach()
file(WRITE ${OUTPUT} "// Made from src/sql/migrations by embed_migrations.cmake.
#include \"sql/migrate.h\"

namespace hone::sql {

std::vector<Migration> embedded_migrations() {
    return {
${entries}    };
}

} // namespace hone::sql
")
