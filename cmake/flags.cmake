# Compiler and linker flags of every target.
add_compile_options(-Wall -Wextra -Wconversion -Wshadow=local -Wnon-virtual-dtor -Woverloaded-virtual
    -Wimplicit-fallthrough -Werror -fno-strict-aliasing)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    add_compile_options(-Wthread-safety -Wno-gnu-statement-expression -Wno-unknown-warning-option
        -Wno-missing-field-initializers) # clang also warns where a macro of libseccomp leaves one out
else()
    add_compile_options(-Wno-maybe-uninitialized # g++ 12 sees them in every variant that is moved from
        -Wno-subobject-linkage) # a group of files (UNITY) includes them, so that they count as headers
    # g++ collects its garbage first at 1 GB, not at some 30 MB: a tenth of the compile time.
    add_compile_options(--param=ggc-min-expand=200 --param=ggc-min-heapsize=1000000)
endif()

if(SANITIZE)
    add_compile_options(-fsanitize=${SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    if(SANITIZE MATCHES "undefined")
        # What AddressSanitizer stops anyway, at a third of the compile time.
        add_compile_options(-fno-sanitize=null,alignment,vptr,object-size)
    endif()
    add_link_options(-fsanitize=${SANITIZE})
endif()

if(CMAKE_BUILD_TYPE STREQUAL "Release")
    add_compile_options(-fstack-protector-strong -fstack-clash-protection -fcf-protection -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2
        -ffunction-sections -fdata-sections)
    add_compile_definitions(_GLIBCXX_ASSERTIONS)
    add_link_options(-Wl,-z,relro,-z,now,-z,noexecstack -Wl,--gc-sections -Wl,--as-needed -pie)
    set(CMAKE_CXX_FLAGS_RELEASE "-O2 -g1")
    set(CMAKE_C_FLAGS_RELEASE "-O2 -g1")
endif()

find_program(mold_program mold)
if(mold_program)
    add_link_options(-fuse-ld=mold)
endif()
find_program(ccache_program ccache)
if(ccache_program)
    set(CMAKE_C_COMPILER_LAUNCHER ${ccache_program})
    set(CMAKE_CXX_COMPILER_LAUNCHER ${ccache_program})
else()
    # As ccache names files with CCACHE_BASEDIR (./dev): the same sources give the same bytes in any folder.
    add_compile_options(-ffile-prefix-map=${CMAKE_SOURCE_DIR}/=../../)
endif()
