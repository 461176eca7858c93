#include "base/file.h"
#include "base/testing.h"
#include "base/text.h"
#include "crypto/crypto.h"
#include "telemetry/log/wal.h"
#include "telemetry/temporary_directory.h"

#include <doctest/doctest.h>
#include <filesystem>
#include <map>
#include <random>

using namespace hone;
using namespace hone::telemetry;
using namespace std::chrono_literals;

namespace {

std::string sha256_of(const std::string& bytes) {
    crypto::Sha256 hash;
    hash.add(bytes);
    return to_hex(hash.finish());
}

class MemoryArchive final : public SegmentArchive {
public:
    Result<std::string> put(const std::string& name, const std::string& path, const IsStopped& is_stopped) override {
        if (is_stopped()) return unavailable("stopped");
        if (is_away) return unavailable("away");
        objects[name] = TRY(read_file(path));
        if (loses_responses) return unavailable("the response is lost");
        return sha256_of(objects[name]);
    }
    Result<> get(const std::string& name, const std::string& sha256, const std::string& path,
                 const IsStopped& is_stopped) override {
        if (is_stopped()) return unavailable("stopped");
        if (is_away) return unavailable("away");
        if (!objects.contains(name)) return not_found("object");
        TRY(write_file(path, objects[name]));
        if (sha256_of(objects[name]) != sha256) return corrupt("another hash");
        return {};
    }
    Result<> remove(const std::string& name) override {
        if (is_away) return unavailable("away");
        objects.erase(name);
        return {};
    }

    std::map<std::string, std::string> objects;
    bool is_away = false;
    bool loses_responses = false;
};

// Segments of four frames or so, and room for sixteen segments on the disk.
WalOptions archived_in(const TemporaryDirectory& directory, MemoryArchive* archive) {
    WalOptions options;
    options.directory = directory / "wal";
    options.commit_interval = 1ms;
    options.segment_bytes = 4096;
    options.extension_bytes = 0;
    options.spare_segments = 0;
    options.cap_bytes = 16 * 4096;
    options.archive = archive;
    options.archive_bytes = 1 << 20;
    return options;
}

std::unique_ptr<Wal> open_archived(const WalOptions& options, uint64_t from = 1) {
    auto wal = Wal::open(options, from);
    REQUIRE_MESSAGE(wal.ok(), (wal.ok() ? "" : wal.error().message));
    return std::move(wal).value();
}

std::string payload_of(uint64_t number) {
    std::mt19937_64 random(number);
    std::string bytes(1000, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    return bytes;
}

// Appends frames `first` to `last`; while the log is full, what fills it goes to the archive.
void append_archived(Wal& wal, uint64_t first, uint64_t last) {
    for (uint64_t number = first; number <= last; ++number) {
        const auto sequence = wal.append(payload_of(number));
        REQUIRE_MESSAGE(sequence.ok(), (sequence.ok() ? "" : sequence.error().message));
        REQUIRE(sequence.value() == number);
        const auto moved = wal.archive_step();
        REQUIRE_MESSAGE(moved.ok(), (moved.ok() ? "" : moved.error().message));
    }
}

void finish_archiving(Wal& wal) {
    for (;;) {
        const auto moved = wal.archive_step();
        REQUIRE_MESSAGE(moved.ok(), (moved.ok() ? "" : moved.error().message));
        if (!moved.value()) return;
    }
}

// As the loader does: a block, then it is released. Returns the first number that was not read.
uint64_t load_archived(Wal& wal, uint64_t from, uint64_t upto) {
    while (from <= upto) {
        const auto frames = wal.read(from, 3000);
        REQUIRE_MESSAGE(frames.ok(), (frames.ok() ? "" : frames.error().message));
        if (frames.value().list.empty()) return from;
        for (const auto& frame : frames.value().list) {
            REQUIRE(frame.sequence == from);
            REQUIRE(frame.payload == payload_of(from));
            ++from;
        }
        REQUIRE(wal.release(from).ok());
    }
    return from;
}

size_t files_with(const WalOptions& options, std::string_view extension) {
    size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(options.directory))
        count += entry.path().string().ends_with(extension) ? 1 : 0;
    return count;
}

} // namespace

