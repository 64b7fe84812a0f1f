// bench/target/targets.h: every store and server that can be measured, by name.
//
//     memcached:HOST:PORT  memcached:/SOCKET   a server that is there
//     redis:HOST:PORT      redis:/SOCKET
//     start:weft  start:memcached  start:redis  start:/PROGRAM
//                                              one that is started, and ended afterwards; a program
//                                              that is none of these takes memcached's flags
//     weft-cache                               Weft's cache, in this process
//     weft  leveldb  rocksdb                   a durable store, in this process
//     echo:50us  echo:50us:100ms@2s            answers after a known time (echo_target.h)
//
// Threads   any.
// Errors    kInvalidArgument: no such name; the message lists them. kUnsupported: this build lacks
//           it; the message has the missing package. Otherwise the errors of opening it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench/target/target.h"
#include "bench/target/target_options.h"

namespace weft::bench {

// `format` must outlive the target.
Result<std::unique_ptr<Target>> OpenTarget(const std::string& spec, const TargetOptions& options,
                                           const RecordFormat& format);

// OpenTarget's verdict on the name alone, without opening anything.
Status CheckTarget(const std::string& spec);

// Stores that lose nothing by themselves.
bool IsDurable(const std::string& spec);
// Servers that somebody else started.
bool IsThere(const std::string& spec);

struct TargetForm {
  std::string form;     // "memcached:ADDRESS"
  std::string meaning;  // a few words for --help
  std::string missing;  // why this build lacks it; empty: it has it
};
const std::vector<TargetForm>& TargetForms();

// Those that need nothing but this machine: what is embedded, and servers whose programs are there.
// Each has the reason why it can't be opened here (empty: it can).
struct LocalTarget {
  std::string spec;
  std::string why_not;
};
std::vector<LocalTarget> LocalTargets(const TargetOptions& options);

// "start:weft", ...: every server that has a name. `that_scan`: those that have scans.
std::vector<std::string> ServersToStart(bool that_scan = false);

}  // namespace weft::bench
