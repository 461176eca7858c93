#include "otlp/simdjson_library.h"

#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <simdjson.h>

namespace hone::otlp {
namespace {

void* simdjson_handle() {
    static void* const handle = ::dlopen(HONE_SIMDJSON_NAME, RTLD_NOW | RTLD_LOCAL);
    return handle;
}

template <class Function>
Function* simdjson_function(const char* mangled_name) {
    void* const handle = simdjson_handle();
    void* const address = handle == nullptr ? nullptr : ::dlsym(handle, mangled_name);
    if (address == nullptr) { // a bug: load_simdjson was not called, or its error was ignored
        std::fprintf(stderr, "%s has no function %s\n", HONE_SIMDJSON_NAME, mangled_name);
        std::abort();
    }
    return reinterpret_cast<Function*>(address);
}

} // namespace

Result<> load_simdjson() {
    if (simdjson_handle() != nullptr) {
        // Makes the library's static objects now: they outlive whatever static object parses later, on threads of its
        // own.
        (void)simdjson::get_active_implementation()->name();
        return {};
    }
    return unavailable("the library " HONE_SIMDJSON_NAME " is missing; install Debian's package libsimdjson14");
}

} // namespace hone::otlp

// What the inline functions of <simdjson.h> call in the library. A use of anything else does not link: add it here.
namespace simdjson {

internal::atomic_ptr<const implementation>& get_active_implementation() {
    static auto* const function = hone::otlp::simdjson_function<internal::atomic_ptr<const implementation>&()>(
        "_ZN8simdjson25get_active_implementationEv");
    return function();
}

bool validate_utf8(const char* text, size_t size) noexcept {
    return get_active_implementation()->validate_utf8(text, size);
}

namespace internal {

char* to_chars(char* first, const char* last, double value) {
    static auto* const function =
        hone::otlp::simdjson_function<char*(char*, const char*, double)>("_ZN8simdjson8internal8to_charsEPcPKcd");
    return function(first, last, value);
}

double from_chars(const char* first) noexcept {
    static auto* const function =
        hone::otlp::simdjson_function<double(const char*)>("_ZN8simdjson8internal10from_charsEPKc");
    return function(first);
}

double from_chars(const char* first, const char* end) noexcept {
    static auto* const function =
        hone::otlp::simdjson_function<double(const char*, const char*)>("_ZN8simdjson8internal10from_charsEPKcS2_");
    return function(first, end);
}

extern const error_code_info error_codes[];
const error_code_info error_codes[] = {
    {SUCCESS, "no error"},
    {CAPACITY, "the document is too large"},
    {MEMALLOC, "out of memory"},
    {TAPE_ERROR, "the structure is broken: a bracket, a comma or a colon is missing or misplaced"},
    {DEPTH_ERROR, "the document is nested too deeply"},
    {STRING_ERROR, "a string is malformed"},
    {T_ATOM_ERROR, "a word that starts with t is not true"},
    {F_ATOM_ERROR, "a word that starts with f is not false"},
    {N_ATOM_ERROR, "a word that starts with n is not null"},
    {NUMBER_ERROR, "a number is malformed"},
    {UTF8_ERROR, "the text is not valid UTF-8"},
    {UNINITIALIZED, "no document was parsed"},
    {EMPTY, "the document is empty"},
    {UNESCAPED_CHARS, "a string holds a control character that is not escaped"},
    {UNCLOSED_STRING, "a string is not closed"},
    {UNSUPPORTED_ARCHITECTURE, "this processor is not supported"},
    {INCORRECT_TYPE, "a value has another type than expected"},
    {NUMBER_OUT_OF_RANGE, "a number does not fit into 64 bits"},
    {INDEX_OUT_OF_BOUNDS, "an index is beyond the end of its array"},
    {NO_SUCH_FIELD, "a field is missing"},
    {IO_ERROR, "the file cannot be read"},
    {INVALID_JSON_POINTER, "a JSON pointer is malformed"},
    {INVALID_URI_FRAGMENT, "a URI fragment is malformed"},
    {UNEXPECTED_ERROR, "unexpected error"},
    {PARSER_IN_USE, "the parser is in use"},
    {OUT_OF_ORDER_ITERATION, "values were read out of order"},
    {INSUFFICIENT_PADDING, "the input has too little padding"},
    {INCOMPLETE_ARRAY_OR_OBJECT, "the document ends early"},
    {SCALAR_DOCUMENT_AS_VALUE, "a single value is used as an object or array"},
    {OUT_OF_BOUNDS, "a position is outside of the document"},
    {TRAILING_CONTENT, "text follows the end of the document"},
};
static_assert(std::size(error_codes) == NUM_ERROR_CODES);

} // namespace internal
} // namespace simdjson
