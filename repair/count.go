package repair

import (
	"fmt"
	"strings"
)

// Count returns a number of things, for people: "1 group", "2 groups", "2 crashes", "2 entries".
func Count[N int | int64 | uint32 | uint64](n N, noun string) string {
	stem, isY := strings.CutSuffix(noun, "y")
	switch {
	case n == 1:
		return "1 " + noun
	case isY && !strings.ContainsAny(stem[len(stem)-1:], "aeiou"):
		return fmt.Sprintf("%d %sies", n, stem)
	case strings.HasSuffix(noun, "sh"):
		return fmt.Sprintf("%d %ses", n, noun)
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
