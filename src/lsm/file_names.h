// lsm/file_names.h: the files of a store's folder and what they are called.
//
// Layout    docs/formats/files.md. NUMBER has six digits or more.
// Threads   pure, but SetCurrentFile.
// Source    LevelDB's names.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "weft/file_system.h"
#include "weft/status.h"

namespace weft::lsm {

enum class FileType : uint8_t {
  kLog,       // NUMBER.log
  kTable,     // NUMBER.ldb, of old stores NUMBER.sst
  kManifest,  // MANIFEST-NUMBER
  kTemp,      // NUMBER.dbtmp
  kCurrent,   // CURRENT: names the manifest
  kLock,      // LOCK
  kInfoLog,   // LOG, LOG.old
};

std::string LogFileName(const std::string& dir, uint64_t number);
std::string TableFileName(const std::string& dir, uint64_t number);
std::string OldTableFileName(const std::string& dir, uint64_t number);
std::string ManifestFileName(const std::string& dir, uint64_t number);
std::string TempFileName(const std::string& dir, uint64_t number);
std::string CurrentFileName(const std::string& dir);
std::string LockFileName(const std::string& dir);
std::string InfoLogFileName(const std::string& dir);
std::string OldInfoLogFileName(const std::string& dir);

struct ParsedFileName {
  FileType type = FileType::kTemp;
  uint64_t number = 0;  // 0 where the name has none
};

// `name` without its folder. False where it is no file of a store.
bool ParseFileName(std::string_view name, ParsedFileName* parsed);

// The number of the manifest that CURRENT names. kNotFound: there is no CURRENT, and no store;
// kCorruption: it names no manifest, or is lost (lsm/lost_current.h).
Result<uint64_t> ReadCurrentFile(FileSystem* files, const std::string& dir);

// Makes CURRENT name the manifest, in one step that survives a power cut once it returned ok. After
// an error CURRENT names either it or what it named before.
Status SetCurrentFile(FileSystem* files, const std::string& dir, uint64_t manifest_number);

}  // namespace weft::lsm
