package crashaudit_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"fsward/explore/audit/live"
	"fsward/hostd/crashaudit"
)

// An audit whose program fails is no error of the guard. Status and Failed say it.
func ExampleStart() {
	dir, err := os.MkdirTemp("", "crashaudit")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	program := filepath.Join(dir, "fsward")
	script := "#!/bin/sh\necho the program fails >&2; exit 2\n"
	if err := os.WriteFile(program, []byte(script), 0o700); err != nil {
		fmt.Println(err)
		return
	}
	failed := make(chan error)
	a, err := crashaudit.Start(crashaudit.Config{Log: "log", Base: "base", FS: "auto",
		Program: program, Report: func(live.Report) {}, Failed: func(err error) { failed <- err }})
	if err != nil {
		fmt.Println(err)
		return
	}
	err = <-failed
	a.Close()
	fmt.Println(err, errors.Is(err, os.ErrNotExist), a.Status().Error == err.Error())
	// Output: it has ended (exit status 2): the program fails false true
}
