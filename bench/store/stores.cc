#include <algorithm>

#include "bench/store/store.h"

namespace weft::bench {
namespace {

struct Kind {
  std::string name;
  Result<std::unique_ptr<Store>> (*open)(const StoreSettings&, const std::string&);
  std::string (*title)();
  bool has_background_threads;  // as many as the settings say
  std::string missing = {};     // why it was left out of the build
};

std::vector<Kind> MakeKinds() {
  std::vector<Kind> kinds;
  kinds.push_back({"weft", store_internal::OpenWeft, [] { return std::string("weft"); }, true});
#ifdef WEFT_BENCH_HAS_LEVELDB
  kinds.push_back({"leveldb", store_internal::OpenLevelDb, store_internal::LevelDbTitle, false});
#else
  kinds.push_back({"leveldb", nullptr, nullptr, false, WEFT_BENCH_WHY_NO_LEVELDB});
#endif
#ifdef WEFT_BENCH_HAS_ROCKSDB
  kinds.push_back({"rocksdb", store_internal::OpenRocksDb, store_internal::RocksDbTitle, true});
#else
  kinds.push_back({"rocksdb", nullptr, nullptr, true, WEFT_BENCH_WHY_NO_ROCKSDB});
#endif
  return kinds;
}

const std::vector<Kind>& Kinds() {
  static const std::vector<Kind> kinds = MakeKinds();
  return kinds;
}

const Kind* Find(const std::string& name) {
  const auto& kinds = Kinds();
  const auto at =
      std::find_if(kinds.begin(), kinds.end(), [&](const Kind& kind) { return kind.name == name; });
  return at == kinds.end() ? nullptr : &*at;
}

}  // namespace

const char* NameOf(StoreCompression compression) {
  return compression == StoreCompression::kNone ? "none" : "snappy";
}

const std::vector<std::string>& StoreNames() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const Kind& kind : Kinds()) all.push_back(kind.name);
    return all;
  }();
  return names;
}

std::string StoreTitle(const std::string& name) {
  const Kind* kind = Find(name);
  return kind != nullptr && kind->title != nullptr ? kind->title() : name;
}

bool HasBackgroundThreads(const std::string& name) {
  const Kind* kind = Find(name);
  return kind != nullptr && kind->has_background_threads;
}

std::string WhyUnavailable(const std::string& name) {
  const Kind* kind = Find(name);
  return kind == nullptr ? "unknown store" : kind->missing;
}

Result<std::unique_ptr<Store>> OpenStore(const std::string& name, const StoreSettings& settings,
                                         const std::string& dir) {
  const std::string why = WhyUnavailable(name);
  if (!why.empty()) return Status(Code::kUnsupported, name + ": " + why);
  return Find(name)->open(settings, dir);
}

}  // namespace weft::bench
