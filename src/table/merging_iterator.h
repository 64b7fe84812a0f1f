// table/merging_iterator.h: several sorted iterators as one, both ways.
//
// Order     keys ascending; equal keys of several children in the order of the children.
// Threads   one at a time. Comparator and order must outlive the iterator.
// Errors    a child that fails ends the whole: what it would have told could hide what others have.
//           status() is then the child's.
// Cost      one comparison a Next while one child stays in front; log2(children) more where the
//           front changes. Children's keys are kept, so that comparing calls no child.
#pragma once

#include <memory>
#include <vector>

#include "table/key_order.h"
#include "weft/iterator.h"

namespace weft::table {

// Of keys unique within each child. One child: that child itself; none: an empty iterator.
std::unique_ptr<Iterator> NewMergingIterator(const KeyOrder& order,
                                             std::vector<std::unique_ptr<Iterator>> children);

// An iterator of nothing, with this status.
std::unique_ptr<Iterator> NewEmptyIterator(Status status = {});

}  // namespace weft::table
