// Files of examples: what people's spreadsheets and exports look like, and what is refused.
#include "evaluate/files/example_rows.h"

#include <doctest/doctest.h>

namespace hone::evaluate {

namespace {

// The examples as JSON lists, one per line, or the error; the text arrives in pieces of every size.
std::string read(FileFormat format, const std::string& text, const ColumnNames& names = {}) {
    std::string first;
    for (const size_t piece : {text.size() + 1, size_t{1}, size_t{7}}) {
        std::string all;
        ExampleReader reader(format, names, [&](NewExample example) -> Result<> {
            all += json::print(example.input) + " " + json::print(example.output);
            if (!example.metadata.get_object().empty()) all += " " + json::print(example.metadata);
            if (example.example_id) all += (example.has_assigned_id ? " assigned=" : " id=") + *example.example_id;
            for (const auto& split : example.splits) all += " split=" + split;
            if (example.source) all += " span=" + example.source->span;
            all += "\n";
            return {};
        });
        Result<> outcome;
        for (size_t at = 0; at < text.size() && outcome.ok(); at += piece)
            outcome = reader.add(std::string_view(text).substr(at, piece));
        if (outcome.ok()) outcome = reader.finish();
        if (!outcome.ok()) all = "error: " + outcome.error().message;
        if (first.empty()) first = all;
        CHECK(all == first);
    }
    return first;
}

} // namespace

TEST_CASE("an id that equals node_id was assigned by the server that exported it") {
    CHECK(read(FileFormat::csv, "id,node_id,input.a\nx,y,1\nz,z,2\n") ==
          "{\"a\":\"1\"} {} id=x\n{\"a\":\"2\"} {} assigned=z\n");
    CHECK(read(FileFormat::jsonl, R"({"id":"z","node_id":"z","input":{"a":1},"output":{}})") ==
          "{\"a\":1} {} assigned=z\n");
}

TEST_CASE("a spreadsheet's last column named like a correct answer is the output") {
    CHECK(read(FileFormat::csv, "question,answer\nhow?,so\n") == R"({"question":"how?"} {"answer":"so"})"
                                                                 "\n");
    CHECK(read(FileFormat::csv, "a,b\n1,2\n") == R"({"a":"1","b":"2"} {})"
                                                 "\n");
    CHECK(read(FileFormat::csv, "output\n1\n") == R"({"output":"1"} {})"
                                                  "\n");
}

TEST_CASE("CSV with quotes, line breaks, CRLF and a byte order mark") {
    CHECK(read(FileFormat::csv, "\xef\xbb\xbfquestion,answer\r\n\"a, \"\"b\"\"\nc\",d\r\n\r\n") ==
          R"({"question":"a, \"b\"\nc"} {"answer":"d"})"
          "\n");
    CHECK(read(FileFormat::csv, "q,answer\n\"\",x") == R"({} {"answer":"x"})"
                                                       "\n"); // empty cells are left out
}

TEST_CASE("columns with dots are put together, and hold JSON") {
    CHECK(read(FileFormat::csv, "id,node_id,input.a.b,input.a.c,output.list,metadata.k,splits\n"
                                "7,n,1,2,\"[1,2]\",v,\"[\"\"train\"\",\"\"x\"\"]\"\n") ==
          R"({"a":{"b":"1","c":"2"}} {"list":[1,2]} {"k":"v"} id=7 split=train split=x)"
          "\n");
}

TEST_CASE("named columns are taken as they are") {
    ColumnNames names;
    names.input = {"q"};
    names.output = {"a"};
    names.metadata = {"m.x"};
    names.splits = {"s"};
    names.example_id = "key";
    names.span_id = "span";
    CHECK(read(FileFormat::csv, "q,a,m.x,s,key,span,other\nwhy,so,1,\"one,two\",k1,abc,no\n", names) ==
          R"({"q":"why"} {"a":"so"} {"m.x":"1"} id=k1 split=one split=two span=abc)"
          "\n");
    names.flatten = {"q"};
    CHECK(read(FileFormat::jsonl,
               R"({"q":{"x":1,"y":[2]},"a":"so","key":5})"
               "\n",
               names) == R"({"x":1,"y":[2]} {"a":"so"} id=5)"
                         "\n");
    names.input = {"missing"};
    CHECK(read(FileFormat::csv, "q,a,m.x,s\n1,2,3,4\n", names) == "error: there is no column missing");
}

TEST_CASE("JSON lines with input, output and metadata") {
    CHECK(read(FileFormat::jsonl, R"({"input":{"q":1},"output":{"a":2},"metadata":{"m":3},"id":"x"})"
                                  "\n\n"
                                  R"({"input":"hi","expected":"yo","split":"test"})") ==
          R"({"q":1} {"a":2} {"m":3} id=x)"
          "\n"
          R"({"input":"hi"} {"expected":"yo"} split=test)"
          "\n");
}

TEST_CASE("files that cannot be read are refused with the row") {
    CHECK(read(FileFormat::csv, "") == "error: the file is empty: the first row must name the columns");
    CHECK(read(FileFormat::csv, "a,a\n1,2\n") == "error: column a is there twice");
    CHECK(read(FileFormat::csv, "a,b\n1\n") == "error: row 2 has 1 cells, the header 2");
    CHECK(read(FileFormat::csv, "a,b\n1,2,3\n") == "error: row 2 has 3 cells, the header 2");
    CHECK(read(FileFormat::csv, "a\n\"1\n") == "error: row 2 has a quote without an end");
    CHECK(read(FileFormat::csv, std::string("a\n1\0\n", 5)) == "error: row 2 contains a NUL");
    CHECK(read(FileFormat::csv, "a\n\xff\n") == "error: row 2 is not valid UTF-8");
    CHECK(read(FileFormat::csv, "input.a,input.a.b\n1,2\n") ==
          "error: row 2: column a.b is inside another column's value");
    CHECK(read(FileFormat::jsonl, "{\"input\":NaN}\n").starts_with("error: line 1"));
    CHECK(read(FileFormat::jsonl, "{}\n[1]\n") == "error: line 2 must be an object");
    CHECK(read(FileFormat::jsonl, "{\"input\":1}\n" + std::string(1000, '[')).starts_with("error: line 2"));
    CHECK(read(FileFormat::jsonl, "{\"input\":9007199254740993}\n") == "{\"input\":9007199254740993} {}\n");
}

TEST_CASE("nested values are written as columns") {
    std::vector<std::pair<std::string, std::string>> cells;
    flatten_into(json::parse(R"({"a":{"b":1,"c":[1,"x"]},"d":"t","e":null,"f":{}})").value(), "input", cells);
    std::string all;
    for (const auto& [name, text] : cells) all += name + "=" + quote_csv(text) + " ";
    CHECK(all == "input.a.b=1 input.a.c=\"[1,\"\"x\"\"]\" input.d=t input.e= ");
}

} // namespace hone::evaluate
