package ext3

import "testing"

// TestRevokedData checks that revoked blocks are compared only if they are metadata or have a copy
// in the journal: a guest can revoke millions of blocks of data in one transaction.
func TestRevokedData(t *testing.T) {
	fs, d, w := replay(t, commits)
	m := fs.m
	tr, err := m.Log.Read(PendingDevice{d, w}, m.Log.head, m.Log.nextSeq)
	if err != nil {
		t.Fatal(err)
	}
	want := m.rewritten(tr, m.State)
	metadata := uint32(0)
	for b := range m.Geo.Blocks {
		_, copied := tr.Copies[b]
		if _, old := m.State.Copies[b]; old && !copied {
			want[b] = true
			tr.revoked.add(b)
		} else if m.metadata(b) && metadata == 0 && !copied {
			metadata = b
		} else if !m.metadata(b) && !copied {
			tr.revoked.add(b)
		}
	}
	tr.revoked.add(m.Geo.Blocks) // beyond the end
	tr.revoked.add(metadata)
	want[metadata] = true
	got := m.rewritten(tr, m.State)
	if tr.revoked.len() < int(m.Geo.Blocks)/2 || len(got) != len(want) || !got[metadata] {
		t.Errorf("%d revoked: %d blocks are compared, want %d", tr.revoked.len(), len(got), len(want))
	}
	for b := range want {
		if !got[b] {
			t.Errorf("block %d is not compared", b)
		}
	}
}

// TestRemoveFrom checks that a small and a large set remove the same.
func TestRemoveFrom(t *testing.T) {
	for _, more := range []uint32{0, 1000} {
		m, s := map[uint32]bool{1: true, 2: true, 3: true}, new(numberSet)
		s.add(2)
		for n := range more {
			s.add(10 + n)
		}
		if removeFrom(m, s); len(m) != 2 || m[2] {
			t.Errorf("with %d more numbers: %v", more, m)
		}
	}
}
