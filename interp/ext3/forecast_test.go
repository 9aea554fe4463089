package ext3

import (
	"bytes"
	"maps"
	"slices"
	"testing"

	"fsward/change"
	"fsward/interp"
	"fsward/shareddata"
)

// Commits are forecast while the guest flushes. What is said of each write is the same as without, whether what comes is
// what was expected or not.
func TestForecast(t *testing.T) {
	base := unpack(t, shareddata.Path(t, "logs/ext3-default.base.img.zst"))
	log := unpack(t, shareddata.Path(t, "logs/ext3-default.log.zst"))
	const commits = 6 // of 21
	all := func(foreseen int) bool { return foreseen == commits }
	none := func(foreseen int) bool { return foreseen == 0 }
	first := func(fs *FS) interp.Write { return present(t, fs, fs.m.journal.block(fs.m.head)) }
	for _, tc := range []struct {
		name    string
		stop    bool // the forecast is stopped
		before  func(w interp.Write) bool
		between func(fs *FS) interp.Write         // is written after the forecast was made
		commit  func(w interp.Write)              // changes the commit block
		extend  func(w interp.Write) interp.Write // makes another write of it
		ends    bool                              // what comes is refused
		holds   func(foreseen int) bool
	}{
		{name: "as expected", holds: all},
		{name: "stopped", stop: true, holds: none},
		{name: "another time in the commit block", commit: func(w interp.Write) { w.Data[0x37]++ }, holds: all},
		{name: "the commit block of another transaction", commit: func(w interp.Write) { w.Data[11]++ }, ends: true, holds: none},
		{name: "a commit block in a longer write", extend: func(w interp.Write) interp.Write {
			w.Data = append(bytes.Clone(w.Data), make([]byte, w.Len)...)
			w.Len *= 2
			return w
		}, holds: none},
		{name: "data written meanwhile", between: func(fs *FS) interp.Write { return present(t, fs, fs.m.layout.geo.blocks-1) }, holds: all},
		{name: "a copy put into its place meanwhile", between: func(fs *FS) interp.Write {
			for _, b := range slices.Sorted(maps.Keys(fs.m.state.copies)) {
				if fs.m.metadata(b) {
					content, err := fs.m.state.block(b)
					if err != nil {
						t.Fatal(err)
					}
					return interp.Write{Off: fs.m.layout.geo.addr(b), Len: uint64(len(content)), Data: bytes.Clone(content)}
				}
			}
			return present(t, fs, fs.m.layout.geo.blocks-1)
		}, holds: all},
		{name: "the log written again", between: first, holds: none},
		{name: "the log written otherwise", between: func(fs *FS) interp.Write {
			w := first(fs)
			w.Data[12] ^= 0x80 // a block far behind the end
			return w
		}, ends: true, holds: none},
		{name: "the journal's superblock written", between: func(fs *FS) interp.Write { return present(t, fs, fs.m.journal.block(0)) }, holds: none},
		{name: "too early", before: func(w interp.Write) bool { return w.Off/4096%3 == 0 }, holds: func(int) bool { return true }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := open(t, base)
			plain, ahead := newFS(t, d), newFS(t, d)
			seen, foreseen := 0, 0
			var expected *change.Txn
			show := func(w interp.Write) bool {
				want, got := plain.Observe(w), ahead.Observe(w)
				if a, b := observed(want), observed(got); !slices.Equal(a, b) {
					t.Fatalf("write at %d: with a forecast %.2000q, without %.2000q", w.Off, b, a)
				}
				if (want.Txn == nil) != (got.Txn == nil) || want.Txn != nil && !slices.Equal(want.Txn.Records, got.Txn.Records) {
					t.Fatalf("write at %d: the records differ", w.Off)
				}
				if got.Point == interp.CommitPoint {
					seen++
					if got.Txn != nil && got.Txn == expected {
						foreseen++
					}
				}
				d.apply(w)
				plain.Settle(true)
				ahead.Settle(true)
				return len(want.Violations) == 0 && want.Unknown == nil
			}
			going := true
			writes(t, log, func(w interp.Write) {
				comes := ahead.m != nil && w.Len == uint64(ahead.m.layout.geo.blockSize) && isCommit(w.Data, ahead.m.seq)
				if !going || seen == commits {
					return
				}
				if comes || tc.before != nil && tc.before(w) {
					if fc := ahead.Forecast(); fc != nil {
						if tc.stop {
							fc.Stop()
						}
						p, ok := fc.Prepare()
						if comes && ok == tc.stop {
							t.Errorf("prepared: %t", ok)
						}
						if expected = p.Txn; tc.between != nil {
							going = show(tc.between(ahead))
						}
					} else if comes && tc.before == nil {
						t.Error("no forecast before a commit")
					}
				}
				if comes && tc.commit != nil {
					tc.commit(w)
				}
				if comes && tc.extend != nil {
					w = tc.extend(w)
				}
				going = going && show(w)
			})
			if !tc.holds(foreseen) || tc.ends == going {
				t.Errorf("%d commits, %d of them foreseen", seen, foreseen)
			}
		})
	}
}

// present is a write of what is on the device.
func present(t *testing.T, fs *FS, block uint32) interp.Write {
	b, err := readBlock(fs.disk, fs.m.layout.geo, block)
	if err != nil {
		t.Fatal(err)
	}
	return interp.Write{Off: fs.m.layout.geo.addr(block), Len: uint64(len(b)), Data: b}
}

func newFS(t *testing.T, d interp.Disk) *FS {
	fs, err := New(d)
	if err != nil {
		t.Fatal(err)
	}
	return fs
}

// observed writes what an observation says beside the records as text.
func observed(obs interp.Observation) []string {
	var out []string
	for _, v := range obs.Violations {
		out = append(out, v.Rule+" "+v.Tree+" "+v.ID+" "+v.Detail)
	}
	if obs.Unknown != nil {
		out = append(out, obs.Unknown.Error())
	}
	return append(out, obs.Note)
}
