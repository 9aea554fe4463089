package agent

import (
	"fmt"
	"time"
)

// CheckResults checks the results of a Batch of ops, in their order. It returns an error that names
// the first operation that failed, or that has no result because it did not end within limit.
func CheckResults(ops []Op, results []Result, limit time.Duration) error {
	for i, r := range results {
		if r.Errno != 0 {
			return fmt.Errorf("%v: %w", ops[i], r.Err())
		}
	}
	if len(results) < len(ops) {
		return fmt.Errorf("%v did not end within %v", ops[len(results)], limit)
	}
	return nil
}
