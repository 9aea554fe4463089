package detect_test

import (
	"errors"
	"fmt"

	"fsward/interp"
	"fsward/interp/detect"
)

// blank is a disk of zeros.
type blank uint64

func (b blank) Size() uint64 { return uint64(b) }

func (b blank) ReadAt(p []byte, _ int64) (int, error) {
	clear(p)
	return len(p), nil
}

// A blank disk is watched until a file system appears on it.
func ExampleFollow() {
	f, err := detect.Follow(blank(1<<20), detect.Auto)
	if err != nil {
		fmt.Println(err)
		return
	}
	obs := f.Observe(interp.Write{Off: 512, Len: 4, Data: []byte("boot")})
	f.Settle(true)
	fmt.Printf("file system %q, %d violations\n", f.On(0), len(obs.Violations))

	_, err = detect.Name(blank(1<<20), detect.Auto)
	fmt.Println(errors.Is(err, interp.ErrNotFound))
	// Output:
	// file system "", 0 violations
	// true
}
