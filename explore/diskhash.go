package explore

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"maps"
	"slices"

	"fsward/explore/crash"
)

// hash returns a hash of the contents of the disks after all writes of a history were done, in the
// order in which they were submitted.
func (d *diskSet) hash(h history) (string, error) {
	base := crash.Join(d.crashBases()...)
	pages := make(map[uint64][]byte) // by number
	page := func(number uint64) ([]byte, error) {
		if pages[number] == nil {
			pages[number] = make([]byte, crash.PageSize)
			if _, err := base.ReadAt(pages[number], int64(number*crash.PageSize)); err != nil {
				return nil, err
			}
		}
		return pages[number], nil
	}
	for ev, err := range crash.FromBios(d.each(h.records), d.numbers()...) {
		if err != nil {
			return "", err
		}
		if ev.Kind != crash.Issued {
			continue
		}
		for w := ev.Write; w.Len > 0; {
			in, err := page(w.Off / crash.PageSize)
			if err != nil {
				return "", err
			}
			in = in[w.Off%crash.PageSize:]
			n := min(uint64(len(in)), w.Len)
			if w.Data == nil {
				clear(in[:n])
			} else {
				copy(in, w.Data[:n])
				w.Data = w.Data[n:]
			}
			w.Off, w.Len = w.Off+n, w.Len-n
		}
	}
	sum := sha256.New()
	was := make([]byte, crash.PageSize)
	for _, number := range slices.Sorted(maps.Keys(pages)) {
		if _, err := base.ReadAt(was, int64(number*crash.PageSize)); err != nil {
			return "", err
		}
		if !bytes.Equal(was, pages[number]) {
			sum.Write(binary.BigEndian.AppendUint64(nil, number))
			sum.Write(pages[number])
		}
	}
	return hex.EncodeToString(sum.Sum(nil)[:16]), nil
}
