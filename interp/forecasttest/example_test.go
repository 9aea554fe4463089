package forecasttest_test

import (
	"errors"
	"fmt"
	"io"
	"testing"

	"fsward/blocktap"
	"fsward/blocktap/overlay"
	"fsward/blocktap/trace"
	"fsward/interp"
	"fsward/interp/ext3"
	"fsward/interp/forecasttest"
)

// printer is a test that prints its failures.
type printer struct{ testing.TB }

func (printer) Helper() {}

func (printer) Fatalf(format string, args ...any) { fmt.Printf(format+"\n", args...) }

// A recorded log is followed with and without forecasts. Each flush asks for a forecast of the next
// commit, and the observations are the same.
func ExamplePair() {
	const recorded = "../../hostd/guard/testdata/logs/ext3"
	base, err := blocktap.OpenImage(recorded + ".base.zst")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer base.Close()
	disk, err := overlay.New(base)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer disk.Close()
	plain, err := ext3.New(disk)
	if err != nil {
		fmt.Println(err)
		return
	}
	ahead, err := ext3.New(disk)
	if err != nil {
		fmt.Println(err)
		return
	}
	pair := &forecasttest.Pair{Plain: plain, Ahead: ahead,
		Apply: func(w interp.Write) { apply(disk, w) }}
	if err := follow(pair, recorded+".log.zst"); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("commits:", pair.Commits > 0)
	fmt.Println("all of them foreseen:", pair.Foreseen == pair.Commits)
	// Output:
	// commits: true
	// all of them foreseen: true
}

// follow shows the writes of a log to a pair.
func follow(pair *forecasttest.Pair, path string) error {
	log, err := trace.Open(path)
	if err != nil {
		return err
	}
	defer log.Close()
	for {
		e, err := log.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if e.Flags&trace.Flush != 0 {
			pair.Forecast(false)
		}
		if e.Len == 0 {
			continue
		}
		w := interp.Write{Off: e.Off, Len: e.Len, Data: e.Data, Discard: e.Flags&trace.Discard != 0}
		if !pair.Show(printer{}, w) {
			return fmt.Errorf("the write at %d has a fault", w.Off)
		}
	}
}

// apply performs a write.
func apply(disk *overlay.Disk, w interp.Write) {
	var err error
	if w.Data == nil {
		err = disk.Zero(w.Off, w.Len)
	} else {
		_, err = disk.WriteAt(w.Data, int64(w.Off))
	}
	if err != nil {
		fmt.Println(err)
	}
}
