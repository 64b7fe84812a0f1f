// base/program.h: what every program of ours does before anything else.
//
// Streams     descriptors 0, 1 and 2 that whoever started it has closed are opened on /dev/null.
//             Otherwise the first files that it opens get these numbers, and what it prints goes
//             over them. They are opened the wrong way round, so that reading and writing still
//             fail and a tool still says that its results could not be written.
// Limits      a write beyond the limit of file sizes is an error, not the signal SIGXFSZ.
// Exceptions  what nobody catches ends the program with one line and an exit status. Ours are those
//             of the standard library where it has no memory, or no thread.
//
// Results     that could not be written are an error, also those that were still in a buffer.
//
// Threads     StartProgram: the first statement of main, EndProgram: the last. A library never
//             calls them: descriptors and signals belong to the program.
#pragma once

namespace weft::base {

// `name` begins the line that says why the program ends; it must outlive the program.
void StartProgram(const char* name);

// What main returns: `status`; but EX_IOERR, and a line says so, where that is 0 and what was
// printed could not be written. A full disk shows when the last of it is, which is here.
int EndProgram(int status);

// Ends the program as a failed `new` that nobody catches does, for what has no memory and can't go
// on without it. Any thread.
[[noreturn]] void EndOutOfMemory();

// Of StartProgram: opens those of descriptors 0, 1 and 2 that are closed. False where the system
// gives no descriptor at all.
bool OpenStandardStreams();

}  // namespace weft::base
