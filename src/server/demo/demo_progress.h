// How far the demo of a data directory came, in its file demo.json: a demo that was killed continues, with the same
// traces. One thread.
#pragma once

#include "base/fields.h"
#include "base/time.h"
#include "run/runs.h"

#include <optional>
#include <string>

namespace hone::server {

enum class DemoState { begun, loaded, done };
constexpr auto enum_names(DemoState) {
    return std::array{EnumName{DemoState::begun, "begun"}, EnumName{DemoState::loaded, "loaded"},
                      EnumName{DemoState::done, "done"}};
}

struct DemoProgress {
    DemoState state = DemoState::begun;  // loaded: all traces are stored
    Time began;                          // the traces end here
    std::optional<int64_t> model_port{}; // of the scripted model, so that it has the same address after a restart
    static constexpr Pack fields{
        Field{"state", &DemoProgress::state, "begun, loaded (its traces) or done."},
        Field{"began", &DemoProgress::began, "When the demo was started first; its traces end here."},
        Field{"model_port", &DemoProgress::model_port, "Port of the scripted model on 127.0.0.1."},
    };
};

// Absent: no demo was started in this directory.
Result<std::optional<DemoProgress>> read_demo_progress(const std::string& data_directory);
Result<> write_demo_progress(const std::string& data_directory, const DemoProgress& progress);

// The port that the scripted model had; 0: none.
uint16_t demo_model_port(const std::string& data_directory);

// A run that the demo started before.
Result<std::optional<run::Run>> find_demo_run(const run::Runs& runs, const access::SpaceId& space,
                                              const std::string& title);

// False: something has this name already, made by a demo that was killed.
template <class T>
Result<bool> is_new(const Result<T>& made) {
    if (made.ok()) return true;
    if (made.error().code == Code::conflict) return false;
    return made.error();
}

} // namespace hone::server
