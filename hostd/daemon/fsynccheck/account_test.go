package fsynccheck

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"fsward/blocktap"
)

// In these tests the guest's clock is 1,000 behind the host's, plus or minus 5.
func testClock(t *testing.T) clock {
	t.Helper()
	var c clock
	for guest := int64(0); guest <= 1000; guest += 10 {
		if err := c.add(ping{sent: guest + 995, guest: guest, heard: guest + 1005}); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// In the tests of an account, testFsync runs from 100 to 200 and writes sectors 8 to 15 at 110.
// That is testData on the disk. testSync runs at the same time.
var (
	testData  = write{off: 4096, n: 4096, began: 1120, ended: 1125}
	testFsync = Call{Name: "fsync", Thread: 7, Began: 100, Returned: 200,
		Wrote: []Range{{Dev: "254,0", Sector: 8, Sectors: 8, At: 110}}}
	testSync = Call{Name: "sync", Thread: 7, Began: 100, Returned: 200, Synced: []string{"254,0"}}
	earlier  = write{off: 8192, n: 512, began: 1010, ended: 1020} // before both calls
)

// with returns a changed copy of a call.
func with(c Call, change func(*Call)) Call {
	c.Wrote = append([]Range(nil), c.Wrote...)
	change(&c)
	return c
}

// found tells an account which disk a device is.
func found(t testing.TB, a *account, dev, name string) {
	t.Helper()
	if err := a.found(dev, name); err != nil {
		t.Fatal(err)
	}
}

func metadata(c *Call) { c.Wrote[0].Metadata = true }

var accountCases = []struct {
	name  string
	call  Call
	fs    string
	diary *Diary
	lacks uint64 // number of writes that were not flushed in time
	never bool   // the write never reached the disk
	open  bool   // it cannot be decided
}{
	{name: "flushed", call: testFsync, diary: &Diary{writes: []write{testData},
		flushes: []flush{{ended: 1150, covers: 1130}}}},
	{name: "not flushed", call: testFsync, diary: &Diary{writes: []write{testData}}, lacks: 1},
	{name: "flushed by another, before", call: testFsync,
		diary: &Diary{writes: []write{testData}, flushes: []flush{{ended: 1150, covers: 1122}}},
		lacks: 1},
	{name: "flushed when it had returned", call: testFsync,
		diary: &Diary{writes: []write{testData}, flushes: []flush{{ended: 1206, covers: 1130}}},
		lacks: 1},
	{name: "flushed as it returned, as far as the clocks allow", call: testFsync,
		diary: &Diary{writes: []write{testData}, flushes: []flush{{ended: 1204, covers: 1130}}}},
	{name: "written again, after the flush", call: testFsync,
		diary: &Diary{writes: []write{testData, {off: 4096, n: 4096, began: 1160, ended: 1170}},
			flushes: []flush{{ended: 1150, covers: 1130}}}},
	{name: "two parts, the second not flushed", call: testFsync,
		diary: &Diary{writes: []write{{4096, 2048, 1120, 1125}, {6144, 2048, 1131, 1135}},
			flushes: []flush{{ended: 1150, covers: 1130}}}, lacks: 1},
	{name: "it never came", call: testFsync, diary: &Diary{writes: []write{earlier},
		flushes: []flush{{ended: 1150, covers: 1130}}}, lacks: 1, never: true},
	{name: "what was there before it", call: testFsync,
		diary: &Diary{writes: []write{{4096, 4096, 1090, 1100}},
			flushes: []flush{{ended: 1150, covers: 1130}}}, lacks: 1, never: true},
	{name: "what others wrote", call: testFsync, diary: &Diary{
		writes:  []write{{0, 512, 1110, 1111}, testData, {8192, 512, 1190, 1191}},
		flushes: []flush{{ended: 1150, covers: 1130}}}},
	{name: "spare", call: with(testFsync, func(c *Call) { c.Wrote[0].Sector = 1 << 20 }),
		diary: &Diary{}},
	{name: "another disk", call: with(testFsync, func(c *Call) { c.Wrote[0].Dev = "254,16" }),
		diary: &Diary{}},
	{name: "metadata of ext3 is in the journal", call: with(testFsync, metadata),
		diary: &Diary{writes: []write{testData}}},
	{name: "metadata of Btrfs", fs: "btrfs", call: with(testFsync, metadata),
		diary: &Diary{writes: []write{testData}}, lacks: 1},
	{name: "data of Btrfs without the log: of a file without a name", fs: "btrfs", call: testFsync,
		diary: &Diary{writes: []write{testData}}},
	{name: "refused meanwhile", call: testFsync,
		diary: &Diary{writes: []write{testData}, failed: 1150}, open: true},
	{name: "refused before", call: testFsync, diary: &Diary{writes: []write{testData}, failed: 1050},
		lacks: 1},
	{name: "forgotten", call: testFsync, diary: &Diary{forgotten: 1150}, open: true},
	{name: "before the clock was known", call: with(testFsync, func(c *Call) { c.Began = -5 }),
		diary: &Diary{}, open: true},

	{name: "sync, flushed", call: testSync, diary: &Diary{writes: []write{earlier},
		flushes: []flush{{ended: 1150, covers: 1130}}}},
	{name: "sync, flushed long before", call: testSync,
		diary: &Diary{writes: []write{earlier}, flushes: []flush{{ended: 1050, covers: 1030}}}},
	{name: "sync, not flushed", call: testSync, diary: &Diary{writes: []write{earlier}}, lacks: 1},
	{name: "sync, two, the first flushed", call: testSync,
		diary: &Diary{writes: []write{earlier, {0, 512, 1040, 1041}},
			flushes: []flush{{ended: 1150, covers: 1030}}}, lacks: 1},
	{name: "sync, as it began", call: testSync, diary: &Diary{writes: []write{{0, 512, 1090, 1096}}}},
	{name: "sync, spare", call: testSync,
		diary: &Diary{writes: []write{{512 << 20, 4096, 1010, 1020}}}},
	{name: "sync of another", call: with(testSync, func(c *Call) { c.Synced = []string{"254,16"} }),
		diary: &Diary{writes: []write{earlier}}},
	{name: "sync after a refusal", call: testSync,
		diary: &Diary{writes: []write{earlier}, failed: 1030}, open: true},
	{name: "sync, refused and recovered", call: testSync,
		diary: &Diary{writes: []write{earlier}, failed: 1005,
			flushes: []flush{{ended: 1018, covers: 1010}}}, lacks: 1},
	{name: "sync, forgotten", call: testSync, diary: &Diary{forgotten: 1010}, open: true},
}

// TestAccount checks which calls are early, which are not, and which cannot be decided.
func TestAccount(t *testing.T) {
	for _, c := range accountCases {
		t.Run(c.name, func(t *testing.T) {
			if c.fs == "" {
				c.fs = "ext3"
			}
			var early []Early
			a := newAccount([]Disk{{Name: "root", Diary: c.diary, FS: func() string { return c.fs },
				Spare: func(off, _ uint64) bool { return off == 512<<20 }}},
				func(e *Early) { early = append(early, *e) })
			a.clock = testClock(t)
			found(t, a, "254,0", "root")
			found(t, a, "254,32", "no such disk")
			a.judge(&c.call)
			if len(early) != int(min(c.lacks, 1)) || c.lacks > 0 &&
				(early[0].Writes != c.lacks || early[0].Never != c.never || early[0].Disk != "root") {
				t.Errorf("early: %+v, want %d writes", early, c.lacks)
			}
			if open := a.open == 1; open != c.open || a.judged+a.open != 1 || a.early != min(c.lacks, 1) {
				t.Errorf("judged %d, open %d, early %d", a.judged, a.open, a.early)
			}
			if c.lacks > 0 && !strings.Contains(early[0].String(), c.call.Name+" of thread 7") {
				t.Error(&early[0])
			}
		})
	}
}

// TestAccountWaits checks that a call waits for a ping that came back after it.
func TestAccountWaits(t *testing.T) {
	reported := 0
	d := Diary{writes: []write{{0, 512, 1010, 1020}}}
	a := newAccount([]Disk{{Name: "root", Diary: &d, FS: func() string { return "ext3" }}},
		func(*Early) { reported++ })
	found(t, a, "254,0", "root")
	call := Call{Name: "sync", Began: 100, Returned: 200, Synced: []string{"254,0"}}
	for i, p := range []ping{{990, 0, 1010}, {1140, 150, 1160}, {1290, 300, 1310}} {
		if i == 1 {
			a.call(call)
		}
		if err := a.ping(p); err != nil {
			t.Fatal(err)
		}
		if want := i / 2; reported != want {
			t.Errorf("after ping %d: reported %d calls", i, reported)
		}
	}
	for range maxWaiting + 3 {
		a.call(Call{Name: "sync", Began: 400, Returned: 500})
	}
	if len(a.calls) != maxWaiting || a.open != 3 {
		t.Errorf("%d calls wait, %d are given up", len(a.calls), a.open)
	}
	if a.ping(ping{1300, 299, 1320}) == nil {
		t.Error("a clock that goes back is no error")
	}
}

// TestAccountBounds checks that a guest cannot make the host remember any number of bytes.
func TestAccountBounds(t *testing.T) {
	a := newAccount([]Disk{{Name: "root", Diary: &Diary{}, FS: func() string { return "ext3" }}},
		func(*Early) {})
	var err error
	for i := 0; err == nil && i < 2*maxDevices; i++ {
		err = a.found(fmt.Sprintf("254,%d", i), "root")
	}
	if err == nil || len(a.byDev) != maxDevices {
		t.Errorf("%d devices, %v", len(a.byDev), err)
	}
	if a.found(strings.Repeat("2", maxDeviceLen+1), "root") == nil {
		t.Error("a device with a long name is no error")
	}
	large, err := parseCall("fsync 7 100 200" + strings.Repeat(" 254,0:8+8@1", maxParts))
	if err != nil {
		t.Fatal(err)
	}
	for range maxWaiting {
		a.call(large)
	}
	if a.held > maxHeld || len(a.calls) == 0 || a.open+uint64(len(a.calls)) != maxWaiting {
		t.Errorf("%d calls of %d bytes wait, %d are given up", len(a.calls), a.held, a.open)
	}
	for _, p := range []ping{{990, 0, 1010}, {1290, 300, 1310}} {
		if err := a.ping(p); err != nil {
			t.Fatal(err)
		}
	}
	if len(a.calls) != 0 || a.held != 0 {
		t.Errorf("%d calls of %d bytes wait after the ping", len(a.calls), a.held)
	}
}

// TestClock checks that the guest's time lies within the bounds, whatever its clock did between two
// pings.
func TestClock(t *testing.T) {
	// The clock stood still for 500 between 100 and 110: it is 1 behind, then 501.
	c := clock{pings: []ping{{100, 100, 102}, {610, 110, 614}}}
	for _, at := range []int64{101, 105, 110} {
		from, to, ok := c.bounds(at)
		if !ok || from > at || to < at+504 {
			t.Errorf("%d: from %d to %d, %t", at, from, to, ok)
		}
	}
	for _, at := range []int64{-1, 99, 100, 111} {
		if _, _, ok := c.bounds(at); ok {
			t.Errorf("%d is known", at)
		}
	}
	c = clock{}
	for i := range int64(3 * maxPings) {
		if err := c.add(ping{i, i, i}); err != nil {
			t.Fatal(err)
		}
	}
	if len(c.pings) > maxPings || !c.passed(3*maxPings-1) || c.passed(3*maxPings) {
		t.Errorf("%d pings", len(c.pings))
	}
}

type memory struct {
	blocktap.Disk
	err error
}

func (m memory) WriteAt(p []byte, _ int64) (int, error) { return len(p), m.err }
func (m memory) Zero(_, _ uint64) error                 { return m.err }
func (m memory) Flush() error                           { return m.err }

type reserved struct{ memory }

func (r reserved) ZeroReserved(_, _ uint64) error { return r.err }

// TestDiary checks that a diary has the successful requests in order, without failed ones, and is
// bounded.
func TestDiary(t *testing.T) {
	var d Diary
	good, bad := d.Of(memory{}), d.Of(memory{err: errors.New("no")})
	if _, ok := good.(blocktap.Reserver); ok {
		t.Error("a disk can reserve what that beneath it cannot")
	}
	write := func(disk blocktap.Disk) { _, _ = disk.WriteAt(make([]byte, 512), 1024) }
	write(good)
	_ = good.Zero(4096, 8192)
	_ = good.Flush()
	_ = d.Of(reserved{}).(blocktap.Reserver).ZeroReserved(0, 512)
	if len(d.writes) != 3 || d.writes[1].off != 4096 || d.writes[1].n != 8192 || len(d.flushes) != 1 ||
		d.failed != 0 {
		t.Fatalf("%+v %+v", d.writes, d.flushes)
	}
	if since, ok := d.covered(now()); !ok || since < d.writes[1].ended || since > d.writes[2].began {
		t.Errorf("covered since %d: %+v", since, d.writes)
	}
	if since, ok := d.covered(d.writes[0].ended); !ok || since != 0 {
		t.Errorf("before the first flush %d were covered", since)
	}
	write(bad)
	_ = bad.Flush()
	if len(d.writes) != 3 || len(d.flushes) != 1 || d.failed == 0 {
		t.Errorf("what failed was noted: %+v", d.writes)
	}
	for range 3 * maxWrites {
		write(good)
	}
	for range 3 * maxFlushes {
		_ = good.Flush()
	}
	if len(d.writes) > maxWrites || len(d.flushes) > maxFlushes || d.forgotten == 0 ||
		d.forgotten > d.writes[0].began {
		t.Errorf("%d writes, %d flushes; forgotten until %d", len(d.writes), len(d.flushes), d.forgotten)
	}
	if _, ok := d.covered(1); ok {
		t.Error("of what is forgotten it is known what was flushed")
	}
	failed := d.failed
	d.Refused()
	if d.failed <= failed {
		t.Error("a refusal is no failure")
	}
}

// BenchmarkAccount measures the cost of a guest's account for its disk, for a write with a flush
// after each hundred, and the cost of a call.
func BenchmarkAccount(b *testing.B) {
	b.Run("write", func(b *testing.B) {
		var d Diary
		disk := d.Of(memory{})
		p := make([]byte, 4096)
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			_, _ = disk.WriteAt(p, 0)
			if i%100 == 0 {
				_ = disk.Flush()
			}
		}
	})
	b.Run("call", func(b *testing.B) {
		var d Diary
		for i := int64(0); i < maxWrites; i++ {
			d.writes = append(d.writes, write{uint64(i) * 4096, 4096, 1000 + i, 1001 + i})
		}
		a := newAccount([]Disk{{Name: "root", Diary: &d, FS: func() string { return "ext3" }}},
			func(*Early) {})
		found(b, a, "254,0", "root")
		for i := range int64(1000) {
			_ = a.clock.add(ping{i * 100, i * 100, i * 100})
		}
		d.flushes = []flush{{70000, 69000}}
		b.ReportAllocs()
		for b.Loop() {
			a.judge(&Call{Name: "fsync", Began: 60000, Returned: 71000,
				Wrote: []Range{{Dev: "254,0", Sector: 60100 * 8, Sectors: 8, At: 60050}}})
		}
		if a.early > 0 || a.open > 0 {
			b.Fatalf("%d early, %d open", a.early, a.open)
		}
	})
}
