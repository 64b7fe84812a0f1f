// Files: a program's, in memory, and the system's.
#include <algorithm>
#include <atomic>
#include <vector>

#include "leveldb/env.h"
#include "leveldb/helpers/memenv.h"
#include "leveldb_cpp.h"

namespace program {

// Counts calls and fails writes on demand.
class Meddling final : public leveldb::EnvWrapper {
 public:
  explicit Meddling(leveldb::Env* base) : EnvWrapper(base) {}
  Status NewWritableFile(const std::string& f, leveldb::WritableFile** r) override {
    writables++;
    if (fail) return Status::IOError("made up");
    const Status status = target()->NewWritableFile(f, r);
    if (status.ok()) *r = new File(*r, this);  // freed by the caller
    return status;
  }
  Status NewRandomAccessFile(const std::string& f, leveldb::RandomAccessFile** r) override {
    readers++;
    return target()->NewRandomAccessFile(f, r);
  }
  Status NewLogger(const std::string& f, leveldb::Logger** r) override {
    loggers++;
    return target()->NewLogger(f, r);
  }

  std::atomic<int> writables{0}, readers{0}, loggers{0}, syncs{0};
  std::atomic<bool> fail{false};

 private:
  class File final : public leveldb::WritableFile {
   public:
    File(leveldb::WritableFile* file, Meddling* env) : file_(file), env_(env) {}
    Status Append(const Slice& data) override {
      return env_->fail ? Status::IOError("made up") : file_->Append(data);
    }
    Status Close() override { return file_->Close(); }
    Status Flush() override { return file_->Flush(); }
    Status Sync() override {
      env_->syncs++;
      return file_->Sync();
    }

