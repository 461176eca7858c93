#include "crypto/seal.h"
#include "base/text.h"
#include "crypto/crypto.h"

#include <doctest/doctest.h>
#include <type_traits>

using namespace hone;
using namespace hone::crypto;

namespace {

template <class T>
concept Printable = requires(std::ostream& out, const T& value) {
    out << value;
};
template <class T>
concept Comparable = requires(const T& a, const T& b) {
    a == b;
};

} // namespace

TEST_CASE("secret bytes cannot be copied, compared, printed or become text") {
    CHECK(!std::is_copy_constructible_v<SecretBytes>);
    CHECK(!std::is_copy_assignable_v<SecretBytes>);
    CHECK(!Comparable<SecretBytes>);
    CHECK(!Printable<SecretBytes>);
    CHECK(!std::is_convertible_v<SecretBytes, std::string>);
    CHECK(!std::is_convertible_v<SecretBytes, std::string_view>);
}

TEST_CASE("secret bytes move and wipe the text they are taken from") {
    crypto::start();
    std::string text = "a value that is longer than a short string";
    const char* place = text.data();
    SecretBytes first = SecretBytes::take(text);
    CHECK(text.empty());
    CHECK(std::string_view(place, 7) == std::string_view("\0\0\0\0\0\0\0", 7));
    SecretBytes second = std::move(first);
    CHECK(first.empty()); // NOLINT(bugprone-use-after-move): the state after a move is tested
    CHECK(second.reveal() == "a value that is longer than a short string");
    second = SecretBytes("b");
    CHECK(second.reveal() == "b");
    CHECK(SecretBytes().reveal().empty());
}

TEST_CASE("what is sealed opens with its key and its context only") {
    crypto::start();
    const SecretBytes key = random_secret(32);
    const SecretBytes other = random_secret(32);
    const std::string context = seal_context({"space_1", "GH_TOKEN"});
    for (const std::string plain : {"", "x", "a longer value"}) {
        const std::string sealed = seal(key, context, plain);
        CHECK(sealed != seal(key, context, plain)); // a fresh nonce each time
        auto opened = unseal(key, context, sealed);
        REQUIRE(opened.ok());
        CHECK(opened.value().reveal() == plain);
        CHECK(unseal(other, context, sealed).error().code == Code::corrupt);
        CHECK(unseal(key, seal_context({"space_2", "GH_TOKEN"}), sealed).error().code == Code::corrupt);
        for (size_t i = 0; i < sealed.size(); ++i) {
            std::string changed = sealed;
            changed[i] = static_cast<char>(changed[i] ^ 1);
            CHECK(!unseal(key, context, changed).ok());
            CHECK(!unseal(key, context, sealed.substr(0, i)).ok());
        }
    }
}

TEST_CASE("contexts of different parts differ") {
    CHECK(seal_context({"ab", "c"}) != seal_context({"a", "bc"}));
    CHECK(seal_context({"1:a"}) != seal_context({"a"}));
    CHECK(seal_context({"a", ""}) != seal_context({"a"}));
}

TEST_CASE("a key survives being written as text") {
    crypto::start();
    const SecretBytes key = random_secret(32);
    const SecretBytes as_text = key_text(key);
    CHECK(as_text.size() == 43);
    std::string written = std::string(as_text.reveal()) + "\n";
    auto read = parse_key_text(written);
    REQUIRE(read.ok());
    CHECK(read.value().reveal() == key.reveal());
    CHECK(written.empty());
    for (std::string wrong : {std::string(), std::string("short"), std::string(42, 'A'), std::string(44, 'A'),
                              std::string(43, '!'), std::string(86, 'A')})
        CHECK(parse_key_text(wrong).error().code == Code::invalid);
}
