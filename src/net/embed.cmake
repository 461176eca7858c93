# hone_embed(target DIRECTORY directory SYMBOL symbol [DEPENDS files or targets])
#   Links the files of a directory, compressed, into `target`. In C++:
#       std::span<const hone::net::StaticFile> symbol();
function(hone_embed target)
    cmake_parse_arguments(arg "" "DIRECTORY;SYMBOL" "DEPENDS" ${ARGN})
    find_package(Python3 REQUIRED COMPONENTS Interpreter)
    set(output ${CMAKE_CURRENT_BINARY_DIR}/embedded_${arg_SYMBOL})
    file(GLOB_RECURSE files CONFIGURE_DEPENDS ${arg_DIRECTORY}/*)
    add_custom_command(OUTPUT ${output}/${arg_SYMBOL}.cpp
        COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tools/embed.py ${arg_DIRECTORY} ${output} ${arg_SYMBOL}
        DEPENDS ${files} ${arg_DEPENDS} ${CMAKE_SOURCE_DIR}/tools/embed.py
        COMMENT "Embedding ${arg_DIRECTORY}" VERBATIM)
    target_sources(${target} PRIVATE ${output}/${arg_SYMBOL}.cpp)
endfunction()
