#include "tier/mailbox.h"

#include <utility>

namespace weft::tier {

void Mailbox::Put(Letter letter) {
  {
    base::MutexLock lock(&mutex_);
    letters_.push_back(std::move(letter));
  }
  ring_();
}

std::vector<Mailbox::Letter> Mailbox::Take() {
  std::vector<Letter> letters;
  {
    base::MutexLock lock(&mutex_);
    letters.swap(letters_);
  }
  for (Letter& letter : letters) {
    if (letter.room != nullptr) std::exchange(letter.room, nullptr)->GiveBack(letter.bytes);
  }
  return letters;
}

}  // namespace weft::tier
