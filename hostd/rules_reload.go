package hostd

import (
	"context"
	"fmt"
	"os"
	"os/signal"

	"go.uber.org/zap"
	"golang.org/x/sys/unix"
)

// Reload reads the rules again, puts them in force between two commits and returns how many there are. If they do not
// load the old ones stay in force, and the error says so.
func (d *Daemon) Reload() (rules int, err error) {
	swap, err := d.rules.Reload()
	if err != nil {
		err = fmt.Errorf("the rules do not load, those that were in force stay: %w", err)
		d.log.Error("rules not reloaded", zap.Error(err))
		return 0, err
	}
	swap()
	for _, fs := range FileSystems() {
		rules += len(d.rules.List(fs))
	}
	d.log.Info("rules reloaded", zap.Int("rules", rules))
	return rules, nil
}

// reloadOnHangup reloads the rules whenever the process gets SIGHUP, until ctx ends or stop is called.
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
				_, _ = d.Reload() // it is in the log
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
