package explore

import "crypto/sha256"

// maxMemo bounds the entries of a memo, so that it takes at most 64 MiB.
const maxMemo = 1 << 20

// A memo has the crash states that recovered correctly, each with the expectations that it met. It
// has their hashes, since expectations may take kilobytes.
type memo map[[sha256.Size]byte]struct{}

func (m memo) has(key string) bool {
	_, is := m[sha256.Sum256([]byte(key))]
	return is
}

func (m memo) add(key string) {
	if len(m) >= maxMemo {
		clear(m) // later states that are equal to one of these are recovered again
	}
	m[sha256.Sum256([]byte(key))] = struct{}{}
}
