package guestcheck

import (
	"errors"
	"io"
	"slices"
	"testing"
)

func TestRead(t *testing.T) {
	bad := errors.New("bad record")
	for _, c := range []struct {
		records []int // 0 is the end, and see fails for negative records
		seen    []int
		left    int // number of records that read leaves
		want    error
	}{
		{[]int{1, 2, 0, 3}, []int{1, 2}, 1, nil},
		{[]int{1, -1, 2, -1, 0}, []int{1, -1}, 0, bad},
		{[]int{1, 2}, []int{1, 2}, 0, io.EOF},
		{[]int{-1, 2}, []int{-1}, 0, io.EOF},
	} {
		var seen []int
		left := c.records
		err := <-read(func() (int, error) {
			if len(left) == 0 {
				return 0, io.EOF
			}
			r := left[0]
			left = left[1:]
			return r, nil
		}, func(r int) bool { return r == 0 }, func(r int) error {
			seen = append(seen, r)
			if r < 0 {
				return bad
			}
			return nil
		})
		if !errors.Is(err, c.want) || !slices.Equal(seen, c.seen) || len(left) != c.left {
			t.Errorf("%v: %v seen, %d left, error %v; want %v, %d, %v",
				c.records, seen, len(left), err, c.seen, c.left, c.want)
		}
	}
}
