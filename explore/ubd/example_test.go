package ubd_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"fsward/explore/ubd"
)

// The host makes a log, the agent of user-mode Linux marks it, and the host takes the records.
func Example() {
	dir, err := os.MkdirTemp("", "fsward-ubd-")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	area := make(ubd.Area, ubd.AreaBytes)
	log, err := ubd.NewLog(filepath.Join(dir, "log"), 1<<20, area)
	if err != nil {
		fmt.Println(err)
		return
	}
	err = errors.Join(area.Mark("begin 1"), area.Mark("return 1"))
	records, taken := log.Take()
	for _, r := range records {
		fmt.Println(r.Seq, r.Type, string(r.Data))
	}
	fmt.Println(errors.Join(err, taken, log.Close()))
	// Output:
	// 1 mark begin 1
	// 2 mark return 1
	// <nil>
}
