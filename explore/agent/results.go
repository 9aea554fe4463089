package agent

import (
	"fmt"
	"time"
)

// CheckResults returns an error that names the first of ops that failed, or that has no result, since it did not end
// within limit. results are those of a Batch of ops, in their order.
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
