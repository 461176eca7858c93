# Compiles the files of a target in groups, so that each group reads its headers once. Names in anonymous namespaces must
# therefore be unique within a folder. -DUNITY=OFF compiles file by file.
option(UNITY "Compile the files of a folder in groups" ON)
set(UNITY_FILES 10 CACHE STRING "Files in a group")
function(hone_unity target)
    if(UNITY)
        set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${UNITY_FILES})
    endif()
endfunction()

# Moves the debug information of a release program into PROGRAM.debug beside it, where debuggers look for it.
function(hone_split_debug target)
    if(CMAKE_BUILD_TYPE STREQUAL "Release")
        set(program $<TARGET_FILE:${target}>)
        add_custom_command(TARGET ${target} POST_BUILD
            COMMAND ${CMAKE_OBJCOPY} --only-keep-debug ${program} ${program}.debug
            COMMAND ${CMAKE_OBJCOPY} --strip-debug --add-gnu-debuglink=${program}.debug ${program})
    endif()
endfunction()

# hone_component(name DEPENDS a b LIBRARIES x y)
#   src/name/**.cpp           -> library hone_name
#   src/name/**.test.cpp      -> program name_test (doctest), one ctest entry
#   src/name/**.fuzz.cpp      -> one program fuzz_<file> each, when FUZZ is on
# The subfolders of a component are its rooms (src/layers.txt); `testing/` holds what other components' tests use.
# DEPENDS are other components; src/layers.txt says which are allowed. NO_TSAN "reason" disables the tests under
# ThreadSanitizer, and ctest says so.
function(hone_component name)
    cmake_parse_arguments(arg "" "NO_TSAN" "DEPENDS;LIBRARIES;SOURCES;TEST_LIBRARIES" ${ARGN})
    set(folder ${CMAKE_CURRENT_SOURCE_DIR})
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${folder}/*.cpp)
    list(FILTER sources EXCLUDE REGEX "/testing/")
    set(tests ${sources})
    set(fuzzers ${sources})
    list(FILTER sources EXCLUDE REGEX "\\.(test|fuzz|main)\\.cpp$")
    list(FILTER tests INCLUDE REGEX "\\.test\\.cpp$")
    list(FILTER fuzzers INCLUDE REGEX "\\.fuzz\\.cpp$")
    list(APPEND sources ${arg_SOURCES})

    set(depends "")
    foreach(depend IN LISTS arg_DEPENDS)
        list(APPEND depends hone_${depend})
    endforeach()

    if(sources)
        add_library(hone_${name} STATIC ${sources})
        hone_unity(hone_${name})
        set(scope PUBLIC)
    else()
        add_library(hone_${name} INTERFACE)
        set(scope INTERFACE)
    endif()
    target_include_directories(hone_${name} ${scope} ${CMAKE_SOURCE_DIR}/src)
    target_link_libraries(hone_${name} ${scope} ${depends} ${arg_LIBRARIES} Threads::Threads)

    if(TESTS AND tests)
        add_executable(${name}_test ${tests} ${CMAKE_SOURCE_DIR}/src/test_main.cpp)
        set_source_files_properties(${CMAKE_SOURCE_DIR}/src/test_main.cpp PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
        hone_unity(${name}_test)
        target_link_libraries(${name}_test PRIVATE hone_${name} ${arg_TEST_LIBRARIES})
        # Only where it is used: the same objects then serve every checkout.
        foreach(test IN LISTS tests)
            file(STRINGS ${test} uses REGEX HONE_SOURCE_DIR)
            if(uses)
                set_source_files_properties(${test} PROPERTIES COMPILE_DEFINITIONS
                    HONE_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
            endif()
        endforeach()
        target_compile_options(${name}_test PRIVATE -Wno-conversion)
        set_target_properties(${name}_test PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
        add_test(NAME ${name} COMMAND ${name}_test)
        if(arg_NO_TSAN AND SANITIZE MATCHES "thread")
            message(STATUS "${name}_test is disabled under ThreadSanitizer: ${arg_NO_TSAN}")
            set_tests_properties(${name} PROPERTIES DISABLED TRUE)
        endif()
    endif()
    if(FUZZ)
        foreach(fuzzer IN LISTS fuzzers)
            cmake_path(GET fuzzer FILENAME file)
            string(REGEX REPLACE "\\.fuzz\\.cpp$" "" file ${file})
            add_executable(fuzz_${name}_${file} ${fuzzer})
            if(NOT TARGET fuzzers)
                add_custom_target(fuzzers)
            endif()
            add_dependencies(fuzzers fuzz_${name}_${file})
            target_link_libraries(fuzz_${name}_${file} PRIVATE hone_${name})
            target_link_options(fuzz_${name}_${file} PRIVATE -fsanitize=fuzzer)
            set_target_properties(fuzz_${name}_${file} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/fuzz)
        endforeach()
    endif()
endfunction()

# hone_bench(name component)
#   bench/name.cpp            -> program bench_name, for ./dev bench name
# Where there are tests it is part of the build, so that it compiles for as long as it is kept; else it is built when it
# is asked for.
function(hone_bench name component)
    add_executable(bench_${name} ${CMAKE_SOURCE_DIR}/bench/${name}.cpp)
    target_include_directories(bench_${name} PRIVATE ${CMAKE_SOURCE_DIR})
    target_link_libraries(bench_${name} PRIVATE hone_${component})
    set_target_properties(bench_${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bench)
    if(NOT TESTS)
        set_target_properties(bench_${name} PROPERTIES EXCLUDE_FROM_ALL TRUE)
    endif()
endfunction()
