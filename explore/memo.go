package explore

import "crypto/sha256"

// maxMemo bounds what a memo has: 64 MiB with the map's own room.
const maxMemo = 1 << 20

// memo is the crash disks that are recovered as they should be, each with what was expected of it. What that is may take kilobytes, so that a
// hash stands for it.
type memo map[[sha256.Size]byte]struct{}

func (m memo) has(key string) bool {
	_, is := m[sha256.Sum256([]byte(key))]
	return is
}

func (m memo) add(key string) {
	if len(m) >= maxMemo {
		clear(m) // what is equal to one of these is recovered again
	}
	m[sha256.Sum256([]byte(key))] = struct{}{}
}
