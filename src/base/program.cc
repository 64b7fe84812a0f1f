#include "base/program.h"

#include <fcntl.h>
#include <sysexits.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <iostream>
#include <new>

namespace weft::base {
namespace {

const char* program_name = "weft";  // set once, before other threads exist

// Without memory: there may be none.
void WriteToStderr(const char* text) {
  // Nobody is left to be told that it could not be written.
  (void)!write(STDERR_FILENO, text, std::strlen(text));
}

[[noreturn]] void EndWith(const char* what, int status) {
  WriteToStderr(program_name);
  WriteToStderr(": ");
  WriteToStderr(what);
  WriteToStderr("\n");
  _exit(status);  // other threads may be at work: nothing is taken down under them
}

[[noreturn]] void EndByException() {
  const std::exception_ptr uncaught = std::current_exception();
  if (uncaught == nullptr) std::abort();  // a bug of ours, which a core file explains best
  try {
    std::rethrow_exception(uncaught);
  } catch (const std::bad_alloc&) {
    EndOutOfMemory();
  } catch (const std::exception& error) {
    EndWith(error.what(), EX_OSERR);
  } catch (...) {
    EndWith("an error without a message", EX_SOFTWARE);
  }
}

}  // namespace

void EndOutOfMemory() { EndWith("out of memory", EX_OSERR); }

bool OpenStandardStreams() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(fd, F_GETFD) >= 0 || errno != EBADF) continue;
    const int mode = fd == STDIN_FILENO ? O_WRONLY : O_RDONLY;
    // The lowest free number is taken, and those below are open.
    int opened = open("/dev/null", mode);
    // Where there is no /dev: the root stands in, by its name alone.
    if (opened < 0) opened = open("/", O_PATH | O_DIRECTORY);
    if (opened < 0) return false;
  }
  return true;
}

int EndProgram(int status) {
  std::cout.flush();
  const bool written = std::fflush(stdout) == 0 && std::ferror(stdout) == 0 && std::cout.good();
  if (written || status != EX_OK) return status;
  WriteToStderr(program_name);
  WriteToStderr(": could not write the output\n");
  return EX_IOERR;
}

void StartProgram(const char* name) {
  if (!OpenStandardStreams()) _exit(EX_OSERR);  // there is nothing to say it on
  program_name = name;
  std::signal(SIGXFSZ, SIG_IGN);
  std::set_terminate(EndByException);
}

}  // namespace weft::base
