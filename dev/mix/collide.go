package mix

import (
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
)

// MakeColliding makes n empty files in a folder. Each hash of Btrfs (btrfs_name_hash) is that of as
// many names as given.
func MakeColliding(dir string, n, names int) error {
	r := rand.New(rand.NewPCG(1, 0))
	for made := 0; made < n; {
		hash := r.Uint32()
		for i := 0; i < names && made < n; {
			name := withHash(fmt.Sprintf("%08x", r.Uint32()), hash)
			if slices.Contains(name, 0) || slices.Contains(name, '/') {
				continue
			}
			f, err := os.Create(filepath.Join(dir, string(name)))
			if err != nil {
				return err
			}
			if err := f.Close(); err != nil {
				return err
			}
			i, made = i+1, made+1
		}
	}
	return nil
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// withHash appends four bytes to a text, so that btrfs_name_hash of the result is hash. It walks
// the table of the checksum backwards from hash, which yields the entries that the four bytes must
// select, and then forwards from the text.
func withHash(text string, hash uint32) []byte {
	var entries [4]byte
	state := hash
	for i := 3; i >= 0; i-- {
		e := slices.IndexFunc(castagnoli[:], func(x uint32) bool { return x>>24 == state>>24 })
		entries[i] = byte(e)
		state = (state ^ castagnoli[e]) << 8
	}
	name := []byte(text)
	state = nameHash(name)
	for _, e := range entries {
		name = append(name, byte(state)^e)
		state = castagnoli[e] ^ state>>8
	}
	return name
}

// nameHash is btrfs_name_hash: the checksum without the inversions at its ends, seeded with ~1.
func nameHash(name []byte) uint32 {
	const seed = 1 // crc32.Update inverts it
	return ^crc32.Update(seed, castagnoli, name)
}
