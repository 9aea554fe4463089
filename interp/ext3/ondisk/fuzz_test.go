package ondisk

import "testing"

// Each decoder answers any bytes with a value or an error.

func FuzzSuperblock(f *testing.F) {
	f.Add(make([]byte, SuperLen), uint64(1<<30))
	f.Fuzz(func(t *testing.T, b []byte, size uint64) {
		if len(b) < SuperLen {
			b = append(b, make([]byte, SuperLen-len(b))...)
		}
		b[SuperMagicAt], b[SuperMagicAt+1] = 0x53, 0xef
		g, err := ParseGeometry(b, size)
		if err == nil && (g.Groups == 0 || uint64(g.Blocks)*uint64(g.BlockSize) > size ||
			g.GroupOf(g.Blocks-1) != g.Groups-1) {
			t.Errorf("accepted %+v", g)
		}
	})
}

func FuzzXattrEntries(f *testing.F) {
	f.Add([]byte{}, 0, false)
	f.Add([]byte{0, 0}, 0, false)
	f.Add([]byte{1, 1, 20, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 'a', 0, 0, 0, 'x', 'y', 0, 0}, 0,
		false)
	f.Add(make([]byte, 1024), XattrHeadLen, true)
	f.Fuzz(func(t *testing.T, b []byte, first int, hashed bool) {
		if first < 0 || first > len(b) || len(b) > 1<<16 {
			return
		}
		if at, fault := CheckXattrEntries(b, first, hashed); at < 0 || at > len(b)+4 || fault == "" &&
			at != 0 {
			t.Errorf("fault %q at %d of %d", fault, at, len(b))
		}
	})
}

func FuzzPrepared(f *testing.F) {
	f.Add(make([]byte, MinBlockSize), make([]byte, MinBlockSize))
	f.Add(leaf(true), leaf(false))
	f.Fuzz(func(t *testing.T, b, before []byte) {
		if len(b) < MinBlockSize || len(before) < MinBlockSize {
			return
		}
		b, before = b[:MinBlockSize], before[:MinBlockSize]
		if feature, err := Prepared(b, func() ([]byte, error) { return before, nil }); err != nil {
			t.Errorf("%v, %v", feature, err)
		}
		if feature, _ := Prepared(b, func() ([]byte, error) { return b, nil }); feature != nil {
			t.Errorf("the block stays as it is, and prepares %v", feature)
		}
	})
}
