package oracle

import (
	"bytes"
	"errors"
	"io"

	"fsward/explore/crash"
	"fsward/interp"
	"fsward/interp/detect"
)

// Recovered returns a signature of the disk that recovery makes of a crash state: equal for states
// whose recovered disks have equal contents but for times and random numbers, and whose recoveries
// have the same work (interp.Replayed). i is the disk of the file system fs. An error means that
// the result is not known.
func Recovered(s *crash.State, i int, fs string) (string, error) {
	disk := s.Disk(i)
	replayed, err := detect.Replay(disk, fs)
	if err != nil {
		return "", err
	}
	first := interp.Address(i, 0)
	numbers := make(map[uint64]bool)
	for addr := range s.Pages() {
		if addr >= first && addr-first < disk.Size() {
			numbers[(addr-first)/crash.PageSize] = true
		}
	}
	for addr := range replayed.Changed() {
		numbers[addr/crash.PageSize] = true
	}
	h, sum := crash.NewHasher(), crash.Signature{}
	var now, was [crash.PageSize]byte
	for n := range numbers {
		at := n * crash.PageSize
		page, old := now[:min(crash.PageSize, disk.Size()-at)], was[:min(crash.PageSize, disk.Size()-at)]
		if _, err := replayed.ReadAt(page, int64(at)); err != nil {
			return "", err
		}
		if _, err := s.Base().ReadAt(old, int64(first+at)); err != nil && !errors.Is(err, io.EOF) {
			return "", err
		}
		replayed.Ignore(page, int64(at))
		replayed.Ignore(old, int64(at))
		if !bytes.Equal(page, old) {
			sum = sum.Plus(h.Page(n, page))
		}
	}
	return sum.String() + " " + replayed.Work(), nil
}
