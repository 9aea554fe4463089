package ext3

import (
	"bytes"
	"maps"
	"slices"
	"testing"

	"fsward/interp"
	"fsward/interp/ext3/ondisk"
	"fsward/interp/forecasttest"
	"fsward/shareddata"
)

// A forecastCase changes something between a flush and the commit, and says whether forecasts then
// come true.
type forecastCase struct {
	name    string
	stop    bool                              // the forecast is stopped
	before  func(w interp.Write) bool         // reports whether there is a flush before w too
	between func(fs *FS) interp.Write         // returns a write after the forecast
	commit  func(w interp.Write)              // changes the commit block
	extend  func(w interp.Write) interp.Write // replaces the write of the commit block
	refuses bool                              // the change leads to a refusal
	holds   func(foreseen int) bool           // checks the number of forecasts that come true
}

// forecastCommits is the number of commits of the log that a forecastCase follows, of 21.
const forecastCommits = 6

// TestForecast checks that commits are forecast while the guest flushes. The observation of each
// write is the same with and without forecasts, whether a forecast comes true or not.
func TestForecast(t *testing.T) {
	base := Unpack(t, shareddata.Path(t, "logs/ext3-default.base.img.zst"))
	log := Unpack(t, shareddata.Path(t, "logs/ext3-default.log.zst"))
	all := func(foreseen int) bool { return foreseen == forecastCommits }
	none := func(foreseen int) bool { return foreseen == 0 }
	first := func(fs *FS) interp.Write { return present(t, fs, fs.m.Log.Block(fs.m.Log.head)) }
	for _, tc := range []forecastCase{
		{name: "as expected", holds: all},
		{name: "stopped", stop: true, holds: none},
		{name: "another time in the commit block", commit: func(w interp.Write) { w.Data[0x37]++ },
			holds: all},
		{name: "the commit block of another transaction", commit: func(w interp.Write) { w.Data[11]++ },
			refuses: true, holds: none},
		{name: "a commit block in a longer write", extend: func(w interp.Write) interp.Write {
			w.Data = append(bytes.Clone(w.Data), make([]byte, w.Len)...)
			w.Len *= 2
			return w
		}, holds: none},
		{name: "data written meanwhile", between: func(fs *FS) interp.Write {
			return present(t, fs, fs.m.Geo.Blocks-1)
		}, holds: all},
		{name: "a copy put into its place meanwhile",
			between: func(fs *FS) interp.Write { return checkpoint(t, fs) }, holds: all},
		{name: "the log written again", between: first, holds: none},
		{name: "the log written otherwise", between: func(fs *FS) interp.Write {
			w := first(fs)
			w.Data[12] ^= 0x80 // a block far behind the end
			return w
		}, refuses: true, holds: none},
		{name: "the journal's superblock written", between: func(fs *FS) interp.Write {
			return present(t, fs, fs.m.Log.Block(0))
		}, holds: none},
		{name: "too early", before: func(w interp.Write) bool { return w.Off/4096%3 == 0 },
			holds: func(int) bool { return true }},
	} {
		t.Run(tc.name, func(t *testing.T) { tc.run(t, base, log) })
	}
}

// run follows a log with and without forecasts.
func (tc forecastCase) run(t *testing.T, base, log string) {
	d := OpenImage(t, base)
	ahead := newFS(t, d)
	pair := &forecasttest.Pair{Plain: withoutKept(t, d), Ahead: ahead, Apply: d.Apply}
	going := true
	writes(t, log, func(w interp.Write) {
		comes := ahead.m != nil && w.Len == uint64(ahead.m.Geo.BlockSize) &&
			ondisk.IsCommit(w.Data, ahead.m.Log.nextSeq)
		if !going || pair.Commits == forecastCommits {
			return
		}
		if comes || tc.before != nil && tc.before(w) {
			made, ok := pair.Forecast(tc.stop)
			switch {
			case made:
				if comes && ok == tc.stop {
					t.Errorf("prepared: %t", ok)
				}
				if tc.between != nil {
					going = pair.Show(t, tc.between(ahead))
				}
			case comes && tc.before == nil:
				t.Error("no forecast before a commit")
			}
		}
		if comes && tc.commit != nil {
			tc.commit(w)
		}
		if comes && tc.extend != nil {
			w = tc.extend(w)
		}
		going = going && pair.Show(t, w)
	})
	if !tc.holds(pair.Foreseen) || tc.refuses == going {
		t.Errorf("%d commits, %d of them foreseen", pair.Commits, pair.Foreseen)
	}
}

// checkpoint returns a write of a committed metadata block to its place. If there is none, it
// writes the last block of the file system again.
func checkpoint(t *testing.T, fs *FS) interp.Write {
	for _, b := range slices.Sorted(maps.Keys(fs.m.State.Copies)) {
		if fs.m.metadata(b) {
			content, err := fs.m.State.Block(b)
			if err != nil {
				t.Fatal(err)
			}
			return interp.Write{Off: fs.m.Geo.Addr(b), Len: uint64(len(content)),
				Data: bytes.Clone(content)}
		}
	}
	return present(t, fs, fs.m.Geo.Blocks-1)
}

// present returns a write of a block as it is on the device.
func present(t *testing.T, fs *FS, block uint32) interp.Write {
	b, err := ReadBlock(fs.disk, fs.m.Geo, block)
	if err != nil {
		t.Fatal(err)
	}
	return interp.Write{Off: fs.m.Geo.Addr(block), Len: uint64(len(b)), Data: b}
}

