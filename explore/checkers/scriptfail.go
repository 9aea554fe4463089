package checkers

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"fsward/explore"
	"fsward/explore/agent"
	"fsward/explore/ramdisk"
)

// anyOp lists all operations that a failing disk refuses.
var anyOp = []ramdisk.Op{
	ramdisk.Read, ramdisk.Write, ramdisk.Flush, ramdisk.Discard, ramdisk.Zeroes,
}

// failing executes the actions of During, while each operation of the disks of Fail fails with EIO.
// It drops the kernel's caches first, so that a read reaches the disks. The disks work again
// afterwards, also if an action fails.
func (s *Script) failing(e *explore.Env, a action, site string) error {
	disks, err := s.disks(a.Fail)
	if err != nil {
		return err
	}
	ops := []agent.Op{agent.DropCaches()}
	var clear []agent.Op
	for _, disk := range disks {
		ops = append(ops, agent.DiskInject(disk, ramdisk.Rule{
			Action: ramdisk.Fail, Ops: anyOp,
			Error: uint32(unix.EIO), Nth: 1, Times: 1 << 40,
		}))
		clear = append(clear, agent.DiskClear(disk))
	}
	if _, err = e.Do(ops...); err == nil {
		err = s.executeAll(e, a.During, site+", during")
	}
	if _, cleared := e.Do(clear...); err == nil {
		err = cleared
	}
	return err
}

// disks returns the numbers in a text, whose variables are those of the script.
func (s *Script) disks(text string) (out []uint32, err error) {
	numbers := os.Expand(text, func(name string) string {
		for _, v := range s.Env {
			if value, is := strings.CutPrefix(v, name+"="); is {
				return value
			}
		}
		return ""
	})
	for word := range strings.FieldsSeq(numbers) {
		n, err := strconv.ParseUint(word, 10, 8)
		if err != nil {
			return nil, fmt.Errorf("fail: %q is not the number of a disk", word)
		}
		out = append(out, uint32(n))
	}
	return out, nil
}
