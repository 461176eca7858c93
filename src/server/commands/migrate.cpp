// `hone migrate spans --to URL`: copies the spans of a data directory into a ClickHouse, while no server uses it.
#include "base/file.h"
#include "base/log.h"
#include "base/text.h"
#include "config/config.h"
#include "crypto/crypto.h"
#include "server/commands/arguments.h"
#include "server/commands/commands.h"
#include "sql/directory_lock.h"
#include "telemetry/transfer/span_move.h"
#include "json/json.h"

#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <unistd.h>

namespace hone::server {

namespace {

struct MigrateArguments {
    std::string to;
    bool is_dry_run = false;
    bool as_json = false;
    config::Config config;
};

constexpr const char* migrate_help =
    "Usage: hone migrate spans --to URL [--dry-run] [--json] [options of hone serve]\n\n"
    "Copies everything that the embedded engine of a data directory has stored into a ClickHouse server or cluster:\n"
    "spans with their texts, evals and their history, log records, points of metrics. Stop the server first. What is\n"
    "there already is not copied again, so a move that was interrupted continues when it is run again. Afterwards "
    "rows\n"
    "and checksums of each partition are compared; the exit code is 1 when one differs. Nothing is deleted on either\n"
    "side.\n\n"
    "  --to URL                     address of the ClickHouse, or several separated by commas\n"
    "  --data-dir DIR               the data directory\n"
    "  --dry-run                    compares, and shows what would be copied\n"
    "  --clickhouse-user, --clickhouse-password, --clickhouse-ca-file, --clickhouse-cluster\n"
    "                               as for hone serve\n"
    "  --json                       prints the result as JSON\n\n"
    "Then start the server with clickhouse_url. What it had accepted and not stored yet is in the log of the data\n"
    "directory, and is stored there. docs/scale.md explains.\n";

Result<MigrateArguments> migrate_arguments(int argc, char** argv) {
    MigrateArguments found;
    std::vector<const char*> rest;
    if (argc < 2 || std::strcmp(argv[1], "spans") != 0)
        return invalid("it is not given what to migrate: hone migrate spans --to URL (--help explains)");
    for (int i = 2; i < argc; ++i) {
        const std::string argument = argv[i];
        if (argument == "--json")
            found.as_json = true;
        else if (argument == "--dry-run")
            found.is_dry_run = true;
        else if (argument == "--to" && i + 1 < argc)
            found.to = argv[++i];
        else if (argument.starts_with("--to="))
            found.to = argument.substr(5);
        else
            rest.push_back(argv[i]);
    }
    const auto flags = TRY(config::parse_flags(rest));
    found.config = TRY(config::load(flags, environment)).config;
    if (found.to.empty()) found.to = found.config.clickhouse_url;
    if (!found.to.starts_with("http://") && !found.to.starts_with("https://"))
        return invalid("hone migrate spans needs --to URL, the address of a ClickHouse, such as http://host:8123");
    return found;
}

std::string size_text(uint64_t bytes) {
    char text[40];
    const auto size = static_cast<double>(bytes);
    if (bytes >= 1 << 30)
        std::snprintf(text, sizeof text, "%.1f GiB", size / (1 << 30));
    else
        std::snprintf(text, sizeof text, "%.1f MiB", size / (1 << 20));
    return text;
}

// Days since 1970 as a date.
std::string day_text(const std::string& partition) {
    const auto day = parse_integer(partition);
    if (!day.ok() || day.value() < -100'000 || day.value() > 1'000'000) return partition;
    const std::chrono::year_month_day date{std::chrono::sys_days(std::chrono::days(day.value()))};
    char text[40];
    std::snprintf(text, sizeof text, "%04d-%02u-%02u", static_cast<int>(date.year()),
                  static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
    return text;
}

std::string outcome_of(const telemetry::MovedPartition& partition, bool is_dry_run) {
    if (partition.is_equal()) return partition.copied_rows > 0 ? "copied" : "equal";
    return is_dry_run && partition.target.rows == 0 ? "missing" : "differs";
}

std::string difference_of(const telemetry::MovedPartition& partition) {
    const uint64_t here = partition.source.rows, there = partition.target.rows;
    if (there > here) return "the target has " + std::to_string(there - here) + " more rows";
    if (there < here) return "the target has " + std::to_string(here - there) + " fewer rows";
    return "the target has as many rows, with other contents";
}

json::Object to_json(const telemetry::MovedPartition& partition, bool is_dry_run) {
    char source[20], target[20];
    std::snprintf(source, sizeof source, "%016" PRIx64, partition.source.checksum);
    std::snprintf(target, sizeof target, "%016" PRIx64, partition.target.checksum);
    return json::Object{{"table", partition.table},
                        {"partition", partition.partition},
                        {"state", outcome_of(partition, is_dry_run)},
                        {"rows", partition.source.rows},
                        {"checksum", source},
                        {"target_rows", partition.target.rows},
                        {"target_checksum", target},
                        {"copied_rows", partition.copied_rows},
                        {"bytes", partition.bytes}};
}

// Lines for people: one for each partition on standard output, the progress on standard error.
class MigratePrinter {
public:
    explicit MigratePrinter(const MigrateArguments& given) : m_given(given) {}

    void progress(const telemetry::MoveProgress& progress) {
        const auto now = std::chrono::steady_clock::now();
        if (now - m_last < std::chrono::seconds(2)) return;
        m_last = now;
        const double share = progress.all_bytes == 0
                                 ? 1
                                 : static_cast<double>(progress.done_bytes) / static_cast<double>(progress.all_bytes);
        std::fprintf(stderr, "%3.0f %%  %s of %s, %" PRIu64 " rows copied, now %s %s\n", 100 * share,
                     size_text(progress.done_bytes).c_str(), size_text(progress.all_bytes).c_str(),
                     progress.copied_rows, progress.table.c_str(), day_text(progress.partition).c_str());
    }
    void finished(const telemetry::MovedPartition& partition) const {
        if (m_given.as_json) return;
        const std::string outcome = outcome_of(partition, m_given.is_dry_run);
        std::printf("%-8s %-14s %-10s %12" PRIu64 " rows %10s%s%s\n", outcome.c_str(), partition.table.c_str(),
                    day_text(partition.partition).c_str(), partition.source.rows, size_text(partition.bytes).c_str(),
                    outcome == "differs" ? "  " : "", outcome == "differs" ? difference_of(partition).c_str() : "");
        std::fflush(stdout);
    }

private:
    const MigrateArguments& m_given;
    std::chrono::steady_clock::time_point m_last = std::chrono::steady_clock::now();
};

void print_report(const MigrateArguments& given, const telemetry::MoveReport& report) {
    uint64_t rows = 0, bytes = 0;
    size_t differing = 0;
    for (const telemetry::MovedPartition& partition : report.partitions) {
        rows += partition.source.rows;
        bytes += partition.bytes;
        differing += partition.is_equal() ? 0 : 1;
    }
    if (given.as_json) {
        json::Array list;
        for (const telemetry::MovedPartition& partition : report.partitions)
            list.push_back(to_json(partition, given.is_dry_run));
        std::printf("%s\n", json::print(json::Object{{"to", given.to},
                                                     {"dry_run", given.is_dry_run},
                                                     {"equal", report.is_equal()},
                                                     {"rows", rows},
                                                     {"bytes", bytes},
                                                     {"copied_rows", report.copied_rows},
                                                     {"seconds", report.seconds},
                                                     {"partitions", std::move(list)}})
                                .c_str());
        return;
    }
    std::printf("%" PRIu64 " rows in %zu partitions, %s not compressed.\n", rows, report.partitions.size(),
                size_text(bytes).c_str());
    if (given.is_dry_run)
        std::printf("%zu partitions are not there or differ. Reading what is missing takes about %.0f s; inserting it "
                    "takes longer.\nNothing was copied: this was a dry run.\n",
                    differing, report.seconds);
    else if (differing > 0)
        std::printf("%" PRIu64 " rows were copied in %.0f s. %zu partitions differ: rows that the target had with "
                    "other contents were not replaced. See docs/scale.md.\n",
                    report.copied_rows, report.seconds, differing);
    else
        std::printf("%" PRIu64
                    " rows were copied in %.0f s; rows and checksums of all partitions are equal.\nNow start "
                    "the server with --clickhouse-url %s\n",
                    report.copied_rows, report.seconds, given.to.c_str());
}

Result<telemetry::MoveReport> migrate_spans(const MigrateArguments& given) {
    const config::Config& config = given.config;
    if (!file_exists(config.data_dir)) return not_found("the data directory " + config.data_dir);
    const auto lock = sql::DirectoryLock::acquire(config.data_dir);
    if (!lock.ok())
        return conflict("a server is running on " + config.data_dir +
                        ": stop it first. It changes and deletes rows while they would be copied");
    telemetry::EngineProcessOptions engine;
    engine.library = config.engine_library;
    engine.unconfined = config.engine_unconfined == "true";
    engine.memory_bytes = config.engine_memory.count;
    telemetry::ClickHouseOptions target;
    target.url = given.to;
    target.user = config.clickhouse_user;
    target.password = config.clickhouse_password;
    target.ca_file = config.clickhouse_ca_file;
    target.cluster = config.clickhouse_cluster;
    telemetry::ClickHouse store(target);
    MigratePrinter printer(given);
    telemetry::MoveOptions options;
    options.is_dry_run = given.is_dry_run;
    options.progress = [&](const telemetry::MoveProgress& progress) { printer.progress(progress); };
    options.finished_partition = [&](const telemetry::MovedPartition& partition) { printer.finished(partition); };
    telemetry::MoveReport report;
    TRY(telemetry::with_stored_spans(config.data_dir + "/telemetry", engine,
                                     [&](telemetry::ClickHouse& source) -> Result<> {
                                         report = TRY(telemetry::move_spans(source, store, options));
                                         return {};
                                     }));
    return report;
}

} // namespace

int migrate_main(int argc, char** argv) {
    if (wants_help(argc, argv)) {
        std::fputs(migrate_help, stdout);
        return 0;
    }
    const bool json_wanted = wants_json(argc, argv);
    crypto::start();
    set_log(LogFormat::text, Level::warning);
    const auto given = migrate_arguments(argc, argv);
    if (!given.ok()) return report_failure(invalid(given.error().message), json_wanted);
    const auto report = migrate_spans(given.value());
    if (!report.ok()) {
        Error error = report.error();
        if (error.code == Code::unavailable || error.code == Code::busy)
            error.message += ". What was copied stays: run the command again to continue";
        return report_failure(error, json_wanted);
    }
    print_report(given.value(), report.value());
    return given.value().is_dry_run || report.value().is_equal() ? 0 : 1;
}

} // namespace hone::server
