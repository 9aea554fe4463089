package recording_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"fsward/blocktap"
	"fsward/hostd/recording"
)

// record records one write to a disk.
func record(image, log string) error {
	disk, err := blocktap.OpenFile(image, blocktap.FileOptions{})
	if err != nil {
		return err
	}
	defer disk.Close()
	rec, err := recording.Create(recording.Config{Disks: []recording.Disk{{Log: log, Size: diskSize}}})
	if err != nil {
		return err
	}
	rec.Start(func(err error) { fmt.Println("stopped:", err) })
	device := blocktap.NewDevice(disk, nil)
	device.Record(rec.Recorder(0))
	data := bytes.Repeat([]byte("fsward. "), 64)
	err = device.Do(context.Background(),
		&blocktap.Request{Op: blocktap.OpWrite, Off: 4096, Len: uint64(len(data)), Data: data})
	return errors.Join(err, rec.Close())
}

// A recorded log, applied to a copy of the disk as it was, gives the disk as it is.
func ExampleApply() {
	dir, err := os.MkdirTemp("", "recording")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	image, before := filepath.Join(dir, "disk"), filepath.Join(dir, "before")
	for _, path := range []string{image, before} {
		if err := os.WriteFile(path, make([]byte, diskSize), 0o600); err != nil {
			fmt.Println(err)
			return
		}
	}
	log := filepath.Join(dir, "log")
	if err := record(image, log); err != nil {
		fmt.Println(err)
		return
	}
	disk, err := blocktap.OpenFile(before, blocktap.FileOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer disk.Close()
	if err := recording.Apply(log, disk); err != nil {
		fmt.Println(err)
		return
	}
	got := make([]byte, 8)
	_, err = disk.ReadAt(got, 4096)
	fmt.Printf("%q %v\n", got, err)
	// Output: "fsward. " <nil>
}
