// The schemas of a dataset: what the input, the output and the metadata of its examples must look like. Made from the
// stored JSON; one thread.
#pragma once

#include "evaluate/datasets/dataset.h"
#include "json/json_schema.h"

#include <map>

namespace hone::evaluate {

class ExampleSchema {
public:
    // {"input": …, "output": …, "metadata": …}, each a JSON Schema; a part that is missing is not compared.
    static Result<ExampleSchema> create(const json::Value& schemas);
    // What fails is named with its part and its place.
    Result<> check(const NewExample& example) const;

private:
    std::map<std::string, json::JsonSchema> m_parts;
};

} // namespace hone::evaluate
