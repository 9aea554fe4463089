package checkers

import (
	"testing"

	"fsward/explore"
)

// TestStopped: a file system may stop itself when the disk fails, as long as the next mount shows
// what a crash may leave.
func TestStopped(t *testing.T) {
	for bug, want := range map[string]string{
		"a stop until the next mount":       "",
		"a stop leaves a strange directory": "appeared",
	} {
		t.Run(bug, func(t *testing.T) {
			cfg, ctx := config(t, "failed-syscalls", bug, none, 2)
			got, err := explore.Run(ctx, cfg)
			if err != nil {
				t.Fatal(err)
			}
			kind := ""
			if len(got.Errors) > 0 {
				kind = got.Errors[0].Kind
			}
			if kind != want {
				t.Errorf("found %q, want %q: %+v", kind, want, got.Errors)
			}
		})
	}
}
