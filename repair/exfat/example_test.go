package exfat_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"

	"fsward/repair/exfat"
)

// Fill adds files to an empty file system, which fsck.exfat then calls clean, and an FS reads them.
func ExampleFill() {
	f, err := os.CreateTemp("", "exfat")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.Remove(f.Name())
	defer f.Close()
	if err := hello(f); err != nil {
		fmt.Println(err)
		return
	}
	fs, err := exfat.Open(f, 4<<20)
	if err != nil {
		fmt.Println(err)
		return
	}
	list, err := fs.Entries(fs.Root())
	for _, file := range list {
		var b bytes.Buffer
		err = fs.Copy(&b, file)
		fmt.Printf("%s: %s\n", file.Name, b.String())
	}
	fmt.Println(err)
	// Output:
	// hello, this is a long name: world
	// <nil>
}

func hello(f *os.File) error {
	if err := f.Truncate(4 << 20); err != nil {
		return err
	}
	if out, err := exec.Command("/sbin/mkfs.exfat", f.Name()).CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	err := exfat.Fill(f, []exfat.Node{{Name: "hello, this is a long name", Data: []byte("world")}})
	if err != nil {
		return err
	}
	if out, err := exec.Command("/sbin/fsck.exfat", "-n", f.Name()).CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}
