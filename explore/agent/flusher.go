package agent

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// Flusher stands for the kernel's flusher where an operation takes the PID of a thread. The flusher
// writes back the dirty pages of all file systems. It is a work item, and its workqueue has other
// work too, so that a low priority of a thread cannot hold it. The agent holds it by not waking it.
const Flusher = 0

const (
	flusherName = "flusher"

	// writebackPath is the flusher's period in 10 ms. At 0 it does not wake periodically. A change
	// from 0 to another value wakes it at once.
	writebackPath = "/proc/sys/vm/dirty_writeback_centisecs"
	// expirePath is the age in 10 ms after which the flusher writes a page back.
	expirePath = "/proc/sys/vm/dirty_expire_centisecs"
	// refreshPath brings the counts of statPath up to date. They lag by up to a second otherwise.
	refreshPath = "/proc/sys/vm/stat_refresh"
	statPath    = "/proc/vmstat"

	// flushPasses bounds the passes of the flusher. Its writes make other pages dirty, such as those
	// of the device.
	flushPasses = 4
	// flushMost bounds the wait for the end of one pass.
	flushMost = 5 * time.Second
)

// holdFlusher stops the periodic wakeups of the flusher.
func holdFlusher() error { return os.WriteFile(writebackPath, []byte("0"), 0) }

// releaseFlusher wakes the flusher and sets the kernel's default period.
func releaseFlusher() error { return os.WriteFile(writebackPath, []byte("500"), 0) }

// awaitOwnWriteback waits until the flusher has written back all dirty pages, for at most
// ownWritebackMost. It then returns EAGAIN.
func awaitOwnWriteback() error {
	var before [2][]byte
	settings := [2]string{expirePath, writebackPath}
	for i, value := range []string{"1", "5"} {
		var err error
		if before[i], err = os.ReadFile(settings[i]); err == nil {
			err = os.WriteFile(settings[i], []byte(value), 0)
		}
		if err != nil {
			return err
		}
	}
	now, err := awaitWriteback()
	for begin := time.Now(); err == nil && now.dirty > 0 && time.Since(begin) < ownWritebackMost; {
		now, err = awaitWriteback()
	}
	for i, value := range before {
		err = errors.Join(err, os.WriteFile(settings[i], value, 0))
	}
	if err == nil && now.dirty > 0 {
		err = unix.EAGAIN
	}
	return err
}

// ownWritebackMost bounds the wait of awaitOwnWriteback.
const ownWritebackMost = 10 * time.Second

// pageCounts are numbers of pages in all memory.
type pageCounts struct {
	dirty   uint64
	writing uint64 // being written back
	written uint64 // written back since the boot
}

// runFlusher makes the flusher write back all dirty pages, and reports whether it wrote any.
func runFlusher() (ran bool, err error) {
	before, err := countPages()
	now := before
	for pass := 0; err == nil && (pass == 0 || now.dirty > 0 && pass < flushPasses); pass++ {
		if err = releaseFlusher(); err != nil {
			break
		}
		if now, err = awaitWriteback(); err == nil {
			err = holdFlusher()
		}
	}
	return now.written != before.written, err
}

// awaitWriteback waits until no page is being written back and the counts are stable, for at most
// flushMost. It returns the last counts.
func awaitWriteback() (now pageCounts, err error) {
	for begin := time.Now(); time.Since(begin) < flushMost; {
		was := now
		time.Sleep(5 * settleQuiet)
		if now, err = countPages(); err != nil || now == was && now.writing == 0 {
			break
		}
	}
	return now, err
}

// countPages reads the present counts.
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

// parsePages reads the counts from the text of statPath.
func parsePages(text []byte) (c pageCounts, err error) {
	fields := map[string]*uint64{
		"nr_dirty":     &c.dirty,
		"nr_writeback": &c.writing,
		"nr_written":   &c.written,
	}
	for name, to := range fields {
		_, rest, ok := bytes.Cut(append([]byte("\n"), text...), []byte("\n"+name+" "))
		value, _, _ := bytes.Cut(rest, []byte("\n"))
		if *to, err = strconv.ParseUint(string(value), 10, 64); !ok || err != nil {
			return c, fmt.Errorf("%s: cannot read %s: %w", statPath, name, err)
		}
	}
	return c, nil
}
