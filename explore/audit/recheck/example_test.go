package recheck_test

import (
	"bytes"
	"context"
	"fmt"

	"fsward/explore/agent"
	"fsward/explore/audit/recheck"
	"fsward/explore/crash"
	"fsward/explore/exploretest"
	"fsward/explore/ramdisk"
)

// memory is a disk in memory.
type memory struct{ *bytes.Reader }

func (m memory) Size() uint64 { return uint64(m.Reader.Size()) }

// A script judges both states of a log of one write. The machine here is in memory, and its program
// sh takes the part of the script "grep new".
func ExampleChecker_Check() {
	ctx := context.Background()
	machine := exploretest.New()
	machine.Perform = func(*exploretest.System, agent.Op) agent.Result {
		return agent.Result{} // mount(2) and umount(2)
	}
	machine.Programs["sh"] = func(s *exploretest.System, _ agent.Command) (agent.Exit, error) {
		page, err := s.Read(0, 8)
		if err != nil || bytes.HasPrefix(page[:], []byte("new")) {
			return agent.Exit{}, err
		}
		return agent.Exit{Code: 1}, nil
	}
	base := memory{bytes.NewReader(make([]byte, 16*ramdisk.PageSize))}
	c, err := recheck.New(ctx, machine, recheck.Disk{Base: base, FS: "ext3"}, "grep new disk")
	if err != nil {
		fmt.Println(err)
		return
	}
	data := make([]byte, ramdisk.PageSize)
	copy(data, "new")
	log := func(yield func(crash.Event, error) bool) {
		yield(crash.Event{Kind: crash.Issued, Write: crash.Write{Off: ramdisk.PageSize,
			Len: ramdisk.PageSize, Data: data}}, nil)
	}
	_, err = crash.Each(base, log, crash.Options{}, func(s *crash.State) error {
		p, err := c.Check(ctx, s)
		if p != nil {
			fmt.Println(p.Kind)
		} else {
			fmt.Println("sound")
		}
		return err
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// check failed
	// sound
}
