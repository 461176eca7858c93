// The program that this process runs.
#pragma once

namespace hone {

// Whether its file was replaced or removed since the process started: a restart would run another one. Any thread.
bool program_was_replaced();

} // namespace hone
