//go:build vmtest

package host

import (
	"context"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest"

	"fsward/explore/guest"
	"fsward/explore/machine"
	"fsward/hostd/guardtest"
)

// inGuest boots a guest with the present agent, and runs do in it for at most limit.
func inGuest(t *testing.T, limit time.Duration,
	do func(ctx context.Context, m *machine.Machine) error) {
	t.Helper()
	inGuestWith(t, limit, guest.Needs{}, do)
}

// inGuestWith does the same in a guest that has packages and modules in addition.
func inGuestWith(t *testing.T, limit time.Duration, needs guest.Needs,
	do func(ctx context.Context, m *machine.Machine) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	dir := guardtest.GuestDir(t)
	if _, err := guest.Build(ctx, guardtest.Project(t), dir); err != nil {
		t.Fatal(err)
	}
	log := zaptest.NewLogger(t, zaptest.WrapOptions(zap.AddStacktrace(zap.PanicLevel)))
	if err := WithMachine(ctx, GuestConfig{Dir: dir, Needs: needs}, log,
		func(m *machine.Machine) error { return do(ctx, m) }); err != nil {
		t.Fatal(err)
	}
}