TEST_CASE("a log that fills its disk continues in the archive, and every frame is read again in order") {
    TemporaryDirectory directory;
    MemoryArchive archive;
    const WalOptions options = archived_in(directory, &archive);
    auto wal = open_archived(options);
    append_archived(*wal, 1, 200); // three times what the disk may hold
    finish_archiving(*wal);
    CHECK(wal->stats().disk_bytes <= options.cap_bytes / 2 + 4096);
    CHECK(wal->stats().archived_bytes > options.cap_bytes);
    CHECK(wal->bytes_from(1) > 3 * options.cap_bytes);
    CHECK(archive.objects.size() > 20);
    CHECK(files_with(options, ".cold") == archive.objects.size());
    // The oldest stayed here: it is loaded first.
    archive.is_away = true;
    const uint64_t next = load_archived(*wal, 1, 20);
    CHECK(next > 20); // a block may have more
    archive.is_away = false;
    CHECK(wal->wait(200, 1s, {}));
    CHECK(load_archived(*wal, next, 200) == 201);
    finish_archiving(*wal);
    CHECK(archive.objects.empty());
    CHECK(files_with(options, ".cold") == 0);
    CHECK(wal->stats().archived_bytes == 0);
    // And it takes more.
    append_archived(*wal, 201, 210);
    CHECK(load_archived(*wal, 201, 210) == 211);
}

TEST_CASE("a log that is partly in the archive survives restarts at every step") {
    TemporaryDirectory directory;
    MemoryArchive archive;
    const WalOptions options = archived_in(directory, &archive);
    append_archived(*open_archived(options), 1, 100);
    // Without its archive it opens, and waits for what is there.
    WalOptions alone = options;
    alone.archive = nullptr;
    uint64_t next = 1;
    {
        auto wal = open_archived(alone);
        next = load_archived(*wal, 1, 4);
        const auto ranges = wal->archived_ranges();
        REQUIRE_FALSE(ranges.empty());
        const auto frames = wal->read(ranges.front().first, 1);
        CHECK(frames.error().code == Code::unavailable);
        CHECK(frames.error().message.find("set object_store") != std::string::npos);
        CHECK(next > 4);
    }
    std::mt19937 random(test_seed());
    while (next <= 100) { // each process reads a little, and does a little of the archive's work
        auto wal = open_archived(options, next);
        next = load_archived(*wal, next, next + random() % 5);
        if (random() % 2 == 0) REQUIRE(wal->archive_step().ok());
    }
    CHECK(next == 101);
    auto wal = open_archived(options, next);
    CHECK(wal->append(payload_of(101)).value() == 101); // no number is used twice
    finish_archiving(*wal);
    CHECK(archive.objects.empty());
    CHECK(files_with(options, ".cold") == 0);
}

TEST_CASE("what a killed process sent to the archive is removed when its segment was loaded from the disk") {
    TemporaryDirectory directory;
    MemoryArchive archive;
    const WalOptions options = archived_in(directory, &archive);
    {
        auto wal = open_archived(options);
        archive.loses_responses = true;
        for (uint64_t number = 1; number <= 40; ++number) REQUIRE(wal->append(payload_of(number)).ok());
        CHECK_FALSE(wal->archive_step().ok());
    }
    archive.loses_responses = false;
    CHECK(archive.objects.size() == 1);
    CHECK(files_with(options, ".cold") == 1);
    auto wal = open_archived(options);
    CHECK(wal->stats().archived_bytes == 0);
    CHECK(load_archived(*wal, 1, 40) == 41);
    finish_archiving(*wal);
    CHECK(archive.objects.empty());
    CHECK(files_with(options, ".cold") == 0);
}

