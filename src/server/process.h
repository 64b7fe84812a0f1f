// server/process.h: what a server asks of the system for itself: limits, another user, the
// background, a file with its process id.
//
// Threads   one thread, before the server's others start. Daemon: before any other thread exists.
// Errors    kIoError with the system's reason; kNotFound: no such user.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "weft/status.h"

namespace weft::server {

// The status with the flag before it that asked for what could not be had: "-m 64: reserve ...".
Status About(std::string_view flag, const Status& status);

// The text in one line, whatever it cites of a command line: "\n" for a newline and so on.
std::string OneLine(std::string_view text);

// Lets this process open `files` files; leaves a larger limit alone.
Status RaiseFileLimit(uint64_t files);
// Lets core files be as large as the system allows.
Status RaiseCoreLimit();
// Lets as much memory be locked as the system allows; LockMemory will say whether it is enough.
void RaiseLockLimit();
// Gives freed pieces of 256 KiB and more back to the system at once. Otherwise the allocator keeps
// more and more of them for each thread, where one thread allocates what another frees.
void GiveBackLargePieces();
// Keeps every page from being swapped out once it has been touched, now and later. Reserved
// addresses that were never touched take no memory.
Status LockMemory();

bool IsRoot();
// Gives root's rights up for good. REQUIRES: IsRoot()
Status BecomeUser(const std::string& name);

// A file that holds the process id while this object lives. Its folder may be open to all: a link
// in its place is replaced and never followed, and what is no longer ours is left alone at the end.
class PidFile {
 public:
  // kInvalidArgument: there is something other than a file.
  static Result<std::unique_ptr<PidFile>> Write(const std::string& path);
  ~PidFile();
  PidFile(const PidFile&) = delete;
  PidFile& operator=(const PidFile&) = delete;

 private:
  explicit PidFile(std::string path) : path_(std::move(path)) {}

  // Constant after construction.
  const std::string path_;
};

// A process that goes into the background once it serves: whoever started it gets an exit status
// that tells whether it does.
class Daemon {
 public:
  // Forks. The parent does not return: it waits for Ready (exit status 0) or for the child's end
  // (its status). The child returns, in a session of its own.
  static Result<std::unique_ptr<Daemon>> Fork();
  ~Daemon();
  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;

  // Lets the parent go, with the standard streams unless `keep_streams`.
  Status Ready(bool keep_streams);

 private:
  explicit Daemon(int pipe_fd) : pipe_fd_(pipe_fd) {}
  int pipe_fd_;
};

}  // namespace weft::server
