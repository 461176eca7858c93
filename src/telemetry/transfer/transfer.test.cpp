#include "telemetry/query/evals.h"
#include "telemetry/store_fixture.h"
#include "telemetry/transfer/import_lines.h"
#include "telemetry/transfer/span_export.h"
#include "telemetry/transfer/span_import.h"
#include "telemetry/transfer/span_snapshot.h"

#include <filesystem>

#include <zlib.h>

namespace hone::telemetry::testing {

namespace {

std::string export_all(ExportFormat format, const Scope& scope) {
    auto source = open_export(*fixture().telemetry, format, scope);
    REQUIRE_MESSAGE(source.ok(), (source.ok() ? "" : source.error().message + source.error().trail));
    std::string file;
    for (;;) {
        auto piece = source.value()->next();
        REQUIRE_MESSAGE(piece.ok(), (piece.ok() ? "" : piece.error().message));
        if (piece.value().empty()) return file;
        file += piece.value();
    }
}

// In pieces that fit no boundary.
Result<ImportReport> import_all(ImportFormat format, const std::string& project, const std::string& file,
                                const std::string& encoding = "", size_t piece = 77) {
    ImportRequest request;
    request.format = format;
    request.encoding = encoding;
    request.space = "space";
    request.project = project;
    size_t at = 0;
    return import_spans(*fixture().telemetry, request, [&]() -> Result<std::string> {
        std::string next = file.substr(std::min(at, file.size()), piece);
        at += piece;
        return next;
    });
}

// Everything that was stored, but for when and where.
std::string stored(const std::string& project) {
    ClickHouseQuery query("SELECT start_ns, trace_id, span_id, content_hash, duration_ns, name, kind, status, "
                          "truncated, attribute_index, resource_index, input, output, attributes, resource, scope, "
                          "events, links, wire FROM hone.spans WHERE project = {project:String} "
                          "ORDER BY start_ns, span_id FORMAT JSONEachRow");
    query.bind("project", "project_" + project);
    auto rows = fixture().telemetry->engine().query(query);
    REQUIRE_MESSAGE(rows.ok(), (rows.ok() ? "" : rows.error().message));
    return rows.value();
}

// Every type an attribute may have, an input that is kept once, and a map that looks like our mark for it.
void send_varied(const std::string& project) {
    const std::string attributes =
        text_attribute("input.value", "What is \"this\"?\n\\ {\"$column\":\"output\"}") + "," +
        text_attribute("output.value", "grüße 🙂") + "," + number_attribute("llm.token_count.prompt", 12) +
        R"(,{"key":"whole.real","value":{"doubleValue":1}},{"key":"nan","value":{"doubleValue":"NaN"}})"
        R"(,{"key":"flag","value":{"boolValue":true}},{"key":"bytes","value":{"bytesValue":"AAEC/w=="}})"
        R"(,{"key":"unset"},{"key":"list","value":{"arrayValue":{"values":[{"intValue":"1"},{"stringValue":"a"}]}}})"
        R"(,{"key":"map","value":{"kvlistValue":{"values":[{"key":"$column","value":{"stringValue":"input"}}]}}})"
        R"(,{"key":"same","value":{"intValue":"1"}},{"key":"same","value":{"intValue":"2"}})";
    std::vector<TestSpan> spans;
    for (uint64_t i = 0; i < 40; ++i)
        spans.push_back({1 + i / 4, 1 + i, i % 4 ? 1 + i / 4 * 4 : 0, base_ns + static_cast<int64_t>(i % 7), 1000,
                         "step " + std::to_string(i), attributes, static_cast<int>(i % 3)});
    spans[5].duration_ns = -500; // ends before it starts
    std::string body = request(spans);
    const std::string extra =
        R"("traceState":"a=b","flags":257,"droppedAttributesCount":3,"events":[{"timeUnixNano":")" +
        std::to_string(base_ns) + R"(","name":"exception","attributes":[)" + text_attribute("exception.type", "E") +
        R"(]}],"links":[{"traceId":")" + hex_number(9, 32) + R"(","spanId":")" + hex_number(8, 16) +
        R"(","attributes":[)" + number_attribute("weight", 2) + R"(]}],"name":"step 3")";
    const size_t at = body.find(R"("name":"step 3",)");
    REQUIRE(at != std::string::npos);
    body.replace(at, 15, extra);
    fixture().send_json(project, body);
    fixture().wait();
    fixture().store();
    REQUIRE(count_spans(project) == 40);
}

