// protocol/model_store_test_kit.h: a store simple enough to trust, so that tests can compare whole
// conversations with memcached's. Tests only.
//
// It answers as one memcached would that has unlimited memory and whose clock stands still.
// Threads   one.
#pragma once

#include <charconv>
#include <map>
#include <string>
#include <string_view>

#include "protocol/parse.h"
#include "protocol/reply.h"

namespace weft::protocol {

class ModelStore {
 public:
  explicit ModelStore(uint32_t now_s) : now_s_(now_s) {}

  cache::Reply Execute(const cache::Command& command) {
    const std::string key(command.key);
    auto found = objects_.find(key);
    if (found != objects_.end() && found->second.expiry != cache::kNeverExpires &&
        found->second.expiry <= now_s_) {
      objects_.erase(found);
    }
    switch (command.verb) {
      case cache::Verb::kRead: return Read(command, key);
      case cache::Verb::kStore: return Store(command, key);
      case cache::Verb::kDelete: return Delete(command, key);
      case cache::Verb::kArithmetic: return Count(command, key);
      case cache::Verb::kTouch: return Touch(command, key);
    }
    return {};
  }

  void Clear() { objects_.clear(); }

 private:
  struct Object {
    std::string value;
    uint32_t client_flags = 0;
    uint32_t expiry = 0;
    uint64_t cas = 0;
    bool stale = false, win_taken = false, read = false, binary_key = false;
  };

  cache::Reply Describe(const Object& object, Outcome outcome) const {
    cache::Reply reply;
    reply.outcome = outcome;
    reply.binary_key = object.binary_key;
    reply.client_flags = object.client_flags;
    if (object.expiry != 0) reply.ttl_s = static_cast<int32_t>(object.expiry - now_s_);
    reply.object_bytes = static_cast<uint32_t>(object.value.size());
    reply.cas = object.cas;
    reply.hit_before = object.read;
    reply.value = object.value;
    return reply;
  }

  static cache::Reply Only(Outcome outcome) {
    cache::Reply reply;
    reply.outcome = outcome;
    return reply;
  }

  uint64_t NextCas(const cache::Command& command) {
    return command.explicit_cas ? command.cas_new : ++cas_;
  }

  cache::Reply Read(const cache::Command& command, const std::string& key) {
    const bool created = objects_.count(key) == 0;
    if (created && !command.vivify) return Only(Outcome::kMiss);
    Object& object = objects_[key];
    if (created) {
      object = {"",   0,     command.vivify_expiry, NextCas(command), false,
                true, false, command.binary_key};
    }
    if (command.update_expiry) object.expiry = command.expiry;
    cache::Reply reply = Describe(object, created ? Outcome::kStored : Outcome::kHit);
    if (!created && command.hand_out_win) HandOutWin(command, &object, &reply);
    if (!command.quiet_access) object.read = true;
    return reply;
  }

  void HandOutWin(const cache::Command& command, Object* object, cache::Reply* reply) {
    reply->stale = object->stale;
    reply->win_taken = object->win_taken;
    const bool ends_soon = command.recache && reply->ttl_s >= 0 && reply->ttl_s < command.recache_s;
    if (!object->win_taken && (object->stale || ends_soon)) reply->won = object->win_taken = true;
  }

  cache::Reply Store(const cache::Command& command, const std::string& key) {
    auto found = objects_.find(key);
    const bool present = found != objects_.end();
    const bool joins = command.store_mode >= cache::StoreMode::kAppend;
    bool stale = false;
    if (command.compare_cas) {
      if (!present) return Only(Outcome::kMiss);
      stale = command.invalidate && command.cas_expected < found->second.cas;
      if (!stale && command.cas_expected != found->second.cas) return Only(Outcome::kExists);
    }
    if (command.store_mode == cache::StoreMode::kAdd
            ? present
            : command.store_mode != cache::StoreMode::kSet && !present && !command.vivify) {
      return Only(Outcome::kNotStored);
    }
    Object& object = objects_[key];
    const std::string added(command.value);
    if (joins && present) {
      object.value = command.store_mode == cache::StoreMode::kAppend ? object.value + added
                                                                     : added + object.value;
    } else {
      object = {added,
                command.client_flags,
                joins ? command.vivify_expiry : command.expiry,
                0,
                stale,
                false,
                false,
                command.binary_key};
    }
    object.cas = NextCas(command);
    return Describe(object, Outcome::kStored);
  }

