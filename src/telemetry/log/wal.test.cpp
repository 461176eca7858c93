#include "telemetry/log/wal.h"
#include "base/testing.h"

#include "base/file.h"
#include "telemetry/span/checksum.h"
#include "telemetry/temporary_directory.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <doctest/doctest.h>
#include <map>
#include <random>
#include <set>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace hone;
using namespace hone::telemetry;
using namespace std::chrono_literals;

namespace {

WalOptions options_in(const TemporaryDirectory& directory) {
    WalOptions options;
    options.directory = directory / "wal";
    options.commit_interval = 1ms;
    return options;
}

std::unique_ptr<Wal> open_wal(const WalOptions& options, uint64_t from = 1) {
    auto wal = Wal::open(options, from);
    REQUIRE(wal.ok());
    return std::move(wal).value();
}

std::vector<std::string> payloads(Wal& wal, uint64_t from = 1) {
    auto frames = wal.read(from, SIZE_MAX);
    REQUIRE(frames.ok());
    std::vector<std::string> texts;
    for (const auto& frame : frames.value().list) texts.emplace_back(frame.payload);
    return texts;
}

std::vector<std::string> segment_files(const WalOptions& options, std::string_view extension = ".wal") {
    std::set<std::string> paths;
    for (const auto& entry : std::filesystem::directory_iterator(options.directory))
        if (entry.path().string().ends_with(extension)) paths.insert(entry.path().string());
    return {paths.begin(), paths.end()};
}

// Changes one byte of a file.
void flip(const std::string& path, size_t offset) {
    auto bytes = read_file(path);
    REQUIRE(bytes.ok());
    REQUIRE(offset < bytes.value().size());
    bytes.value()[offset] = static_cast<char>(bytes.value()[offset] ^ 0x40);
    REQUIRE(write_file(path, bytes.value()).ok());
}

} // namespace

TEST_CASE("the checksum is CRC-32C, the same with and without the instruction") {
    CHECK(crc32c("123456789") == 0xe3069283u);
    std::mt19937 random(test_seed());
    std::string bytes;
    for (int i = 0; i < 300; ++i) {
        CHECK(crc32c(bytes) == crc32c_portable(bytes));
        CHECK(crc32c(std::string_view(bytes).substr(bytes.size() / 2),
                     crc32c(std::string_view(bytes).substr(0, bytes.size() / 2))) == crc32c(bytes));
        bytes += static_cast<char>(random());
    }
}

