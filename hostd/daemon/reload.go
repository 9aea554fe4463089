package daemon

import (
	"context"
	"os"
	"os/signal"

	"golang.org/x/sys/unix"
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
