// What every store does, whatever it is made of. Each implementation's test calls this with a store of its own.
#pragma once

#include "base/text.h"
#include "crypto/crypto.h"
#include "objects/object_store.h"
#include "objects/sigv4.h"

#include <atomic>
#include <doctest/doctest.h>
#include <thread>

namespace hone::objects::testing {

// The content, or why there is none.
inline std::string read_all(ObjectStore& store, const std::string& key, size_t limit) {
    const auto text = get_text(store, key, limit);
    return text.ok() ? text.value() : std::string(code_name(text.error().code)) + ": " + text.error().message;
}

inline std::string read_range(ObjectStore& store, const std::string& key, Range range) {
    std::string text;
    const auto got = store.get(key, range, [&](std::string_view piece) -> Result<> {
        text += piece;
        return {};
    });
    return got.ok() ? text : "failed: " + std::string(code_name(got.error().code));
}

inline void contents_are_kept(ObjectStore& store) {
    const std::string content = "hello\0\r\nworld\xff";
    const auto stored = store.put("check/first/one", pieces_of(content));
    REQUIRE_MESSAGE(stored.ok(), (stored.ok() ? "" : stored.error().message));
    CHECK(stored.value().bytes == static_cast<int64_t>(content.size()));
    CHECK(stored.value().sha256 == sha256_hex(content));
    CHECK(read_all(store, "check/first/one", 100) == content);
    CHECK(get_text(store, "check/first/one", 3).error().code == Code::too_large);
    const auto found = store.head("check/first/one").value();
    REQUIRE(found);
    CHECK(found->bytes == static_cast<int64_t>(content.size()));
    const Duration age = SystemClock().now() - found->changed_at;
    CHECK(age < std::chrono::minutes(5));
    CHECK(age > -std::chrono::minutes(5));
    // A second put replaces; an empty object is one.
    CHECK(store.put("check/first/one", pieces_of("other")).ok());
    CHECK(read_all(store, "check/first/one", 100) == "other");
    CHECK(store.put("check/first/empty", pieces_of("")).ok());
    CHECK(read_all(store, "check/first/empty", 100).empty());
    CHECK(store.head("check/first/empty").value()->bytes == 0);
    for (const char* key : {"check/first/one", "check/first/empty"}) CHECK(store.remove(key).ok());
}

inline void ranges_are_exact(ObjectStore& store) {
    REQUIRE(store.put("check/range", pieces_of("0123456789")).ok());
    CHECK(read_range(store, "check/range", {2, 3}) == "234");
    CHECK(read_range(store, "check/range", {0, 2}) == "01"); // not one byte: s3rver misreads bytes=0-0
    CHECK(read_range(store, "check/range", {7, std::nullopt}) == "789");
    CHECK(read_range(store, "check/range", {7, 100}) == "789");
    CHECK(read_range(store, "check/range", {10, std::nullopt}) == "failed: invalid");
    CHECK(read_range(store, "check/range", {100, 1}) == "failed: invalid");
    CHECK(read_range(store, "check/range", {-1, 1}) == "failed: invalid");
    CHECK(read_range(store, "check/range", {0, 0}) == "failed: invalid");
    CHECK(store.remove("check/range").ok());
}

inline void what_is_absent_is_said_so(ObjectStore& store) {
    CHECK(store.get("check/absent", {}, [](std::string_view) { return Result<>(); }).error().code == Code::not_found);
    CHECK(!store.head("check/absent").value());
    CHECK(store.remove("check/absent").ok());
    CHECK(store.list("check/absent", "").value().objects.empty());
    for (const char* key : {"check/../hone.db", "hone.db", "", "check/.x"}) {
        CHECK(store.put(key, pieces_of("x")).error().code == Code::invalid);
        CHECK(store.get(key, {}, [](std::string_view) { return Result<>(); }).error().code == Code::invalid);
        CHECK(store.head(key).error().code == Code::invalid);
        CHECK(store.remove(key).error().code == Code::invalid);
        CHECK(store.presigned_get(key, std::chrono::minutes(5), "x").error().code == Code::invalid);
    }
    CHECK(store.list("", "").error().code == Code::invalid);
    CHECK(store.list("check/", "", 0).error().code == Code::invalid);
    CHECK(store.list("check/", "", 1001).error().code == Code::invalid);
}

inline void lists_have_pages_in_order(ObjectStore& store) {
    // No key is the folder of another: stores of files refuse what S3 takes.
    const std::vector<std::string> keys{"check/list/a/1", "check/list/a/2/x", "check/list/a0",
                                        "check/list/b/c", "check/list2",      "check/list=+@.x"};
    std::vector<std::string> below;
    for (const std::string& key : keys) {
        REQUIRE(store.put(key, pieces_of(key)).ok());
        if (key.starts_with("check/list/")) below.push_back(key);
    }
    for (const int limit : {1, 2, 3, 1000}) {
        std::vector<std::string> listed;
        std::string cursor;
        int pages = 0;
        do {
            const auto page = store.list("check/list/", cursor, limit);
            REQUIRE_MESSAGE(page.ok(), (page.ok() ? "" : page.error().message));
            CHECK(page.value().objects.size() <= static_cast<size_t>(limit));
            for (const ObjectInfo& object : page.value().objects) {
                listed.push_back(object.key);
                CHECK(object.bytes == static_cast<int64_t>(object.key.size()));
            }
            cursor = page.value().next;
        } while (!cursor.empty() && ++pages < 20);
        INFO("limit ", limit);
        CHECK(listed == below);
    }
    CHECK(store.list("check/list/a/", "").value().objects.size() == 2);
    CHECK(store.list("check/list/a", "").value().objects.size() == 3);
    CHECK(store.list("check/list=+@", "").value().objects.front().key == "check/list=+@.x");
    for (const std::string& key : keys) CHECK(store.remove(key).ok());
    CHECK(store.list("check/list", "").value().objects.empty());
}

inline void a_failed_put_leaves_what_was_there(ObjectStore& store) {
    REQUIRE(store.put("check/kept", pieces_of("before")).ok());
    int calls = 0;
    const auto broken = store.put("check/kept", [&]() -> Result<std::string> {
        if (++calls == 3) return busy("the source broke");
        return std::string("piece");
    });
    CHECK(broken.error().message == "the source broke");
    CHECK(store.put("check/kept", pieces_of("other"), sha256_hex("another")).error().code == Code::corrupt);
    CHECK(read_all(store, "check/kept", 100) == "before");
    CHECK(store.put("check/kept", pieces_of("other"), sha256_hex("other")).ok());
    CHECK(read_all(store, "check/kept", 100) == "other");
    // A sink that fails ends a get with its error.
    CHECK(
        store.get("check/kept", {}, [](std::string_view) -> Result<> { return conflict("enough"); }).error().message ==
        "enough");
    CHECK(store.remove("check/kept").ok());
    CHECK(store.list("check/kept", "").value().objects.empty());
}

// 40 MiB in odd pieces: three parts of an upload.
inline void large_contents_arrive_whole(ObjectStore& store) {
    const std::string piece = crypto::random_bytes(1'000'003);
    int left = 42;
    crypto::Sha256 hash;
    const auto stored = store.put("check/large", [&]() -> Result<std::string> {
        if (left-- == 0) return std::string();
        hash.add(piece);
        return piece;
    });
    REQUIRE_MESSAGE(stored.ok(), (stored.ok() ? "" : stored.error().message));
    const std::string wanted = to_hex(hash.finish());
    CHECK(stored.value().bytes == 42'000'126);
    CHECK(stored.value().sha256 == wanted);
    crypto::Sha256 read;
    REQUIRE(store
                .get("check/large", {},
                     [&](std::string_view bytes) -> Result<> {
                         read.add(bytes);
                         return {};
                     })
                .ok());
    CHECK(to_hex(read.finish()) == wanted);
    CHECK(read_range(store, "check/large", {1'000'003 * 41 + 5, 7}) == piece.substr(5, 7));
    // Exactly one part, and one byte more.
    for (const size_t size : {size_t{16} << 20, (size_t{16} << 20) + 1}) {
        const std::string text(size, 'x');
        CHECK(store.put("check/large", pieces_of(text)).value().bytes == static_cast<int64_t>(size));
        CHECK(read_all(store, "check/large", size) == text);
    }
    CHECK(store.remove("check/large").ok());
}

// What the server behind a store promises about two puts to one key at the same time.
enum class SameKey { one_put_wins, puts_may_mix };

inline void writers_do_not_mix(ObjectStore& store, SameKey same_key) {
    const auto key_of = [&](int writer) {
        return same_key == SameKey::one_put_wins ? std::string("check/shared")
                                                 : "check/shared" + std::to_string(writer);
    };
    std::vector<std::thread> writers;
    std::atomic<int> failed = 0;
    for (int writer = 0; writer < 4; ++writer)
        writers.emplace_back([&, writer] {
            for (int i = 0; i < 5; ++i)
                if (!store.put(key_of(writer), pieces_of(std::string(100'000, static_cast<char>('a' + writer)))).ok())
                    ++failed;
        });
    for (std::thread& writer : writers) writer.join();
    CHECK(failed == 0);
    for (int writer = 0; writer < 4; ++writer) {
        const auto read = get_text(store, key_of(writer), 1 << 20);
        REQUIRE_MESSAGE(read.ok(), (read.ok() ? "" : read.error().message));
        const char letter = same_key == SameKey::one_put_wins ? read.value()[0] : static_cast<char>('a' + writer);
        CHECK(read.value() == std::string(100'000, letter));
    }
    for (int writer = 0; writer < 4; ++writer) CHECK(store.remove(key_of(writer)).ok());
}

inline void run_conformance(ObjectStore& store, SameKey same_key = SameKey::one_put_wins) {
    contents_are_kept(store);
    ranges_are_exact(store);
    what_is_absent_is_said_so(store);
    lists_have_pages_in_order(store);
    a_failed_put_leaves_what_was_there(store);
    large_contents_arrive_whole(store);
    writers_do_not_mix(store, same_key);
    const auto reached = store.reach(std::chrono::seconds(30));
    CHECK_MESSAGE(reached.ok(), (reached.ok() ? "" : reached.error().message));
    const auto usable = probe(store);
    CHECK_MESSAGE(usable.ok(), (usable.ok() ? "" : usable.error().message));
    CHECK(store.discard_unfinished(std::chrono::hours(24)).value() == 0);
    CHECK(store.list("check/", "").value().objects.empty());
}

} // namespace hone::objects::testing
