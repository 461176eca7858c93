// Where large contents are kept: artifacts of runs, backups, exports, prepared layers, and parts of the span log that
// the disk has no room for. One interface, two stores: a local directory (file_store.h, the default) and any server
// with the S3 protocol (s3_store.h). conformance.test.h is what both must do. All calls block; any thread may call
// them.
#pragma once

#include "base/result.h"
#include "base/time.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hone::objects {

struct ObjectInfo {
    std::string key;
    int64_t bytes = 0;
    Time changed_at{};
};

struct ObjectPage {
    std::vector<ObjectInfo> objects; // by key, in the order of bytes
    std::string next;                // the cursor of the next page; empty: this is the last one
};

struct Stored {
    int64_t bytes = 0;
    std::string sha256; // hex
};

// Bytes from `first` on, `count` of them or all.
struct Range {
    int64_t first = 0;
    std::optional<int64_t> count{};
};

// Called until it returns an empty piece.
using Pieces = std::function<Result<std::string>()>;
using Sink = std::function<Result<>(std::string_view)>;

class ObjectStore {
public:
    virtual ~ObjectStore() = default;

    // All or nothing, durable when it returns, replaces what was there. With `sha256` (hex): corrupt, and nothing is
    // stored, when the content has another hash. An error of `pieces` is returned as it is.
    virtual Result<Stored> put(const std::string& key, const Pieces& pieces,
                               const std::optional<std::string>& sha256 = std::nullopt) = 0;
    // not_found; invalid when the range begins behind the end. The sink may have received a part when it fails.
    virtual Result<> get(const std::string& key, const Range& range, const Sink& sink) = 0;
    // Nothing when there is no such object.
    virtual Result<std::optional<ObjectInfo>> head(const std::string& key) = 0;
    // `prefix` begins with an area: "artifacts/", "backups/hone-2026". At most `limit` (1 to 1000) objects.
    virtual Result<ObjectPage> list(const std::string& prefix, const std::string& cursor, int limit = 1000) = 0;
    // An object that is not there is fine.
    virtual Result<> remove(const std::string& key) = 0;
    // An address that serves the object without credentials for `valid_for` (1 s to 7 days), as a download with this
    // name; nothing when the store has no such addresses.
    virtual Result<std::optional<std::string>> presigned_get(const std::string& key, Duration valid_for,
                                                             const std::string& file_name) = 0;
    // Removes what broken uploads left behind that began longer ago than `older_than`. The number of them.
    virtual Result<int64_t> discard_unfinished(Duration older_than) = 0;
    // Reads once: whether the store responds in time. Any store that lists responds, also an empty one.
    virtual Result<> reach(Duration limit) = 0;
    // For people: "s3://bucket/prefix at https://host". Never a credential.
    virtual std::string description() const = 0;
};

// The first part of each key. The local store is the data directory, so nothing else in it is an object.
inline constexpr std::string_view areas[] = {"artifacts", "backups", "check", "exports", "layers", "wal"};
// An area and at least one more part, separated by slashes; parts of letters, digits and "-_.=+@" that do not begin
// with a dot or end in ".new"; at most 200 bytes each and 700 together.
Result<> check_key(std::string_view key);
// An area, a slash, then anything that a key may continue with.
Result<> check_prefix(std::string_view prefix);
Result<> check_list_limit(int limit);

// A text as pieces of an upload.
Pieces pieces_of(std::string text);
// A file as pieces of an upload.
Result<Pieces> pieces_of_file(const std::string& path);
// The whole object; refuses more than `limit` bytes.
Result<std::string> get_text(ObjectStore& store, const std::string& key, size_t limit);
// Writes, reads, lists and removes one small object: whether the store can be used.
Result<> probe(ObjectStore& store);

} // namespace hone::objects
