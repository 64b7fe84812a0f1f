// bench/harness/peer.h: a server, whoever made it: how it starts, where it listens, what it has
// used.
//
// A program with other flags than memcached's has a line in the table of peer.cc, or is given by
// --peer-command. Its command may have the words {path} {port} {memory_mb} {threads} {connections},
// and {empty} for a word without letters.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bench/harness/address.h"
#include "bench/harness/process.h"
#include "weft/status.h"

namespace weft::bench {

// What to start.
struct PeerSpec {
  std::string name;     // in reports: "weft", "memcached"
  std::string path;     // the program; without a slash its name, which PATH leads to
  std::string command;  // template with placeholders; empty: by the program's name
  // It is up when it answers "version" and a line's end with any line. False: when it listens.
  bool answers_lines = true;
};

// How to start it.
struct PeerOptions {
  uint64_t memory_mb = 4096;
  int threads = 1;
  int connections = 2048;
  std::vector<int> cpus = {};  // empty: any
  std::string flags = {};      // more flags, after those of its command: words without quotes
  double patience_s = 10;      // until it is up
  Asker ask = Ask;             // how it is asked for its version
};

class Peer {
 public:
  // Starts it on a free loopback port and waits until it is up. Returns kIoError, with the end of
  // its output, if that takes too long.
  static Result<std::unique_ptr<Peer>> Start(const PeerSpec& spec, const PeerOptions& options);

  const std::string& name() const { return name_; }
  const std::string& version() const { return version_; }  // its own answer, or ""
  const std::string& command_line() const { return command_line_; }
  uint16_t port() const { return port_; }
  Process& process() { return *process_; }

 private:
  Peer() = default;

  std::string name_;
  std::string version_;
  std::string command_line_;
  uint16_t port_ = 0;
  std::unique_ptr<Process> process_;
};

// Whether it has memcached's flags and protocols, or is taken to have them; false for a program
// that is known to have others.
bool IsLikeMemcached(const PeerSpec& spec);

// Name for reports from a program's path: "/usr/bin/memcached" is "memcached".
PeerSpec SpecFromPath(const std::string& path, const std::string& command = "");

}  // namespace weft::bench
