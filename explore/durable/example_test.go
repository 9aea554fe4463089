package durable_test

import (
	"fmt"

	"fsward/explore/crash"
	"fsward/explore/durable"
)

// An account finds calls of fsync that return before their writes are durable. Here the call a
// waits for a flush, and the call b does not.
func ExampleAccount_Follow() {
	mark := func(text string) crash.Event { return crash.Event{Kind: crash.Marked, Mark: text} }
	write := func(id, off uint64) crash.Event {
		return crash.Event{Kind: crash.Issued, Write: crash.Write{ID: id, Off: off, Len: 4096}}
	}
	flush := crash.Event{Kind: crash.Settled, All: true}
	log := func(yield func(crash.Event, error) bool) {
		for _, ev := range []crash.Event{
			mark("begin a"), write(1, 0), flush, mark("return a"),
			mark("begin b"), write(2, 8192), mark("return b"), flush,
		} {
			if !yield(ev, nil) {
				return
			}
		}
	}
	var account durable.Account
	debts, err := account.Follow(log)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, d := range debts {
		fmt.Println(d)
	}
	// Output: b returned before these writes were durable: 4096 bytes at 8192
}
