// Any bytes as a version edit, and as a manifest file.
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/check.h"
#include "lsm/manifest.h"
#include "lsm/string_file_test_kit.h"
#include "lsm/version_edit.h"

namespace weft::lsm {
namespace {

void ReadEdit(std::string_view bytes) {
  VersionEdit edit;
  if (!edit.DecodeFrom(bytes).ok()) {
    WEFT_CHECK(edit == VersionEdit());
    return;
  }
  // What was read says the same again; not the same bytes: fields may come in any order.
  std::string written;
  edit.EncodeTo(&written);
  VersionEdit again;
  WEFT_CHECK(again.DecodeFrom(written).ok() && again == edit);
  WEFT_CHECK(!edit.DebugString().empty() || bytes.empty());
}

void ReadFile(std::string_view bytes) {
  StringSource file(bytes);
  const Result<ManifestState> state = ReadManifest(&file, "the manifest");
  if (!state) {
    WEFT_CHECK(state.error().code() == Code::kCorruption);
    WEFT_CHECK(state.error().message().find("the manifest") != std::string_view::npos);
    return;
  }
  WEFT_CHECK(state.value().valid_bytes <= bytes.size());
  WEFT_CHECK(state.value().edit.removed_files.empty());
}

// The same bytes as records of a manifest that is whole: each says how long the next is.
void ReadRecords(std::string_view bytes) {
  std::string manifest;
  StringSink sink(&manifest);
  LogWriter writer(&sink);
  while (!bytes.empty()) {
    const std::string_view record = bytes.substr(1, static_cast<uint8_t>(bytes[0]));
    WEFT_CHECK(writer.AddRecord(record).ok());
    bytes.remove_prefix(1 + record.size());
  }
  ReadFile(manifest);
}

}  // namespace
}  // namespace weft::lsm

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes) {
  const std::string_view input(reinterpret_cast<const char*>(data), bytes);
  weft::lsm::ReadEdit(input);
  weft::lsm::ReadFile(input);
  weft::lsm::ReadRecords(input);
  return 0;
}
