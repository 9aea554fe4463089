package output_test

import (
	"fmt"
	"os"
	"time"

	"fsward/hostd/output"
)

// A queue takes messages at once, and gives them to its writer in order.
func ExampleQueue() {
	q := output.NewQueue("reports", os.Stdout, 0, output.TextNotice("reports"))
	fmt.Fprintln(q, "commit 7 holds")
	fmt.Fprintln(q, "commit 8 is violated")
	counts := q.Close(time.Minute)
	fmt.Println(counts.Messages, "messages,", counts.Dropped, "dropped")
	// Output:
	// commit 7 holds
	// commit 8 is violated
	// 2 messages, 0 dropped
}
