package agent

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"time"
)

// Flusher stands in the place of a thread's PID for what writes back the dirty pages of all file systems. It is an item of a queue of work that
// others use, too, so that no priority holds it: it is not woken.
const Flusher = 0

const (
	flusherName   = "flusher"
	writebackPath = "/proc/sys/vm/dirty_writeback_centisecs" // 0: never of its own accord; what it is changed to from that wakes it
	refreshPath   = "/proc/sys/vm/stat_refresh"              // else counts lag behind by up to a second
	statPath      = "/proc/vmstat"

	flushPasses = 4 // what it writes makes other pages dirty, such as those of the device
	flushMost   = 5 * time.Second
)

func holdFlusher() error    { return os.WriteFile(writebackPath, []byte("0"), 0) }
func releaseFlusher() error { return os.WriteFile(writebackPath, []byte("500"), 0) } // as the kernel begins

// pageCounts are pages, of all memory.
type pageCounts struct{ dirty, writing, written uint64 }

// runFlusher has it write back all that is dirty, and tells whether that was anything.
func runFlusher() (ran bool, err error) {
	before, err := countPages()
	now := before
	for pass := 0; err == nil && (pass == 0 || now.dirty > 0 && pass < flushPasses); pass++ {
		if err = releaseFlusher(); err != nil {
			break
		}
		if now, err = restingPages(); err == nil {
			err = holdFlusher()
		}
	}
	return now.written != before.written, err
}

// restingPages waits until nothing is being written.
func restingPages() (now pageCounts, err error) {
	for begin := time.Now(); time.Since(begin) < flushMost; {
		was := now
		time.Sleep(5 * settleQuiet)
		if now, err = countPages(); err != nil || now == was && now.writing == 0 {
			break
		}
	}
	return now, err
}

func countPages() (c pageCounts, err error) {
	if err := os.WriteFile(refreshPath, []byte("1"), 0); err != nil {
		return c, err
	}
	text, err := os.ReadFile(statPath)
	if err != nil {
		return c, err
	}
	return parsePages(text)
}

func parsePages(text []byte) (c pageCounts, err error) {
	for name, to := range map[string]*uint64{"nr_dirty": &c.dirty, "nr_writeback": &c.writing, "nr_written": &c.written} {
		_, rest, ok := bytes.Cut(append([]byte("\n"), text...), []byte("\n"+name+" "))
		value, _, _ := bytes.Cut(rest, []byte("\n"))
		if *to, err = strconv.ParseUint(string(value), 10, 64); !ok || err != nil {
			return c, fmt.Errorf("%s: no %s: %w", statPath, name, err)
		}
	}
	return c, nil
}
