package repair

import "fmt"

// Count returns a number of things, for people: "1 group", "2 groups". The plural of the noun ends
// with s.
func Count[N int | uint64](n N, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