std::string gzip(const std::string& bytes) {
    z_stream stream{};
    ::deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
    std::string out(::deflateBound(&stream, bytes.size()), '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream.avail_in = static_cast<uInt>(bytes.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    REQUIRE(::deflate(&stream, Z_FINISH) == Z_STREAM_END);
    out.resize(stream.total_out);
    ::deflateEnd(&stream);
    return out;
}

} // namespace

TEST_CASE("what is exported in any format and imported into another project is equal, types and all") {
    send_varied("varied");
    const std::string before = stored("varied");
    const std::pair<ExportFormat, ImportFormat> ways[] = {{ExportFormat::jsonl, ImportFormat::jsonl},
                                                          {ExportFormat::otlp, ImportFormat::otlp},
                                                          {ExportFormat::otlp_proto, ImportFormat::otlp_proto},
                                                          {ExportFormat::parquet, ImportFormat::parquet}};
    for (const auto& [out, in] : ways) {
        const std::string copy = "copy_" + std::string(name_of(out));
        CAPTURE(copy);
        const std::string file = export_all(out, scope_of("varied"));
        auto report = import_all(in, copy, file);
        REQUIRE_MESSAGE(report.ok(), (report.ok() ? "" : report.error().message));
        CHECK(report.value().accepted == 40);
        CHECK(report.value().rejected == 0);
        fixture().wait();
        CHECK(stored(copy) == before);
        // Twice changes nothing.
        REQUIRE(import_all(in, copy, file, "", 100'000).ok());
        fixture().wait();
        CHECK(count_spans(copy) == 40);
        CHECK(fixture().ledger(copy).repeated == 40);
        check_balance(fixture().ledger(copy));
    }
}

TEST_CASE("an export contains what its filter and its times select, and an error comes first when they are wrong") {
    send_varied("exported");
    const std::string lines = export_all(ExportFormat::jsonl, scope_of("exported", "name = \"step 3\""));
    CHECK(std::count(lines.begin(), lines.end(), '\n') == 1);
    CHECK(lines.find(R"("whole.real":1.0)") != std::string::npos);
    Scope narrow = scope_of("exported");
    narrow.from_ns = base_ns + 6;
    const std::string late = export_all(ExportFormat::jsonl, narrow);
    CHECK(std::count(late.begin(), late.end(), '\n') == 5);
    CHECK(export_all(ExportFormat::otlp, scope_of("nothing_here")).empty());
    CHECK(open_export(*fixture().telemetry, ExportFormat::jsonl, scope_of("exported", "nme = 1")).error().code ==
          Code::invalid);
}

TEST_CASE("a bad line is left out and named, the others are taken, and the ledger counts it") {
    const std::string good = R"({"trace_id":")" + hex_number(1, 32) + R"(","span_id":")" + hex_number(1, 16) +
                             R"(","name":"a","start_time":"2025-11-15T10:00:00Z","end_time":"2025-11-15T10:00:01Z"})";
    std::string late = good;
    late.replace(late.find("2025-11-15T10:00:00Z"), 20, "2095-11-15T10:00:00Z");
    late.replace(late.find("2025-11-15T10:00:01Z"), 20, "2095-11-15T10:00:01Z");
    const std::string file =
        good + "\n\nnot json\n" + R"({"trace_id":"zz"})" + "\r\n" + late + "\n" +
        R"({"trace_id":"00","span_id":"01","start_time":"2025-11-15T10:00:00Z","end_time":"2025-11-15T10:00:00Z"})";
    auto report = import_all(ImportFormat::jsonl, "lines", gzip(file), "gzip", 10);
    REQUIRE_MESSAGE(report.ok(), (report.ok() ? "" : report.error().message));
    CHECK(report.value().accepted == 1);
    CHECK(report.value().rejected == 4);
    std::map<int64_t, std::string> problems;
    for (const ImportProblem& problem : report.value().problems) problems[problem.line] = problem.reason;
    REQUIRE(problems.size() == 4);
    CHECK(problems[3].starts_with("not JSON"));
    CHECK(problems[4] == "start_time is missing");
    CHECK(problems[5] == "start time is more than a day in the future");
    CHECK(problems[6] == "trace id is not 16 bytes");
    fixture().wait();
    CHECK(fixture().ledger("lines").rejected_total() == 4);
    check_balance(fixture().ledger("lines"));
    CHECK(!import_all(ImportFormat::jsonl, "lines", gzip(file).substr(0, 60), "gzip", 10).ok());
    CHECK(!import_all(ImportFormat::parquet, "lines", "PAR1 this is not a Parquet file PAR1").ok());
}

