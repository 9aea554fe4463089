package daemon

import (
	"context"
	"os"
	"os/signal"

	"golang.org/x/sys/unix"

	"fsward/hostd/guard"
)

// reloadOnHangup reloads the rules when the process receives SIGHUP, until ctx ends or stop is
// called.
func (d *Daemon) reloadOnHangup(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, unix.SIGHUP)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-hangups:
				_, _ = d.Reload() // Reload has logged the error
			case <-ctx.Done():
				return
			}
		}
	}()
	return func() {
		signal.Stop(hangups)
		cancel()
		<-done
	}
}

// Reloaded is what a reload has changed in the rules of a guest.
type Reloaded struct {
	Guest string `json:"guest,omitempty"` // "" if the daemon guards one guest
	guard.RuleChanges
}

func (d *Daemon) reload() ([]Reloaded, error) {
	changes, err := d.Reload()
	return []Reloaded{{RuleChanges: changes}}, err
}
