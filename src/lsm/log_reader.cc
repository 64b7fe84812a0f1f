#include "lsm/log_reader.h"

#include <algorithm>
#include <utility>

#include "base/coding.h"
#include "base/crc32c.h"
#include "base/read_around.h"
#include "base/read_on.h"
#include "lsm/log_resync.h"
#include "lsm/lost_sectors.h"
#include "lsm/record_window.h"
#include "lsm/torn_batch.h"

namespace weft::lsm {
namespace {

// Each may cost a checksum of the block.
constexpr int kMendsPerBlock = 64;
// Each may cost reading the block again, and the record's beginning.
constexpr int kJudgementsPerBlock = 16;

size_t PayloadBytes(const char* header) {
  return static_cast<size_t>(static_cast<uint8_t>(header[4])) |
         static_cast<size_t>(static_cast<uint8_t>(header[5])) << 8;
}

bool Begins(FragmentType type) {
  return type == FragmentType::kFull || type == FragmentType::kFirst;
}

}  // namespace

LogReader::LogReader(SequentialFile* file, Reporter* reporter, Mode mode)
    : file_(file),
      reporter_(reporter),
      mode_(mode),
      buffer_(std::make_unique_for_overwrite<char[]>(kLogBlockBytes)) {}

LogReader::~LogReader() = default;

void LogReader::Expect(RecordKind kind, FileSystem* files, std::string path,
                       std::optional<uint64_t> before) {
  kind_ = kind;
  files_ = files;
  path_ = std::move(path);
  window_ = std::make_unique<RecordWindow>(files_, path_, kind_, before);
}

bool LogReader::Read(std::string_view* record) {
  while (end_ == LogEnd::kNotYet) {
    Fragment fragment;
    switch (NextFragment(&fragment)) {
      case Next::kEnd: EndHere(); break;
      case Next::kBad:
        if (mode_ == Mode::kStop) {
          Stop();
        } else if (IsTorn()) {
          EndTorn();
        } else if (end_ != LogEnd::kNotYet) {
          break;
        } else if (Mend(&fragment)) {
          if (Take(fragment, record)) return true;
        } else {
          PassBad();
        }
        break;
      case Next::kFragment:
        if (Take(fragment, record)) return true;
        break;
    }
  }
  return false;
}

LogReader::Next LogReader::NextFragment(Fragment* fragment) {
  // What is too short for a header at a whole block's end is filling.
  while (block_.size() - at_ < kLogHeaderBytes) {
    if (at_ < block_.size() && block_.size() < kLogBlockBytes) {
      reason_ = "the file ends inside a header";
      return Next::kBad;
    }
    if (!NextBlock()) return Next::kEnd;
  }
  if (!ParseAt(at_, fragment)) return Next::kBad;
  if (!Begins(fragment->type) && !in_record_) {
    reason_ = "a record without its start";
    return Next::kBad;
  }
  at_ += kLogHeaderBytes + fragment->payload.size();
  return Next::kFragment;
}

bool LogReader::NextBlock() {
  block_offset_ += block_.size();
  const bool was_last = !block_.empty() && block_.size() < kLogBlockBytes;
  block_ = {};
  at_ = 0;
  searched_ = false;
  mends_left_ = mode_ == Mode::kSalvage ? kMendsPerBlock : 0;
  judgements_left_ = mode_ == Mode::kSalvage ? kJudgementsPerBlock : 0;
  if (was_last || !status_.ok()) return false;
  status_ = base::ReadOn(file_, kLogBlockBytes, &block_, buffer_.get());
  if (!status_.ok()) block_ = {};
  return !block_.empty();
}

bool LogReader::ParseAt(size_t at, Fragment* fragment) {
  const char* header = block_.data() + at;
  const size_t left = block_.size() - at;
  if (left < kLogHeaderBytes || !IsFragmentType(header[6])) {
    reason_ = "not a record's header";
    return false;
  }
  const size_t bytes = PayloadBytes(header);
  if (bytes > left - kLogHeaderBytes) {
    reason_ = "a record that is longer than its block";
    return false;
  }
  const uint32_t crc = base::Crc32c(header + 6, 1 + bytes);
  if (base::MaskCrc32c(crc) != base::DecodeFixed32(header)) {
    reason_ = "wrong checksum";
    return false;
  }
  fragment->type = static_cast<FragmentType>(header[6]);
  fragment->payload = block_.substr(at + kLogHeaderBytes, bytes);
  fragment->offset = block_offset_ + at;
  return true;
}

bool LogReader::Take(const Fragment& fragment, std::string_view* record) {
  if (Begins(fragment.type)) {
    // An old writer's empty kFirst at a block's end has nothing that could be lost.
    if (in_record_ && !partial_.empty()) DropPartial(fragment.offset, "a record without its end");
    in_record_ = true;
    partial_offset_ = fragment.offset;
    partial_searched_ = searched_;
    partial_.clear();
  }
  const bool ends = fragment.type == FragmentType::kFull || fragment.type == FragmentType::kLast;
  if (fragment.type == FragmentType::kFull) {
    *record = fragment.payload;
  } else {
    partial_.append(fragment.payload);
    *record = partial_;
  }
  if (!ends) return false;
  in_record_ = false;
  record_offset_ = partial_offset_;
  valid_bytes_ = position();
  damaged_ = damaged_ || dropped_;
  dropped_ = false;
  if (window_ != nullptr) window_->Note(*record, !partial_searched_, valid_bytes_);
  return true;
}

// As an opening judges it. But where the checksum holds for another type, and nothing follows, the
// record is all there.
bool LogReader::IsTorn() {
  Fragment whole;
  if (window_ == nullptr || kind_ != RecordKind::kBatch) return false;
  if (judgements_left_ == 0 || AllZeros(block_.substr(at_))) return false;
  const std::string_view reason = reason_;
  if (ParseAt(at_, &whole)) return false;  // it is in the wrong place
  reason_ = reason;
  judgements_left_--;
  auto file = base::AroundFile::Open(files_, path_);
  // Perhaps the next record, behind one that its writer gave up.
  const bool begins =
      block_.size() - at_ >= kLogHeaderBytes && Begins(static_cast<FragmentType>(block_[at_ + 6]));
  const uint64_t from = in_record_ && !begins ? partial_offset_ : position();
  Result<bool> torn =
      file ? IsTornBatch(file->get(), from, window_->last_sure()) : Result<bool>(file.error());
  if (!torn) {
    status_ = torn.error();
    end_ = LogEnd::kReadError;
    return false;
  }
  if (!*torn) return false;
  const auto header = MendHeader(block_, at_);
  return !header || !(Begins(header->type) || in_record_) ||
         !AllZeros(block_.substr(at_ + kLogHeaderBytes + header->payload_bytes));
}

void LogReader::EndTorn() {
  const uint64_t from = in_record_ ? partial_offset_ : position();
  const uint64_t bytes = block_offset_ + block_.find_last_not_of('\0') + 1 - from;
  Report(from, bytes, reason_);
  in_record_ = false;
  dropped_ = true;
  while (NextBlock()) continue;
  EndHere();
}

bool LogReader::Mend(Fragment* fragment) {
  Fragment whole;
  if (mends_left_ == 0 || ParseAt(at_, &whole)) return false;  // whole, and in the wrong place
  mends_left_--;
  const auto header = MendHeader(block_, at_);
  if (!header || (!Begins(header->type) && !in_record_)) return false;
  *fragment = {header->type, block_.substr(at_ + kLogHeaderBytes, header->payload_bytes),
               position()};
  if (reporter_ != nullptr) reporter_->Mended(position());
  at_ += kLogHeaderBytes + header->payload_bytes;
  return true;
}

void LogReader::PassBad() {
  if (in_record_) {
    dropped_ = true;
    DropPartial(position(), "a record that is damaged further on");
  }
  Fragment whole;
  const std::string_view reason = reason_;
  const size_t skip =
      ParseAt(at_, &whole) ? kLogHeaderBytes + whole.payload.size() : BytesToPassBad();
  if (!AllZeros(block_.substr(at_, skip))) {
    dropped_ = true;
    Report(position(), skip, reason);
  }
  at_ += skip;
}

size_t LogReader::BytesToPassBad() {
  SearchTerms terms;
  terms.kind = kind_;
  if (window_ != nullptr) terms = window_->TermsFor(block_offset_, block_.size());
  if (const size_t bytes = BytesToPassOver(block_, at_, terms); bytes != 0) return bytes;
  if (mode_ != Mode::kSalvage) return block_.size() - at_;
  searched_ = true;
  return BytesToNextFragment(block_, at_, terms);
}

// The bytes of a sector that was lost are zeros from the last sync on. So the zeros reach from the
// fragment's last byte in it, or before, to the sector's end: what follows there came later. They
// begin with the fragment or with the sector, unless the sync met a record half written.
void LogReader::LookForLostSector() {
  const size_t left = block_.size() - at_;
  misses_sector_ = MayBeHidden(block_, at_);
  size_t bytes = std::min(left, kLogHeaderBytes);
  if (left >= kLogHeaderBytes && IsFragmentType(block_[at_ + 6])) {
    const size_t whole = kLogHeaderBytes + PayloadBytes(block_.data() + at_);
    if (whole <= left) bytes = whole;  // else the header is wrong, and says nothing
  }
  const size_t behind = at_ + bytes;
  for (size_t sector = at_ / kSectorBytes; sector * kSectorBytes < behind; ++sector) {
    const size_t begin = std::max(at_, sector * kSectorBytes);
    const size_t end = std::min((sector + 1) * kSectorBytes, block_.size());
    const size_t last = block_.substr(begin, end - begin).find_last_not_of('\0');
    const size_t zeros = last == std::string_view::npos ? begin : begin + last + 1;
    if (zeros >= std::min(behind, end)) continue;
    misses_whole_sector_ = misses_whole_sector_ || zeros == begin;
    misses_sector_ = misses_sector_ || zeros == begin || end - zeros >= kLostBytesMin;
  }
}

bool LogReader::CutShort() const {
  if (block_.size() == kLogBlockBytes) return false;
  const size_t left = block_.size() - at_;
  if (left < kLogHeaderBytes) return true;
  const char* const header = block_.data() + at_;
  const size_t whole = kLogHeaderBytes + PayloadBytes(header);
  if (!IsFragmentType(header[6]) || whole <= left || at_ + whole > kLogBlockBytes) return false;
  // Where all of it is there, its length alone is wrong.
  const uint32_t crc = base::Crc32c(header + 6, left - 6);
  return base::MaskCrc32c(crc) != base::DecodeFixed32(header);
}

void LogReader::Stop() {
  LookForLostSector();
  cut_short_ = CutShort();
  const uint64_t from = in_record_ ? partial_offset_ : position();
  const std::string_view reason = reason_;
  const Beyond beyond = LookBeyond();
  record_begins_beyond_ = beyond.begins;
  if (!status_.ok()) {
    end_ = LogEnd::kReadError;
  } else if (beyond.zeros && !in_record_) {
    end_ = LogEnd::kClean;
  } else {
    end_ = beyond.fragment ? LogEnd::kDamaged : LogEnd::kTorn;
    Report(from, file_bytes() - from, beyond.zeros ? "a record without its end" : reason);
  }
  in_record_ = false;
}

LogReader::Beyond LogReader::LookBeyond() {
  Beyond beyond;
  do {
    beyond.zeros = beyond.zeros && AllZeros(block_.substr(at_));
    // A damaged length leaves no other way to find the next record than to try every byte. Middles
    // count: a process that ended within a record left none behind the first byte that is wrong.
    for (; !beyond.zeros && !beyond.begins && at_ < block_.size(); ++at_) {
      Fragment fragment;
      if (!ParseAt(at_, &fragment)) continue;
      beyond.fragment = true;
      beyond.begins = Begins(fragment.type);
    }
  } while (NextBlock());
  return beyond;
}

void LogReader::EndHere() {
  const bool torn = in_record_ || dropped_;
  cut_short_ = cut_short_ || in_record_;
  if (in_record_) DropPartial(position(), "a record without its end");
  if (!status_.ok()) {
    end_ = LogEnd::kReadError;
  } else if (damaged_) {
    end_ = LogEnd::kDamaged;
  } else {
    end_ = torn ? LogEnd::kTorn : LogEnd::kClean;
  }
}

void LogReader::DropPartial(uint64_t end, std::string_view reason) {
  in_record_ = false;
  Report(partial_offset_, end - partial_offset_, reason);
}

void LogReader::Report(uint64_t offset, uint64_t bytes, std::string_view reason) {
  if (reporter_ != nullptr) reporter_->Dropped(offset, bytes, reason);
}

}  // namespace weft::lsm
