package btrfs

// spanBytes is what a subtree takes that a comparison keeps in mind: a span of 88 bytes, in a slice
// that grows, and its places in the maps of a treeDiff; or its place in a logState.
const spanBytes = 256

// spanPiece is for how many bytes of spans the room is asked at a time.
const spanPiece = 1 << 20

// addSpan keeps a subtree in mind. A node of 64 KiB has two thousand children: where a transaction
// rewrote the inner nodes of a large tree, there are far more of them than blocks that it wrote.
func (t *treeDiff) addSpan(s span) {
	t.spans = append(t.spans, s)
	t.out.otherBytes += spanBytes
	if t.out.otherBytes%spanPiece != 0 {
		return
	}
	if err := t.out.makeRoom(); err != nil {
		t.fault(err)
	}
}
