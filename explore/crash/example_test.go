package crash_test

import (
	"bytes"
	"fmt"

	"fsward/explore/crash"
)

// An emptyDisk is a disk of zeros with this many bytes.
type emptyDisk uint64

func (d emptyDisk) Size() uint64 { return uint64(d) }

func (d emptyDisk) ReadAt(p []byte, _ int64) (int, error) {
	clear(p)
	return len(p), nil
}

// A crash can leave any subset of the writes that no flush has made durable. Here write 1 comes
// before a flush, and the writes 2 and 3 come after it. The ID of a state is the number of a moment
// in the log, and the numbers of the writes in flight at that moment that are on the disk.
func ExampleEach() {
	write := func(id uint64, letter string) crash.Event {
		data := bytes.Repeat([]byte(letter), crash.SectorSize)
		return crash.Event{Kind: crash.Issued, Write: crash.Write{
			ID: id, Off: id * crash.SectorSize, Len: crash.SectorSize, Data: data}}
	}
	flush := crash.Event{Kind: crash.Settled, All: true}
	log := func(yield func(crash.Event, error) bool) {
		for _, ev := range []crash.Event{write(1, "A"), flush, write(2, "B"), write(3, "C")} {
			if !yield(ev, nil) {
				return
			}
		}
	}
	show := func(s *crash.State) error {
		disk := make([]byte, s.Size())
		if _, err := s.ReadAt(disk, 0); err != nil {
			return err
		}
		var first []byte // the first byte of each sector after sector 0
		for i := crash.SectorSize; i < len(disk); i += crash.SectorSize {
			first = append(first, disk[i])
		}
		fmt.Printf("%s %q missing %v\n", s.ID(), first, s.Missing())
		return nil
	}
	stats, err := crash.Each(emptyDisk(4*crash.SectorSize), log, crash.Options{}, show)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("all states:", stats.Exhaustive())
	// Output:
	// 0: "\x00\x00\x00" missing [1]
	// 0:0 "A\x00\x00" missing []
	// 1:0 "AB\x00" missing [3]
	// 1:1 "A\x00C" missing [2]
	// 1:0-1 "ABC" missing []
	// all states: true
}