func newFS(t *testing.T, d interp.Disk) *FS {
	fs, err := New(d)
	if err != nil {
		t.Fatal(err)
	}
	return fs
}

// manyCommits makes commits with files, data and deletions.
const manyCommits = `mkdir d
	for i in 1 2 3 4 5 6; do
		head -c 20000 /dev/urandom > d/f$i; echo $i >> d/same; ln -s x d/l$i; sync -f .; rm d/l$i
	done
	sync -f .`

// TestForecastOfModes checks that for every kind of journal and every time of a flush, the
// observation of each write is the same with and without forecasts.
func TestForecastOfModes(t *testing.T) {
	everyCommit := func(foreseen, commits int) bool { return foreseen == commits }
	for _, tc := range []struct {
		name    string
		as      string
		version int // of the checksums in the journal
		mount   []string
		flushes bool // before each commit block; else between other writes
		holds   func(foreseen, commits int) bool
	}{
		{"data=ordered", "ext3", 0, nil, true, everyCommit},
		{"data=journal", "ext3", 0, []string{"data=journal"}, true, everyCommit},
		{"data=writeback", "ext3", 0, []string{"data=writeback"}, true, everyCommit},
		{"checksums of version 1", "ext4", 1, []string{"journal_checksum"}, true, everyCommit},
		{"checksums of version 2", "", 2, nil, true, everyCommit},
		{"checksums of version 3", "", 3, nil, true, everyCommit},
		// A flush at any time starts a forecast, which the next write to the log ends.
		{"barrier=0", "ext3", 0, []string{"barrier=0"}, false,
			func(foreseen, commits int) bool { return foreseen < commits }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			base, writes, least := modeWrites(t, tc.version, tc.as, tc.mount)
			d := NewDisk(bytes.NewReader(base), uint64(len(base)))
			ahead := newFS(t, d)
			pair := &forecasttest.Pair{Plain: withoutKept(t, d), Ahead: ahead, Apply: d.Apply}
			possible := 0
			for n, w := range writes {
				comes := ahead.m != nil && !ahead.m.Log.idle && ahead.m.Log.holdsCommit(w, ahead.m.Log.nextSeq)
				alone := comes && w.Len == 1024 && !empty(t, ahead, d, w)
				if alone {
					possible++
				}
				if tc.flushes && comes || !tc.flushes && n%3 == 0 {
					if made, ok := pair.Forecast(false); alone && tc.flushes && (!made || !ok) {
						t.Errorf("commit %d: a forecast was made: %t, prepared: %t", pair.Commits, made, ok)
					}
				}
				if !pair.Show(t, w) {
					t.Fatalf("write %d is refused", n)
				}
				if comes && tc.version > 0 && (ahead.m.Log.Checksum != (tc.version == 1) || tc.version > 1 &&
					ahead.m.Log.CsumVersion != tc.version) {
					t.Fatalf("checksums %t, version %d", ahead.m.Log.Checksum, ahead.m.Log.CsumVersion)
				}
			}
			t.Logf("%d commits, %d foreseen", pair.Commits, pair.Foreseen)
			if pair.Commits < least || !tc.holds(pair.Foreseen, possible) {
				t.Errorf("%d commits, %d that can be foreseen, %d foreseen", pair.Commits, possible,
					pair.Foreseen)
			}
		})
	}
}

// modeWrites returns a file system, writes to it, and the minimum number of commits in them.
// debugfs makes the writes with checksums of versions 2 and 3, and the host's kernel all others.
func modeWrites(t *testing.T, version int, as string, mount []string) (
	base []byte,
	writes []interp.Write,
	least int,
) {
	t.Helper()
	if version > 1 {
		base, writes = logWrites(t, version)
		return base, writes, 3
	}
	image := Mkfs(t, "16M", "-b", "1024", "-J", "size=1")
	base = ReadFile(t, image)
	return base, followAs(t, as, image, 0, nil, mount, manyCommits).Writes, 6
}

// empty reports whether a transaction consists of its commit block alone: with data=journal, sync
// makes such commits.
func empty(t *testing.T, fs *FS, d *MemDisk, w interp.Write) bool {
	t.Helper()
	tr, err := fs.m.Log.Read(PendingDevice{d, w}, fs.m.Log.head, fs.m.Log.nextSeq)
	if err != nil {
		t.Fatal(err)
	}
	return tr.start == tr.commit
}

// logWrites returns a file system with an empty log, and the writes of the log that debugfs made,
// block by block. Linux gives an ext3 no checksums of versions 2 and 3
// (set_journal_csum_feature_set); debugfs does.
func logWrites(t *testing.T, version int) (base []byte, writes []interp.Write) {
	t.Helper()
	image := Journaled(t, version)
	base = ReadFile(t, image)
	d := OpenImage(t, image)
	m, err := Mount(d, d.Size())
	if err != nil {
		t.Fatal(err)
	}
	for _, seq := range slices.Sorted(maps.Keys(m.Log.starts)) {
		tr, err := m.Log.Read(d, m.Log.starts[seq], seq)
		if err != nil {
			t.Fatal(err)
		}
		for at := tr.start; at != tr.next; at = m.Log.Next(at) {
			b, err := ReadBlock(d, m.Geo, m.Log.Block(at))
			if err != nil {
				t.Fatal(err)
			}
			addr := m.Geo.Addr(m.Log.Block(at))
			writes = append(writes, interp.Write{Off: addr, Len: uint64(len(b)), Data: b})
			clear(base[addr : addr+uint64(len(b))])
		}
	}
	return base, writes
}
