//go:build vmtest

package host

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"fsward/explore/agent"
	"fsward/explore/guest"
)

// failsAs waits for a failure, which must be of a kind.
func (r *explorerRig) failsAs(t *testing.T, kind guest.FailureKind) *guest.Failure {
	t.Helper()
	select {
	case <-r.Failed():
	case <-time.After(time.Minute):
		t.Fatalf("no failure within a minute, want: %s", kind)
	}
	f := r.Failure()
	if f.Kind != kind {
		t.Fatalf("%v, want: %s", f, kind)
	}
	return f
}

// restored restores the guest and checks that it works.
func (r *explorerRig) restored(t *testing.T, c *guest.Checkpoint) {
	t.Helper()
	begin := time.Now()
	if err := r.Restore(r.ctx, c); err != nil {
		t.Fatal(err)
	}
	if r.Failure() != nil {
		t.Error("the restored guest has failed")
	}
	if got := r.sh(t, "cat /tmp/kept"); got != "kept\n" {
		t.Errorf("the file in the restored guest holds %q", got)
	}
	t.Logf("restored and working after %v", time.Since(begin).Round(time.Millisecond))
}

// hasLine reports whether a line contains a text.
func hasLine(lines []string, text string) bool {
	return slices.ContainsFunc(lines, func(s string) bool { return strings.Contains(s, text) })
}

// late is how long a failure that should show within a second may take on a busy host. The actual
// time is logged.
const late = 10 * time.Second

// hang checks that a guest in which only one process still runs is reported to hang, within a
// second in which it could have answered.
func (r *explorerRig) hang(t *testing.T) {
	r.sh(t, "echo kept >/tmp/kept")
	c, err := r.Save(r.ctx)
	if err != nil {
		t.Fatal(err)
	}
	// A process spins on the only processor with a real-time priority. The script removes the kernel's
	// limits of real-time processes first. Since Linux 6.12 the fair server is one of them.
	r.sh(t, `echo -1 >/proc/sys/kernel/sched_rt_runtime_us
		grep -q /sys/kernel/debug /proc/mounts || mount -t debugfs debugfs /sys/kernel/debug
		for f in /sys/kernel/debug/sched/fair_server/cpu*/runtime; do [ ! -e $f ] || echo 0 >$f; done
		(
			sleep 0.3
			echo '<0>spinning' >/dev/kmsg
			exec chrt -f 99 sh -c 'while :; do :; done'
		) >/dev/null 2>&1 &`)
	r.con.wait(t, "spinning")
	r.SetSilence(800 * time.Millisecond)
	f := r.failsAs(t, guest.Hung)
	t.Logf("detected %v after the last line of the console: silent for %v of that",
		r.con.since(t, "spinning").Round(time.Millisecond), f.Silent.Round(time.Millisecond))
	if f.Silent <= 0 || f.Silent > late {
		t.Errorf("the guest was silent for %v", f.Silent)
	}
	if !hasLine(f.Console, "spinning") {
		t.Errorf("the last lines of the console are %q", f.Console)
	}
	var failure *guest.Failure
	_, err = r.Run(r.ctx, agent.Command{Args: []string{"true"}, Timeout: time.Second})
	if !errors.As(err, &failure) || failure.Kind != guest.Hung {
		t.Errorf("a command in a guest that hangs: %v", err)
	}
	r.SetSilence(20 * time.Second)
	r.restored(t, c)
	if err := r.Drop(r.ctx, c); err != nil {
		t.Error(err)
	}
}

// panics checks that a panic ends the request in progress within a second, with the kernel's
// messages.
func (r *explorerRig) panics(t *testing.T) {
	c, err := r.Save(r.ctx)
	if err != nil {
		t.Fatal(err)
	}
	_, err = r.Run(r.ctx, agent.Command{Args: []string{"sh", "-c", "echo c >/proc/sysrq-trigger"},
		Timeout: time.Minute})
	took := r.con.since(t, "Kernel panic")
	var failure *guest.Failure
	if !errors.As(err, &failure) || failure.Kind != guest.Panicked {
		t.Fatalf("the request in progress ends with %v", err)
	}
	t.Logf("detected %v after the line; %d lines of the console, %q", took.Round(time.Millisecond),
		len(failure.Console), failure.Text)
	if took > late {
		t.Errorf("a panic was detected after %v", took)
	}
	for _, text := range []string{"sysrq", "Call Trace", "Kernel panic - not syncing"} {
		if !hasLine(failure.Console, text) {
			t.Errorf("the last lines of the console lack %q:\n%s", text,
				strings.Join(failure.Console, "\n"))
		}
	}
	r.restored(t, c)
}

// gone checks that the end of a guest is detected within a second, and that the guest cannot be
// restored.
func (r *explorerRig) gone(t *testing.T) {
	c, err := r.Save(r.ctx)
	if err != nil {
		t.Fatal(err)
	}
	_, err = r.Run(r.ctx, agent.Command{Args: []string{"poweroff", "-nf"}, Timeout: time.Minute})
	var failure *guest.Failure
	if !errors.As(err, &failure) && !errors.Is(err, agent.ErrClosed) {
		t.Errorf("the request in progress ends with %v", err)
	}
	begin := time.Now()
	_ = r.failsAs(t, guest.Gone)
	if took := time.Since(begin); took > late {
		t.Errorf("the end of the guest was detected %v after its connection ended", took)
	}
	if err := r.Restore(context.Background(), c); !errors.As(err, &failure) {
		t.Errorf("restoring a guest that has ended: %v", err)
	}
}
