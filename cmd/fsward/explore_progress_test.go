package main

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fsward/explore"
)

// TestProgressOfALongStep checks that the progress says that steps ask for no new crash only if
// steps have ended since the last one: one step may take minutes.
func TestProgressOfALongStep(t *testing.T) {
	for _, ended := range []uint64{0, 1} {
		synctest.Test(t, func(t *testing.T) {
			var out strings.Builder
			p := &exploreProgress{out: &out, err: &out, began: time.Now()}
			e := explore.Event{Event: "progress"}
			e.Runs, e.CrashStates = 3, 7
			p.event(e)
			time.Sleep(time.Minute)
			e.Runs += ended
			p.event(e)
			if says := strings.Contains(out.String(), "no step asked"); says != (ended > 0) {
				t.Errorf("%d steps ended: %s", ended, &out)
			}
		})
	}
}
