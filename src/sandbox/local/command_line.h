// The commands that work without a server: `hone sandbox …`, `hone image …`, and the roles `hone spawner`, `hone shim`.
// Each takes the whole argument list of the program: argv[1] is the command's name. Called once, from main.
#pragma once

namespace hone::sandbox {

int sandbox_cli_main(int argc, char** argv);
int spawner_main(int argc, char** argv);
// Reads a spec as JSON from stdin, prints the id, and keeps that sandbox in the background: a sandbox without a server.
int shim_main(int argc, char** argv);

} // namespace hone::sandbox
