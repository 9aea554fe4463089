package trace_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"fsward/blocktap"
	"fsward/blocktap/trace"
)

// A log of three requests and a mark is written and read again.
func ExampleWriter() {
	dir, err := os.MkdirTemp("", "trace")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "disk.log")
	w, err := trace.Create(path)
	if err != nil {
		fmt.Println(err)
		return
	}
	data := make([]byte, 4096)
	err = errors.Join(
		w.Log(&blocktap.Request{Op: blocktap.OpWrite, Off: 65536, Len: 4096, Data: data, FUA: true}),
		w.Log(&blocktap.Request{Op: blocktap.OpTrim, Off: 1 << 20, Len: 8192}),
		w.Log(&blocktap.Request{Op: blocktap.OpFlush}),
		w.Mark("end of the test"),
		w.Close())
	if err != nil {
		fmt.Println(err)
		return
	}
	printLog(path)
	// Output:
	// write of 4096 bytes at 65536, flags fua
	// trim of 8192 bytes at 1048576, flags discard
	// flush of 0 bytes at 0, flags flush
	// mark "end of the test"
}

// printLog prints the entries of a log.
func printLog(path string) {
	log, err := trace.Open(path)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer log.Close()
	for {
		e, err := log.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			fmt.Println(err)
			return
		}
		if r, ok := e.Request(); ok {
			fmt.Printf("%v of %d bytes at %d, flags %v\n", r.Op, r.Len, r.Off, e.Flags)
		} else {
			fmt.Printf("mark %q\n", e.Mark)
		}
	}
}
