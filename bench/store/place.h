// bench/store/place.h: a folder for stores, which is removed with its object.
//
// Threads: one.
#pragma once

#include <string>
#include <vector>

#include "weft/status.h"

namespace weft::bench {

class Place {
 public:
  // "memory": a file system in memory; "disk": the build folder; anything else: a folder to make
  // one in.
  static Result<Place> Make(const std::string& where);
  ~Place();
  Place(Place&& other) noexcept : name_(std::move(other.name_)), dir_(std::move(other.dir_)) {
    other.dir_.clear();
  }
  Place& operator=(Place&&) = delete;

  const std::string& name() const { return name_; }  // "memory", "disk" or the folder
  // Path of `name` in it; what was there is removed.
  std::string Fresh(const std::string& name) const;
  // Makes the system write what it holds back, so that the next turn does not pay for it.
  void Sync() const;

 private:
  Place(std::string name, std::string dir) : name_(std::move(name)), dir_(std::move(dir)) {}

  std::string name_;
  std::string dir_;
};

}  // namespace weft::bench
