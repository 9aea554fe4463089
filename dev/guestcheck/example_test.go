package guestcheck_test

import (
	"bufio"
	"fmt"
	"os"

	"fsward/dev/guestcheck"
	"fsward/explore/ramdisk"
)

// A program in a guest runs a check with the module fsw_ramdisk. The check makes a disk, and
// measures how many pages an ext3 on it needs.
func ExampleMain() {
	guestcheck.Main([]guestcheck.Check{{
		Name:    "pages",
		Modules: []guestcheck.Module{{Name: "fsw_ramdisk"}},
		Run: func() error {
			c, err := ramdisk.Open()
			if err != nil {
				return err
			}
			defer c.Close()
			d, err := c.Make(0, 64<<20)
			if err != nil {
				return err
			}
			if err := guestcheck.Mkfs("ext3", d.Path()); err != nil {
				return err
			}
			stat, err := d.Stat()
			if err != nil {
				return err
			}
			guestcheck.Fact("pages", "an empty ext3 holds %d pages", stat.Pages)
			return d.Remove()
		},
	}})
}

// A check reads the log of a module while it works. Here the log is a pipe, and its records are
// lines. During ends at the mark that it writes itself.
func ExampleLog_During() {
	r, w, err := os.Pipe()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer w.Close()
	write := func(line string) error {
		_, err := fmt.Fprintln(w, line)
		return err
	}
	log := guestcheck.Log[string]{
		Open: func() (*os.File, error) { return r, nil },
		Next: func(f *os.File) func() (string, error) {
			lines := bufio.NewReader(f)
			return func() (string, error) { return lines.ReadString('\n') }
		},
		Mark:   write,
		IsMark: func(line, text string) bool { return line == text+"\n" },
	}
	err = log.During(func() error { return write("work") }, func(line string) error {
		guestcheck.Fact("lines", "%q", line)
		return nil
	})
	guestcheck.Say("the log is read: %s", guestcheck.Outcome(err))
	// Output:
	// FSWARD: fact lines: "work\n"
	// FSWARD: the log is read: success
}