TEST_CASE("spans of Phoenix are read as its API lists them, as lines and as a list") {
    const auto span = [](uint64_t id) {
        return R"({"id":"x","name":"llm_call","context":{"trace_id":")" + hex_number(77, 32) + R"(","span_id":")" +
               hex_number(id, 16) +
               R"("},"span_kind":"LLM","parent_id":null,"start_time":"2025-11-15T10:00:00.5+00:00",)"
               R"("end_time":"2025-11-15T12:00:01+02:00","status_code":"ERROR","status_message":"bad","attributes":)"
               R"({"llm.model_name":"gpt-4","llm":{"token_count":{"prompt":100}},"llm.input_messages":)"
               R"([{"message":{"role":"user","content":"hi ] }"}}],"input.value":"hi","tag.tags":["a","b"]},)"
               R"("events":[{"name":"exception","timestamp":"2025-11-15T10:00:00Z","attributes":{"exception.type":"E"}}]})";
    };
    const std::string page = R"( { "data" : [)" + span(1) + "," + span(2) + R"(],"next_cursor":"a}"})";
    const std::string file = page + "\n" + R"({"data":[]})" + "[" + span(3) + "]\n" + span(4) + "\n" + span(5);
    auto report = import_all(ImportFormat::phoenix, "phoenix", file, "", 3);
    REQUIRE_MESSAGE(report.ok(), (report.ok() ? "" : report.error().message));
    CHECK(report.value().accepted == 5);
    CHECK(report.value().rejected == 0);
    fixture().wait();
    auto payload = fixture().store().span_payload("project_phoenix", hex_number(77, 32), hex_number(3, 16));
    REQUIRE(payload.ok());
    CHECK(payload.value().row.kind == SpanKind::llm);
    CHECK(payload.value().row.model == "gpt-4");
    CHECK(payload.value().row.tokens.input == 100);
    CHECK(payload.value().row.duration_ns == 500'000'000);
    CHECK(payload.value().row.status == otlp::StatusCode::error);
    CHECK(payload.value().row.exception_type == "E");
    CHECK(payload.value().attributes.find(R"("llm.input_messages.0.message.content":"hi ] }")") != std::string::npos);
    CHECK(payload.value().attributes.find(R"("tag.tags":["a","b"])") != std::string::npos);
}

namespace {

// A file as others may have written it.
std::string make_parquet(const std::string& select) {
    static int number = 0;
    fixture().store();
    const std::string directory = fixture().telemetry->engine_process()->directory() + "/exports";
    REQUIRE(make_directories(directory).ok());
    const std::string path = directory + "/made" + std::to_string(++number) + ".parquet";
    auto made = fixture().telemetry->engine().query(
        ClickHouseQuery("SELECT " + select + " INTO OUTFILE '" + path + "' FORMAT Parquet"));
    REQUIRE_MESSAGE(made.ok(), (made.ok() ? "" : made.error().message + made.error().trail));
    return read_file(path).value();
}

} // namespace

