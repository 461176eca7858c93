# hone_archives(name...): targets archive::name, linked into our programs from lib<name>.a. A shared library costs every
# `hone` command its loading, and a program carried to another machine its presence there. OpenSSL stays shared: the
# distribution's security updates then reach it.
function(hone_archives)
    foreach(name IN LISTS ARGN)
        if(NOT TARGET archive::${name})
            find_library(archive_${name} NAMES lib${name}.a REQUIRED)
            add_library(archive::${name} INTERFACE IMPORTED GLOBAL)
            set_target_properties(archive::${name} PROPERTIES INTERFACE_LINK_LIBRARIES "${archive_${name}}")
        endif()
    endforeach()
endfunction()
