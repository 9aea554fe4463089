package main

import (
	"fmt"
	"strconv"
	"strings"
)

// parseBytes reads a number of bytes: 268435456, 256M, 1G.
func parseBytes(s string) (uint64, error) {
	number, shift := strings.ToUpper(s), 0
	for i, unit := range []string{"K", "M", "G", "T"} {
		if rest, ok := strings.CutSuffix(strings.TrimSuffix(strings.TrimSuffix(number, "B"), "I"),
			unit); ok {
			number, shift = rest, 10*(i+1)
			break
		}
	}
	n, err := strconv.ParseUint(number, 10, 64)
	if err != nil || n > 1<<63>>shift {
		return 0, fmt.Errorf("%q is not a number of bytes, such as 256M", s)
	}
	return n << shift, nil
}