TEST_CASE("Parquet of others is read: columns in another order, of other types, some missing, some unknown") {
    const std::string ids =
        ", toFixedString('" + hex_number(6, 16) + "', 16) AS span_id, '" + hex_number(89, 32) + "' AS trace_id";
    const std::string file =
        make_parquet("toUInt8(7) AS own_column, map('llm.model_name', 'gpt-4o', 'user.tier', 'gold') AS attributes, "
                     "toDateTime64('2025-11-15 10:00:01', 3) AS end_time, toLowCardinality('error') AS status, "
                     "toInt64(1763200800250000) AS start_time, toNullable(toLowCardinality('chat')) AS name" +
                     ids);
    auto report = import_all(ImportFormat::parquet, "others", file, "", 1000);
    REQUIRE_MESSAGE(report.ok(), (report.ok() ? "" : report.error().message));
    for (const ImportProblem& problem : report.value().problems) FAIL_CHECK(problem.reason);
    CHECK(report.value().accepted == 1);
    fixture().wait();
    auto payload = fixture().store().span_payload("project_others", hex_number(89, 32), hex_number(6, 16));
    REQUIRE(payload.ok());
    CHECK(payload.value().row.name == "chat");
    CHECK(payload.value().row.model == "gpt-4o");
    CHECK(payload.value().row.status == otlp::StatusCode::error);
    CHECK(payload.value().row.duration_ns == 750'000'000);

    const auto reason = [&](const std::string& select) {
        auto refused = import_all(ImportFormat::parquet, "others", make_parquet(select), "", 1000);
        if (!refused.ok()) return refused.error().message;
        return refused.value().problems.empty() ? std::string() : refused.value().problems[0].reason;
    };
    CHECK(reason("1 AS a, 2 AS b").find("has no columns trace_id and attributes") != std::string::npos);
    CHECK(reason("'{}' AS attributes" + ids) == "start_time is missing");
    CHECK(reason("'{}' AS attributes, 'soon' AS start_time, 'later' AS end_time" + ids) ==
          "start_time is not a time like 2026-01-31T12:00:00Z");
    CHECK(reason("'{}' AS attributes, 12 AS start_time, 13 AS end_time" + ids) ==
          "start_time is a number that is no time");
    CHECK(reason("'{}' AS attributes, toInt64(1763200800) AS start_time, toInt64(1763200801) AS end_time, 'xyz' AS "
                 "span_id, 'abc' AS trace_id") != "");
}

TEST_CASE("a data frame of Phoenix in Parquet is read") {
    const std::string file = make_parquet(
        "'chat' AS name, 'LLM' AS span_kind, CAST(NULL AS Nullable(String)) AS parent_id, "
        "toDateTime64('2025-11-15 10:00:00.25', 6, 'UTC') AS start_time, toDateTime64('2025-11-15 10:00:01', 6, 'UTC') "
        "AS end_time, 'OK' AS status_code, '' AS status_message, '" +
        hex_number(5, 16) + "' AS `context.span_id`, '" + hex_number(88, 32) +
        "' AS `context.trace_id`, 'gpt-4o' AS `attributes.llm.model_name`, toFloat64(21) AS "
        "`attributes.llm.token_count.prompt`, CAST(NULL AS Nullable(Float64)) AS "
        "`attributes.llm.token_count.completion`, [tuple('user', 'hello')::Tuple(`message.role` String, "
        "`message.content` String)] AS `attributes.llm.input_messages`");
    auto report = import_all(ImportFormat::parquet, "frame", file, "", 1000);
    REQUIRE_MESSAGE(report.ok(), (report.ok() ? "" : report.error().message));
    CHECK(report.value().accepted == 1);
    for (const ImportProblem& problem : report.value().problems) FAIL_CHECK(problem.reason);
    fixture().wait();
    auto payload = fixture().store().span_payload("project_frame", hex_number(88, 32), hex_number(5, 16));
    REQUIRE(payload.ok());
    CHECK(payload.value().row.model == "gpt-4o");
    CHECK(payload.value().row.tokens.input == 21);
    CHECK(payload.value().row.duration_ns == 750'000'000);
    CHECK(payload.value().attributes.find(R"("llm.input_messages.0.message.content":"hello")") != std::string::npos);
}

