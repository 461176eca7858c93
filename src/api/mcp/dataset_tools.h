// MCP tools about datasets: list them, read examples, propose examples, run an evaluator on documents.
#pragma once

#include "api/core/call.h"
#include "evaluate/datasets/proposals.h"
#include "json/json.h"

namespace hone::api {

struct ListDatasetsTool {
    std::optional<std::string> space;
    std::optional<int64_t> limit;
    std::optional<std::string> cursor;
    static constexpr Pack fields{
        Field{"space", &ListDatasetsTool::space, "Id or name of the space; the caller's first one if not given."},
        Field{"limit", &ListDatasetsTool::limit, "At most 100; 20 if not given."},
        Field{"cursor", &ListDatasetsTool::cursor, "next_cursor of the previous reply."},
    };
};
Result<json::Value> list_datasets_tool(const Call& call, const ListDatasetsTool& arguments);

struct ReadExamplesTool {
    std::string dataset;
    std::optional<std::string> space;
    std::optional<int64_t> limit;
    std::optional<std::string> cursor;
    static constexpr Pack fields{
        Field{"dataset", &ReadExamplesTool::dataset, "Id or name of the dataset."},
        Field{"space", &ReadExamplesTool::space, "Id or name of the space; the caller's first one if not given."},
        Field{"limit", &ReadExamplesTool::limit, "At most 50; 10 if not given."},
        Field{"cursor", &ReadExamplesTool::cursor, "next_cursor of the previous reply."},
    };
};
Result<json::Value> read_examples_tool(const Call& call, const ReadExamplesTool& arguments);

struct ProposeExamplesTool {
    std::string dataset;
    std::optional<std::string> space;
    std::vector<evaluate::NewProposal> examples;
    static constexpr Pack fields{
        Field{"dataset", &ProposeExamplesTool::dataset, "Id or name of the dataset."},
        Field{"space", &ProposeExamplesTool::space, "Id or name of the space; the caller's first one if not given."},
        Field{"examples", &ProposeExamplesTool::examples, "At most 50. They wait for a person's decision."},
    };
};
Result<json::Value> propose_examples_tool(const Call& call, const ProposeExamplesTool& arguments);

struct ReportVerdictTool {
    std::optional<std::string> label;
    std::optional<double> score;
    std::optional<std::string> explanation;
    static constexpr Pack fields{
        Field{"label", &ReportVerdictTool::label, "One of the labels of the instructions, or cannot_judge."},
        Field{"score", &ReportVerdictTool::score, "Where the instructions require a number."},
        Field{"explanation", &ReportVerdictTool::explanation, "Why, in at most three sentences."},
    };
};
Result<json::Value> report_verdict_tool(const Call& call, const ReportVerdictTool& arguments);

struct RunEvaluatorTool {
    std::string evaluator;
    std::optional<std::string> space;
    std::optional<int64_t> version;
    std::vector<json::Value> documents;
    static constexpr Pack fields{
        Field{"evaluator", &RunEvaluatorTool::evaluator, "Id or name of an evaluator of code."},
        Field{"space", &RunEvaluatorTool::space, "Id or name of the space; the caller's first one if not given."},
        Field{"version", &RunEvaluatorTool::version, "The newest if not given."},
        Field{"documents", &RunEvaluatorTool::documents,
              "At most 20 objects with input, output, reference and metadata, as the evaluator expects them."},
    };
};
Result<json::Value> run_evaluator_tool(const Call& call, const RunEvaluatorTool& arguments);

} // namespace hone::api