TEST_CASE("a segment that was changed or deleted in the archive is reported, and the others are read") {
    TemporaryDirectory directory;
    MemoryArchive archive;
    const WalOptions options = archived_in(directory, &archive);
    auto wal = open_archived(options);
    append_archived(*wal, 1, 100);
    finish_archiving(*wal);
    const auto ranges = wal->archived_ranges();
    REQUIRE(ranges.size() >= 3);
    // Another segment of ours in the place of the first one: whole, and with right checksums.
    archive.objects.begin()->second = std::next(archive.objects.begin(), 2)->second;
    archive.objects.erase(std::next(archive.objects.begin()));
    uint64_t next = load_archived(*wal, 1, ranges[0].first - 1);
    CHECK(next == ranges[0].first);
    const auto frames = wal->read(next, 1);
    REQUIRE(frames.ok());
    REQUIRE_FALSE(frames.value().list.empty());
    CHECK(frames.value().list.front().sequence == ranges[2].first);
    CHECK(wal->stats().damaged_bytes > 0);
    CHECK(files_with(options, ".cold.damaged") == 2);
    CHECK(load_archived(*wal, ranges[2].first, 100) == 101);
}

TEST_CASE("while the archive is away the log fills its disk, then refuses, and loses nothing") {
    TemporaryDirectory directory;
    MemoryArchive archive;
    WalOptions options = archived_in(directory, &archive);
    auto wal = open_archived(options);
    append_archived(*wal, 1, 60);
    finish_archiving(*wal);
    archive.is_away = true;
    uint64_t last = 60;
    while (true) {
        const auto taken = wal->append(payload_of(last + 1));
        if (!taken.ok()) {
            CHECK(taken.error().code == Code::busy);
            break;
        }
        ++last;
    }
    CHECK_FALSE(wal->archive_step().ok());
    const auto ranges = wal->archived_ranges();
    REQUIRE_FALSE(ranges.empty());
    const uint64_t next = load_archived(*wal, 1, ranges.front().first - 1);
    CHECK(wal->read(next, 1).error().code == Code::unavailable);
    CHECK(wal->read(next, 1).error().code == Code::unavailable); // and again
    archive.is_away = false;
    CHECK(load_archived(*wal, next, last) == last + 1);
}

TEST_CASE("the archive takes no more than its limit, and a backup waits until nothing is there") {
    TemporaryDirectory directory;
    MemoryArchive archive;
    WalOptions options = archived_in(directory, &archive);
    options.archive_bytes = 3 * 4096;
    auto wal = open_archived(options);
    uint64_t last = 0;
    while (wal->append(payload_of(last + 1)).ok()) {
        ++last;
        REQUIRE(wal->archive_step().ok());
    }
    CHECK(archive.objects.size() == 3);
    REQUIRE(make_directories(directory / "links").ok());
    CHECK(wal->link_to(directory / "links").error().code == Code::unavailable);
    CHECK(load_archived(*wal, 1, last) == last + 1);
    CHECK(wal->link_to(directory / "links").ok());
}

TEST_CASE("a damaged note of the archive is reported and put aside") {
    TemporaryDirectory directory;
    MemoryArchive archive;
    const WalOptions options = archived_in(directory, &archive);
    REQUIRE(make_directories(options.directory).ok());
    for (const char* text : {"", "HONECOLD1", "HONECOLD1 name 5 4 10 -", "HONECOLD1 name 0 4 10 -",
                             "HONECOLD1  1 4 10 -", "HONECOLD1 name 1 x 10 -", "HONECOLD2 name 1 4 10 -"}) {
        INFO(text);
        REQUIRE(write_file(options.directory + "/00000000000000000001.cold", text).ok());
        auto wal = open_archived(options);
        CHECK(wal->archived_ranges().empty());
        CHECK(files_with(options, ".cold") == 0);
        CHECK(files_with(options, ".cold.damaged") == 1);
    }
}
