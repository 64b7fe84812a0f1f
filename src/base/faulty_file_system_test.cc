#include "base/faulty_file_system.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/memory_file_system.h"

namespace weft::base {
namespace {

class FaultyFiles : public ::testing::Test {
 protected:
  // Makes a file of ten calls, with the first error it meets.
  Status WriteAndReadBack() {
    Status status = files_.CreateDir("/d");
    if (!status.ok()) return status;
    auto file = files_.NewWritableFile("/d/t", FileUse::kOther);
    if (!file) return file.error();
    for (Status next : {(*file)->Append("text"), (*file)->Sync(), (*file)->Close(),
                        files_.RenameFile("/d/t", "/d/f"), files_.SyncDir("/d")}) {
      if (!next.ok()) return next;
    }
    auto reader = files_.NewRandomAccessFile("/d/f");
    if (!reader) return reader.error();
    char scratch[8];
    std::string_view got;
    status = (*reader)->Read(0, 8, &got, scratch);
    if (!status.ok()) return status;
    EXPECT_EQ(got, "text");
    Result<uint64_t> bytes = files_.GetFileSize("/d/f");
    return bytes.has_value() ? Status::Ok() : bytes.error();
  }

  MemoryFileSystem memory_;
  FaultyFileSystem files_{&memory_};
};

TEST_F(FaultyFiles, PassesAllThroughWithoutFaults) {
  EXPECT_TRUE(WriteAndReadBack().ok());
  EXPECT_EQ(files_.calls(), 10u);
  EXPECT_EQ(files_.faults(), 0u);
}

TEST_F(FaultyFiles, EachCallCanFailOnce) {
  for (uint64_t n = 1; n <= 10; n++) {
    files_.FailCall(n);
    const uint64_t before = files_.faults();
    const Status status = WriteAndReadBack();
    EXPECT_EQ(status.code(), Code::kIoError);
    EXPECT_NE(status.message().find("/d"), std::string::npos);
    EXPECT_EQ(files_.faults(), before + 1);
    EXPECT_TRUE(WriteAndReadBack().ok()) << "only once";
  }
}

TEST_F(FaultyFiles, AllCallsFromOneOnCanFailUntilHealed) {
  files_.FailFrom(3);
  EXPECT_FALSE(WriteAndReadBack().ok());
  for (int i = 0; i < 3; i++) EXPECT_FALSE(files_.SyncDir("/d").ok());
  files_.Heal();
  EXPECT_TRUE(WriteAndReadBack().ok());
}

TEST_F(FaultyFiles, FullDiskTakesWhatFits) {
  auto file = files_.NewWritableFile("/f", FileUse::kTable);
  files_.FillDiskAfter(6);
  EXPECT_TRUE((*file)->Append("1234").ok());
  const Status status = (*file)->Append("5678");
  EXPECT_EQ(status.code(), Code::kIoError);
  EXPECT_NE(status.message().find("No space left"), std::string::npos) << status.ToString();
  EXPECT_FALSE((*file)->Append("9").ok());
  EXPECT_TRUE((*file)->Close().ok());
  EXPECT_EQ(*memory_.Contents("/f"), "123456");
  files_.FillDiskAfter(1);
  file = files_.NewAppendableFile("/f", FileUse::kTable);
  EXPECT_TRUE((*file)->Append("7").ok());
}

TEST_F(FaultyFiles, HookSeesEveryCallAndChooses) {
  std::vector<std::string> seen;
  files_.SetHook([&seen](const FileCall& call) {
    seen.push_back(std::string(FileCallName(call.kind)) + " " + call.path + " " +
                   std::to_string(call.bytes));
    return call.kind == FileCallKind::kSync ? Status(Code::kIoError, "no") : Status::Ok();
  });
  auto file = files_.NewWritableFile("/f", FileUse::kLog);
  EXPECT_TRUE((*file)->Append("text").ok());
  EXPECT_EQ((*file)->Sync().message(), "no");
  EXPECT_TRUE(files_.FileExists("/f"));
  EXPECT_EQ(seen, (std::vector<std::string>{"NewWritableFile /f 0", "Append /f 4", "Sync /f 0",
                                            "FileExists /f 0"}));
  files_.SetHook([](const FileCall&) { return Status(Code::kNotFound, ""); });
  EXPECT_FALSE(files_.FileExists("/f"));
  std::vector<std::string> names;
  EXPECT_FALSE(files_.GetChildren("/", &names).ok());
  files_.SetHook(nullptr);
  EXPECT_TRUE((*file)->Sync().ok());
}

TEST_F(FaultyFiles, EveryKindOfCallIsAskedAndNamed) {
  std::vector<FileCallKind> kinds;
  files_.SetHook([&kinds](const FileCall& call) {
    kinds.push_back(call.kind);
    return Status::Ok();
  });
  char scratch[4];
  std::string_view got;
  std::vector<std::string> names;
  ASSERT_TRUE(memory_.SetContents("/f", "text").ok());
  auto in_order = files_.NewSequentialFile("/f");
  auto anywhere = files_.NewRandomAccessFile("/f");
  auto file = files_.NewWritableFile("/g", FileUse::kOther);
  auto end = files_.NewAppendableFile("/g", FileUse::kOther);
  const bool done = (*in_order)->Read(1, &got, scratch).ok() && (*in_order)->Skip(1).ok() &&
                    (*anywhere)->Read(0, 1, &got, scratch).ok() && (*file)->Append("").ok() &&
                    (*file)->Flush().ok() && (*file)->Sync().ok() && (*file)->Close().ok() &&
                    files_.FileExists("/f") && files_.GetChildren("/", &names).ok() &&
                    files_.RemoveFile("/g").ok() && files_.CreateDir("/d").ok() &&
                    files_.RemoveDir("/d").ok() && files_.GetFileSize("/f").has_value() &&
                    files_.RenameFile("/f", "/h").ok() && files_.LinkFile("/h", "/i").ok() &&
                    files_.Truncate("/h", 1).ok() && files_.SyncDir("/").ok() &&
                    files_.LockFile("/LOCK").has_value();
  ASSERT_TRUE(done);
  ASSERT_EQ(kinds.size(), static_cast<size_t>(FileCallKind::kLockFile) + 1);
  for (size_t i = 0; i < kinds.size(); i++) {
    EXPECT_EQ(static_cast<size_t>(kinds[i]), i) << FileCallName(kinds[i]);
  }
  EXPECT_EQ(FileCallName(FileCallKind::kLockFile), "LockFile");
}

}  // namespace
}  // namespace weft::base