TEST_CASE("what was appended is read again in order, also after reopening") {
    TemporaryDirectory directory;
    const WalOptions options = options_in(directory);
    {
        auto wal = open_wal(options);
        CHECK(wal->append("one").value() == 1);
        CHECK(wal->append("").value() == 2);
        CHECK(wal->append(std::string(100'000, 'x')).value() == 3);
        CHECK(payloads(*wal).size() == 3);
    }
    auto wal = open_wal(options);
    CHECK(wal->append("four").value() == 4);
    const auto all = payloads(*wal);
    REQUIRE(all.size() == 4);
    CHECK(all[0] == "one");
    CHECK(all[3] == "four");
    CHECK(payloads(*wal, 4) == std::vector<std::string>{"four"});
    CHECK(wal->read(1, 1).value().list.size() == 1);
}

TEST_CASE("many threads share commits and each gets its own number") {
    TemporaryDirectory directory;
    WalOptions options = options_in(directory);
    options.commit_interval = 5ms;
    options.segment_bytes = 4096;
    auto wal = open_wal(options);
    Mutex mutex;
    std::map<uint64_t, std::string> acknowledged;
    {
        std::vector<std::jthread> threads;
        for (int t = 0; t < 8; ++t)
            threads.emplace_back([&, t] {
                for (int i = 0; i < 50; ++i) {
                    const std::string payload = std::to_string(t) + ":" + std::to_string(i);
                    auto sequence = wal->append(payload);
                    Lock lock(mutex);
                    if (sequence.ok()) acknowledged[sequence.value()] = payload;
                }
            });
    }
    CHECK(acknowledged.size() == 400);
    auto frames = wal->read(1, SIZE_MAX);
    REQUIRE(frames.ok());
    CHECK(frames.value().list.size() == 400);
    for (const auto& frame : frames.value().list) CHECK(acknowledged[frame.sequence] == frame.payload);
    CHECK(wal->stats().commits < 400);
    CHECK(wal->stats().segments > 1);
}

TEST_CASE("a lone caller does not wait for others") {
    TemporaryDirectory directory;
    WalOptions options = options_in(directory);
    options.commit_interval = std::chrono::hours(1);
    auto wal = open_wal(options);
    for (int i = 0; i < 20; ++i) CHECK(wal->append(std::to_string(i)).ok());
    CHECK(wal->stats().commits == 20);
}

TEST_CASE("released segments are deleted and stay so; the cap pushes back until then") {
    TemporaryDirectory directory;
    WalOptions options = options_in(directory);
    options.segment_bytes = 1000;
    options.cap_bytes = 5000;
    auto wal = open_wal(options);
    const std::string payload(600, 'p');
    uint64_t last = 0;
    Error refused;
    for (int i = 0; i < 100; ++i) {
        auto sequence = wal->append(payload);
        if (!sequence.ok()) {
            refused = sequence.error();
            break;
        }
        last = sequence.value();
    }
    CHECK(refused.code == Code::busy);
    CHECK(last >= 6);
    REQUIRE(wal->release(last + 1).ok());
    CHECK(wal->stats().disk_bytes <= 2000);
    CHECK(wal->append(payload).ok());
    wal.reset();
    wal = open_wal(options, last + 1);
    CHECK(payloads(*wal, last + 1).size() == 1);
    CHECK(segment_files(options).size() <= 2);
}

TEST_CASE("a torn tail is cut, everything before it stays") {
    TemporaryDirectory directory;
    const WalOptions options = options_in(directory);
    {
        auto wal = open_wal(options);
        for (const char* text : {"one", "two", "three"}) REQUIRE(wal->append(text).ok());
    }
    const std::string path = segment_files(options).at(0);
    const auto whole = read_file(path).value();
    for (size_t cut = whole.size() - 1; cut > whole.size() - 20; --cut) {
        REQUIRE(write_file(path, std::string_view(whole).substr(0, cut)).ok());
        auto wal = open_wal(options);
        CHECK(payloads(*wal) == std::vector<std::string>{"one", "two"});
        CHECK(wal->stats().torn_bytes > 0);
        CHECK(wal->stats().damaged_bytes == 0);
        wal.reset();
        for (const auto& other : segment_files(options))
            if (other != path) ::unlink(other.c_str());
    }
}

TEST_CASE("damage in the middle is reported and stepped over; the damaged file is kept") {
    TemporaryDirectory directory;
    const WalOptions options = options_in(directory);
    {
        auto wal = open_wal(options);
        for (const char* text : {"one", "two", "three"}) REQUIRE(wal->append(text).ok());
    }
    const std::string path = segment_files(options).at(0);
    flip(path, wal_header_bytes + 2 * wal_frame_bytes + 3 + 1); // inside "two"
    auto wal = open_wal(options);
    CHECK(payloads(*wal) == std::vector<std::string>{"one", "three"});
    CHECK(wal->stats().damaged_bytes == wal_frame_bytes + 3);
    CHECK(segment_files(options, ".damaged").size() == 1);
    CHECK(wal->append("four").value() == 4);
}

TEST_CASE("a frame that changes on disk while we run is an error, not data") {
    TemporaryDirectory directory;
    const WalOptions options = options_in(directory);
    auto wal = open_wal(options);
    REQUIRE(wal->append("precious").ok());
    flip(segment_files(options).at(0), wal_header_bytes + wal_frame_bytes + 2);
    auto frames = wal->read(1, SIZE_MAX);
    REQUIRE(!frames.ok());
    CHECK(frames.error().code == Code::corrupt);
}

TEST_CASE("a failing sync acknowledges nothing, and the log continues when the disk works again") {
    TemporaryDirectory directory;
    WalOptions options = options_in(directory);
    std::atomic<bool> fail = false;
    options.sync = [&](int file) {
        if (!fail) return ::fdatasync(file);
        errno = EIO;
        return -1;
    };
    auto wal = open_wal(options);
    REQUIRE(wal->append("before").ok());
    fail = true;
    auto refused = wal->append("during");
    REQUIRE(!refused.ok());
    CHECK(refused.error().code == Code::unavailable);
    fail = false;
    REQUIRE(wal->append("after").ok());
    CHECK(payloads(*wal) == std::vector<std::string>{"before", "after"});
    wal.reset();
    wal = open_wal(options);
    CHECK(payloads(*wal) == std::vector<std::string>{"before", "after"});
}

TEST_CASE("a disk that is almost full refuses before it is full, and keeps space for merges") {
    constexpr int64_t gigabyte = 1 << 30;
    CHECK(kept_free(100 * gigabyte, 0) == gigabyte);
    CHECK(kept_free(gigabyte, 0) == gigabyte / 20);
    CHECK(kept_free(100 * gigabyte, 5 * gigabyte) == 6 * gigabyte);
    const TemporaryDirectory directory;
    WalOptions options = options_in(directory);
    DiskSpace space{2 * gigabyte, 100 * gigabyte};
    options.disk = [&] { return space; };
    const auto wal = open_wal(options);
    CHECK(wal->append("first").ok());
    wal->set_expected_writes(3 * gigabyte);
    const auto refused = wal->append("second");
    REQUIRE(!refused.ok());
    CHECK(refused.error().code == Code::unavailable);
    CHECK(refused.error().message.find("free 2148 MB") != std::string::npos);
    wal->set_expected_writes(0);
    CHECK(wal->append("third").ok());
    space.free = gigabyte / 2;
    wal->set_expected_writes(0); // the disk is read again
    CHECK(wal->append("fourth").error().code == Code::unavailable);
    space = {}; // a disk that does not say
    wal->set_expected_writes(0);
    CHECK(wal->append("fifth").ok());
    CHECK(payloads(*wal) == std::vector<std::string>{"first", "third", "fifth"});
}

TEST_CASE("a full disk refuses, keeps what was acknowledged and recovers") {
    TemporaryDirectory directory;
    const WalOptions options = options_in(directory);
    auto wal = open_wal(options);
    REQUIRE(wal->append("small").ok());
    std::signal(SIGXFSZ, SIG_IGN);
    rlimit before{};
    getrlimit(RLIMIT_FSIZE, &before);
    const rlimit tight{4096, before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &tight);
    auto refused = wal->append(std::string(100'000, 'x'));
    setrlimit(RLIMIT_FSIZE, &before);
    REQUIRE(!refused.ok());
    CHECK(refused.error().code == Code::unavailable);
    REQUIRE(wal->append("again").ok());
    CHECK(payloads(*wal) == std::vector<std::string>{"small", "again"});
}

TEST_CASE("a file that is written again shows nothing of what it held before, also after a crash") {
    TemporaryDirectory directory;
    WalOptions options = options_in(directory);
    options.segment_bytes = 2000;
    auto wal = open_wal(options);
    uint64_t last = 0;
    const auto append = [&](char letter, int count) {
        for (int i = 0; i < count; ++i) {
            auto sequence = wal->append(std::string(300, letter));
            REQUIRE(sequence.ok());
            last = sequence.value();
        }
    };
    append('a', 30);
    REQUIRE(wal->release(last + 1).ok());
    CHECK(segment_files(options, ".free").size() == 3);
    append('b', 9); // the last segment has room for more, where old frames lie
    CHECK(segment_files(options, ".free").size() < 3);
    const uint64_t loaded = last - 8;
    TemporaryDirectory crashed; // as the files are at this moment
    WalOptions copy = options_in(crashed);
    std::filesystem::copy(options.directory, copy.directory);
    auto reopened = open_wal(copy, loaded);
    CHECK(payloads(*reopened, loaded) == std::vector<std::string>(9, std::string(300, 'b')));
    CHECK(reopened->stats().torn_bytes == 0);
    CHECK(reopened->stats().damaged_bytes == 0);
    CHECK(segment_files(copy, ".free").empty());
    CHECK(reopened->append("c").value() == last + 1);
}

TEST_CASE("a segment that a backup has linked is not written again") {
    TemporaryDirectory directory;
    WalOptions options = options_in(directory);
    options.segment_bytes = 2000;
    auto wal = open_wal(options);
    for (int i = 0; i < 20; ++i) REQUIRE(wal->append(std::string(300, 'a')).ok());
    const std::string folder = directory / "backup";
    REQUIRE(make_directories(folder).ok());
    auto links = wal->link_to(folder);
    REQUIRE(links.ok());
    const std::string before = read_file(links.value().front().first).value();
    REQUIRE(wal->release(21).ok());
    for (int i = 0; i < 20; ++i) REQUIRE(wal->append(std::string(300, 'b')).ok());
    CHECK(read_file(links.value().front().first).value() == before);
}

TEST_CASE("the reader is woken by a commit and by a stop") {
    TemporaryDirectory directory;
    auto wal = open_wal(options_in(directory));
    std::stop_source stop;
    CHECK(!wal->wait(1, 1ms, stop.get_token()));
    std::jthread writer([&] { CHECK(wal->append("x").ok()); });
    CHECK(wal->wait(1, 60s, stop.get_token()));
    std::jthread stopper([&] { stop.request_stop(); });
    CHECK(!wal->wait(2, 60s, stop.get_token()));
}

TEST_CASE("kill -9 at any moment loses nothing that was acknowledged") {
    TemporaryDirectory directory;
    WalOptions options = options_in(directory);
    options.segment_bytes = 50'000;
    std::mt19937 random(test_seed());
    std::set<std::string> acknowledged;
    for (int round = 0; round < 25; ++round) {
        int pipes[2];
        REQUIRE(::pipe(pipes) == 0);
        const pid_t child = ::fork();
        if (child == 0) {
            auto wal = Wal::open(options, 1);
            if (!wal.ok()) ::_exit(1);
            std::vector<std::jthread> threads;
            for (int t = 0; t < 4; ++t)
                threads.emplace_back([&, t] {
                    for (int i = 0;; ++i) {
                        char payload[64];
                        const int length = std::snprintf(payload, sizeof payload, "%d-%d-%d", round, t, i);
                        std::string body(payload, static_cast<size_t>(length));
                        body.resize(64 + static_cast<size_t>(i % 700), ' ');
                        if (!wal.value()->append(body).ok()) ::_exit(1);
                        if (::write(pipes[1], payload, 64) != 64) ::_exit(1); // atomic: less than PIPE_BUF
                    }
                });
            for (auto& thread : threads) thread.join();
        }
        ::close(pipes[1]);
        char record[64];
        // Every other round dies in its work, however slow the machine is; the others anywhere, also while opening.
        if (round % 2 == 0 && ::read(pipes[0], record, sizeof record) == sizeof record) acknowledged.insert(record);
        std::this_thread::sleep_for(std::chrono::microseconds(20'000 + random() % 40'000)); // the moment of the kill
        ::kill(child, SIGKILL);
        while (::read(pipes[0], record, sizeof record) == sizeof record) acknowledged.insert(record);
        ::close(pipes[0]);
        ::waitpid(child, nullptr, 0);
    }
    auto wal = open_wal(options);
    std::set<std::string> stored;
    uint64_t last = 0;
    const auto frames = wal->read(1, SIZE_MAX);
    REQUIRE(frames.ok());
    for (const auto& frame : frames.value().list) {
        CHECK(frame.sequence > last);
        last = frame.sequence;
        const auto [place, is_new] = stored.emplace(frame.payload.substr(0, frame.payload.find(' ')));
        CHECK(is_new);
    }
    CHECK(acknowledged.size() >= 13); // of each round that waited, one at least
    size_t lost = 0;
    for (const auto& payload : acknowledged) lost += !stored.contains(payload);
    CHECK(lost == 0);
}