   private:
    const std::unique_ptr<leveldb::WritableFile> file_;
    Meddling* const env_;
  };
};

class CollectingLogger final : public leveldb::Logger {
 public:
  void Logv(const char* format, std::va_list ap) override {
    char room[1000];
    std::vsnprintf(room, sizeof room, format, ap);
    lines++;
  }
  std::atomic<int> lines{0};
};

void OwnEnv(const std::string& name) {
  std::printf("-- own env\n");
  Meddling env(leveldb::Env::Default());
  Options options = Create();
  options.env = &env;
  {
    const std::unique_ptr<DB> db = OpenOrDie(options, name);
    Fill(db.get(), 2000, 100, 19);
    db->CompactRange(nullptr, nullptr);
    WriteOptions sync;
    sync.sync = true;
    db->Put(sync, "sync", "1");
    PrintContents("contents", db.get(), ReadOptions());
    std::printf("called %d %d %d %d\n", env.writables > 2, env.readers > 0, env.loggers == 1,
                env.syncs > 1);
    env.fail = true;
    PrintKind("failing write", db->Put(WriteOptions(), "lost", "1"));
    env.fail = false;
    std::string value;
    PrintKind("failed write is not there", db->Get(ReadOptions(), "lost", &value));
    PrintContents("contents", db.get(), ReadOptions());
  }
  CollectingLogger logger;
  options.info_log = &logger;
  {
    const std::unique_ptr<DB> db = OpenOrDie(options, name);
    PrintContents("contents, reopened", db.get(), ReadOptions());
    db->CompactRange(nullptr, nullptr);
  }
  std::printf("logged %d %d\n", logger.lines > 0, env.loggers == 1);
  Print("destroyed", leveldb::DestroyDB(name, options));
}

void InMemory() {
  std::printf("-- in memory\n");
  const std::unique_ptr<leveldb::Env> env(leveldb::NewMemEnv(leveldb::Env::Default()));
  Options options = Create();
  options.env = env.get();
  options.write_buffer_size = 64 << 10;
  for (int round = 0; round < 3; round++) {
    options.reuse_logs = round == 2;
    const std::unique_ptr<DB> db = OpenOrDie(options, "/nowhere/db");
    PrintContents("before", db.get(), ReadOptions());
    Fill(db.get(), 3000, 100, static_cast<uint64_t>(round) + 23);
    PrintContents("after", db.get(), ReadOptions());
  }
  Print("a file", leveldb::WriteStringToFile(env.get(), "text", "/nowhere/file"));
  std::string text;
  Print("read", leveldb::ReadFileToString(env.get(), "/nowhere/file", &text));
  Print("text", text);
  uint64_t bytes = 0;
  Print("size", env->GetFileSize("/nowhere/file", &bytes));
  Print("bytes", bytes);
  Print("missing", leveldb::ReadFileToString(env.get(), "/nowhere/none", &text));
  Print("remove missing", env->RemoveFile("/nowhere/none"));
  Print("rename", env->RenameFile("/nowhere/file", "/else/file"));
  std::vector<std::string> names;
  Print("children", env->GetChildren("/else", &names));
  Print("children", names.size() == 1 ? names[0] : "not one");
  Print("destroyed", leveldb::DestroyDB("/nowhere/db", options));
  env->GetChildren("/nowhere/db", &names);
  Print("left", static_cast<uint64_t>(names.size()));
  env->GetTestDirectory(&text);
  Print("test folder", text);
}

// --- The system's Env ---

std::atomic<int> scheduled{0};
void Count(void* by) { scheduled += *static_cast<int*>(by); }

void ReadsOfFiles(leveldb::Env* env, const std::string& file) {
  Print("write", leveldb::WriteStringToFile(env, std::string(200000, 'x'), file));
  std::string text;
  Print("read", leveldb::ReadFileToString(env, file, &text));
  Print("bytes", text.size());
  leveldb::WritableFile* writable;
  Print("append", env->NewAppendableFile(file, &writable));
  writable->Append("tail");
  Print("sync", writable->Sync());
  Print("close", writable->Close());
  delete writable;
  uint64_t bytes = 0;
  Print("size", env->GetFileSize(file, &bytes));
  Print("bytes", bytes);

  leveldb::RandomAccessFile* random;
  Print("random", env->NewRandomAccessFile(file, &random));
  char scratch[16];
  Slice piece;
  Print("read", random->Read(199998, 6, &piece, scratch));
  Print("piece", piece.ToString());
  delete random;
  leveldb::SequentialFile* sequential;
  Print("sequential", env->NewSequentialFile(file, &sequential));
  Print("skip", sequential->Skip(199999));
  sequential->Read(3, &piece, scratch);
  Print("piece", piece.ToString());
  delete sequential;
}

void NamesOfFiles(leveldb::Env* env, const std::string& folder, const std::string& file) {
  const std::string other = folder + "/other";
  Print("rename", env->RenameFile(file, other));
  std::printf("exists %d %d\n", env->FileExists(file), env->FileExists(other));
  leveldb::SequentialFile* sequential;
  PrintKind("missing, open", env->NewSequentialFile(file, &sequential));
  std::printf("null %d\n", sequential == nullptr);
  uint64_t bytes = 0;
  PrintKind("missing, size", env->GetFileSize(file, &bytes));
  PrintKind("missing, remove", env->RemoveFile(file));
  std::vector<std::string> names;
  PrintKind("missing, children", env->GetChildren(folder + "/none", &names));
  Print("children", env->GetChildren(folder, &names));
  names.erase(std::remove_if(names.begin(), names.end(),
                             [](const std::string& name) { return name[0] == '.'; }),
              names.end());
  Print("children", names.size() == 1 ? names[0] : "not one");

  leveldb::FileLock *lock, *second;
  Print("lock", env->LockFile(folder + "/lock", &lock));
  PrintKind("lock again", env->LockFile(folder + "/lock", &second));
  Print("unlock", env->UnlockFile(lock));
  Print("lock after", env->LockFile(folder + "/lock", &lock));
  env->UnlockFile(lock);
  PrintKind("remove folder that is not empty", env->RemoveDir(folder));
  env->RemoveFile(folder + "/lock");
  Print("remove", env->RemoveFile(other));
  Print("remove folder", env->RemoveDir(folder));
}

void ThreadsAndTime(leveldb::Env* env) {
  int one = 1, hundred = 100;
  for (int i = 0; i < 50; i++) env->Schedule(&Count, &one);
  env->StartThread(&Count, &hundred);
  while (scheduled < 150) env->SleepForMicroseconds(1000);
  Print("scheduled", static_cast<uint64_t>(scheduled.load()));
  const uint64_t before = env->NowMicros();
  env->SleepForMicroseconds(2000);
  std::printf("time %d\n", env->NowMicros() >= before + 2000);
  std::string text;
  Print("test folder", env->GetTestDirectory(&text));
  Print("test folder", text);
  leveldb::Logger* logger;
  Print("logger", env->NewLogger(text + "/LOG", &logger));
  leveldb::Log(logger, "a line with %d and %s", 7, std::string(2000, 'y').c_str());
  leveldb::Log(logger, "with its end\n");
  leveldb::Log(nullptr, "nowhere %d", 1);
  delete logger;
  leveldb::ReadFileToString(env, text + "/LOG", &text);
  std::printf("log %d %d %d\n", text.find("a line with 7 and yyy") != std::string::npos,
              static_cast<int>(std::count(text.begin(), text.end(), '\n')),
              static_cast<int>(std::count(text.begin(), text.end(), 'y')));
}

void SystemEnv(const std::string& folder) {
  std::printf("-- env\n");
  leveldb::Env* env = leveldb::Env::Default();
  Print("folder", env->CreateDir(folder));
  PrintKind("folder again", env->CreateDir(folder));
  ReadsOfFiles(env, folder + "/file");
  NamesOfFiles(env, folder, folder + "/file");
  ThreadsAndTime(env);
}

}  // namespace program