  cache::Reply Delete(const cache::Command& command, const std::string& key) {
    auto found = objects_.find(key);
    if (found == objects_.end()) return Only(Outcome::kMiss);
    Object& object = found->second;
    if (command.compare_cas && command.cas_expected != object.cas) return Only(Outcome::kExists);
    if (command.drop_value) {
      object.value.clear();
      object.client_flags = 0;
    }
    if (command.invalidate) {
      object.stale = true;
      object.win_taken = false;
      object.cas = NextCas(command);
      if (command.update_expiry) object.expiry = command.expiry;
    } else if (!command.drop_value) {
      objects_.erase(found);
    }
    return Only(Outcome::kDeleted);
  }

  cache::Reply Count(const cache::Command& command, const std::string& key) {
    const bool created = objects_.count(key) == 0;
    if (created && !command.vivify) return Only(Outcome::kMiss);
    Object& object = objects_[key];
    uint64_t number = command.initial;
    if (created) {
      object.expiry = command.vivify_expiry;
    } else {
      if (command.compare_cas && command.cas_expected != object.cas) return Only(Outcome::kExists);
      const char* const end = object.value.data() + object.value.size();
      if (std::from_chars(object.value.data(), end, number).ptr != end || object.value.empty()) {
        return Only(Outcome::kNotNumeric);
      }
      number = !command.decrement       ? number + command.delta
               : number < command.delta ? 0
                                        : number - command.delta;
      if (command.update_expiry) object.expiry = command.expiry;
    }
    object.value = std::to_string(number);
    object.cas = NextCas(command);
    cache::Reply reply = Describe(object, created ? Outcome::kStored : Outcome::kNumber);
    reply.number = number;
    return reply;
  }

  cache::Reply Touch(const cache::Command& command, const std::string& key) {
    auto found = objects_.find(key);
    if (found == objects_.end()) return Only(Outcome::kMiss);
    found->second.expiry = command.expiry;
    return Only(Outcome::kTouched);
  }

  const uint32_t now_s_;
  uint64_t cas_ = 1000;  // so that the small versions of tests are old ones
  std::map<std::string, Object> objects_;
};

// What a server with `store` answers to `request`.
inline std::string Answer(Request request, ModelStore* store) {
  std::string text;
  const auto append = [&text](const Request& about, std::string_view key,
                              const cache::Reply& reply) {
    std::string bytes(ReplyBytesMax(about, key.size()) + reply.value.size() + 8, '\0');
    bytes.resize(static_cast<size_t>(WriteReply(about, key, reply, bytes.data()) - bytes.data()));
    text += bytes;
  };
  if (!request.text.empty()) {
    if (request.drop_key) store->Execute(request.command);
    return request.noreply ? "" : std::string(request.text);
  }
  if (request.kind == RequestKind::kFlushAll && request.flush_at_s == 0) store->Clear();
  if (request.kind == RequestKind::kVersion) return "VERSION 1.6.18\r\n";
  if (request.kind > RequestKind::kMetaDebug) {
    if (request.kind == RequestKind::kRefreshCerts) return std::string(kNoTlsText);
    return request.noreply || request.close ? "" : std::string(kOkText);
  }
  append(request, request.command.key, store->Execute(request.command));
  while (request.kind == RequestKind::kRead && NextKey(&request.keys, &request.command.key)) {
    append(request, request.command.key, store->Execute(request.command));
  }
  char end[8];
  return text.append(end, WriteEnd(request, ReadFailure::kNone, end));
}

}  // namespace weft::protocol