TEST_CASE("a snapshot taken while spans come in holds all that was acknowledged before, and opens elsewhere") {
    const auto count = [](Fixture& f) {
        ClickHouseQuery query("SELECT count(), uniqExact(trace_id, span_id) FROM hone.spans FORMAT RowBinary");
        REQUIRE(f.telemetry->store().ok());
        auto bytes = f.telemetry->engine().query(query);
        REQUIRE(bytes.ok());
        BinaryReader reader(bytes.value());
        const auto all = reader.number<uint64_t>();
        CHECK(all == reader.number<uint64_t>());
        return all;
    };
    const auto send = [](Fixture& f, uint64_t first, uint64_t spans) {
        std::vector<TestSpan> made;
        for (uint64_t i = first; i < first + spans; ++i) made.push_back({i, i});
        REQUIRE(f.send_json("kept", request(made)).status == 200);
    };
    Fixture first;
    send(first, 1, 50);
    first.wait();
    Evals evals(first.telemetry->engine(), first.clock);
    Eval eval;
    eval.project = "project_kept";
    eval.target_id = hex_number(1, 16);
    eval.name = "correct";
    eval.label = "yes";
    REQUIRE(evals.upsert({eval}).ok());
    send(first, 100, 30); // perhaps still in the log only
    auto snapshot = SpanSnapshot::take(*first.telemetry);
    REQUIRE_MESSAGE(snapshot.ok(), (snapshot.ok() ? "" : snapshot.error().message + snapshot.error().trail));
    send(first, 200, 10); // too late for it
    first.wait();

    Fixture second;
    second.telemetry.reset();
    namespace fs = std::filesystem;
    fs::remove_all(second.directory.path());
    for (const SpanSnapshot::File& file : snapshot.value()->files()) {
        CHECK(is_snapshot_file_name(file.name));
        const std::string target = second.directory / file.name;
        fs::create_directories(fs::path(target).parent_path());
        fs::copy_file(file.path, target);
        fs::permissions(target, fs::perms::owner_write, fs::perm_options::add); // parts of the engine are read-only
        fs::resize_file(target, static_cast<uintmax_t>(file.bytes));
    }
    snapshot.value().reset();
    for (const auto& entry : fs::directory_iterator(first.directory / "engine/data/shadow"))
        CHECK(!entry.is_directory());         // the links are gone
    for (int times = 0; times < 2; ++times) { // the second time everything is in place
        second.open();
        second.wait();
        CHECK(count(second) == 80);
        CHECK(!file_exists(second.directory / "engine/restore"));
        const auto listed = Evals(second.telemetry->engine(), second.clock)
                                .list({"project_kept", EvalTarget::span, {}, "", {}, {}, {}, 10, ""});
        REQUIRE(listed.ok());
        CHECK(listed.value().evals.size() == 1);
        const LedgerCounts ledger = second.ledger("kept");
        CHECK(ledger.received == 80);
        check_balance(ledger);
    }
    send(second, 100, 40); // thirty of them are there
    second.wait();
    CHECK(count(second) == 90);
    CHECK(count(first) == 90);
    for (const char* bad : {"../hone.db", "wal/../x.wal", "engine/data/x", "engine/restore/spans/../../x",
                            "/etc/passwd", "engine/restore/other/a/b", "wal/a/b.wal", ""})
        CHECK(!is_snapshot_file_name(bad));
}

TEST_CASE("JSON of unknown form is cut into lines or values, whatever the pieces it arrives in") {
    struct Cut {
        std::string elements; // "1:{}" each
        std::vector<int64_t> refused;
    };
    const auto cut = [](const std::string& file, size_t piece) {
        Cut found;
        ElementSplitter splitter(
            ElementSplitter::Kind::json,
            [&](std::string_view element, int64_t number) -> Result<> {
                found.elements += std::to_string(number) + ":" + std::string(element) + " ";
                return {};
            },
            [&](int64_t number, const std::string&) { found.refused.push_back(number); });
        for (size_t at = 0; at < file.size(); at += piece) REQUIRE(splitter.add(file.substr(at, piece)).ok());
        REQUIRE(splitter.finish().ok());
        return found;
    };
    for (const size_t piece : {size_t{1}, size_t{7}, size_t{1000}}) {
        // Lines: each stands alone, also the first one when it is broken, and a blank one counts.
        CHECK(cut("{ broken\n{\"a\":1}\n\n{\"b\":2}", piece).elements == "1:{ broken 2:{\"a\":1} 4:{\"b\":2} ");
        CHECK(cut("nonsense\n{}\n", piece).elements == "1:nonsense 2:{} ");
        CHECK(cut("\n {\"data\":[{},{}]}\n", piece).elements == "2:{\"data\":[{},{}]} ");
        // Values: lists and indented objects, over several lines.
        CHECK(cut("[{\"a\":[1,2]},\n{}]", piece).elements == "1:{\"a\":[1,2]} 2:{} ");
        CHECK(cut("{\n \"a\": 1\n}\n", piece).elements == "1:{\n \"a\": 1\n} ");
        CHECK(cut("{\n \"runs\": [\n{\"id\":1},\n{\"id\":2}\n],\n\"next\":{}}", piece).elements ==
              "1:{\"id\":1} 2:{\"id\":2} ");
        CHECK(cut("[{\"a\":1},{\"b\"", piece).refused == std::vector<int64_t>{2});
        CHECK(cut("", piece).elements.empty());
        CHECK(cut(" \n \n", piece).elements.empty());
        CHECK(cut("{}", piece).elements == "1:{} ");
    }
}

} // namespace hone::telemetry::testing
