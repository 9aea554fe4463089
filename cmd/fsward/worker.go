package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"fsward/explore/campaign"
	"fsward/explore/campaign/child"
	"fsward/hostd/output"
	"fsward/repair"
)

// workerFlags are the flags of every command that runs units.
type workerFlags struct {
	guests int
	guest  string
	cpus   string
	work   string
}

func (f *workerFlags) add(c *cobra.Command) {
	addNumber(c, &f.guests, "guests", 1, 0, "run `N` units at a time, each with a guest of its own")
	c.Flags().StringVar(&f.guest, "guest", defaultGuest,
		"boot the guest in `DIR`, which make guest built")
	c.Flags().StringVar(&f.cpus, "cpus", "",
		"divide the processors of the `LIST`, such as 0-3,8, among the running units")
	c.Flags().StringVar(&f.work, "work", os.TempDir(), "keep files of running units in `DIR`")
}

// local sets the default number of units for a command that need not run any: one if the queue is
// in a folder, because nobody else may be there to run it.
func (f *workerFlags) local(c *cobra.Command, folder bool) {
	if !c.Flags().Changed("guests") && !folder {
		f.guests = 0
	}
}

// buildOf returns what identifies the program of a kind of units to workers.
func buildOf(k *campaign.Kind) (string, error) {
	program, err := os.Executable()
	if err != nil {
		return "", err
	}
	build, err := child.Build(output.Version(), k.Path(program))
	if errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("%w: make %s, or make install, puts it there", err, k.Program)
	}
	return build, err
}

// guestVersion returns what identifies the guest; "": any guest will do.
func (f *workerFlags) guestVersion() (string, error) {
	if f.guest == "" {
		return "", nil
	}
	return child.GuestVersion(f.guest)
}

// worker returns a worker of this process.
func (f *workerFlags) worker(c *cobra.Command, client *campaign.Client,
	asJSON bool) (*campaign.Worker, error) {
	host, err := os.Hostname()
	if err != nil {
		return nil, err
	}
	r := &child.Runner{Work: f.work}
	if r.Program, err = os.Executable(); err != nil {
		return nil, err
	}
	if r.Guest, err = filepath.Abs(f.guest); err != nil {
		return nil, err
	}
	if r.CPUs, err = child.ParseCPUs(f.cpus, f.guests); err != nil {
		return nil, usageError{err, c.CommandPath()}
	}
	return &campaign.Worker{Client: client, Runner: r, Slots: f.guests, Check: f.checkVersion(),
		Name:    fmt.Sprintf("%s-%d", host, os.Getpid()),
		OnEvent: func(e campaign.Event) { printWorker(c, e, asJSON) }}, nil
}

// checkVersion returns what refuses campaigns of other versions.
func (f *workerFlags) checkVersion() func(*campaign.Definition) error {
	guest, guestErr := f.guestVersion()
	return func(d *campaign.Definition) error {
		k, err := campaign.KindOf(d.Kind)
		if err != nil {
			return err
		}
		build, err := buildOf(k)
		switch {
		case err != nil:
			return err
		case d.Build != build:
			return fmt.Errorf("its fsward is %s, but this worker is %s", d.Build, build)
		case k.Guest && guestErr != nil:
			return guestErr
		case k.Guest && d.Guest != "" && d.Guest != guest:
			return fmt.Errorf("its guest is %s, but the guest in %s is %s", d.Guest, f.guest, guest)
		}
		return checkCarried(d)
	}
}

// printWorker prints what a worker did: for people on stderr, or as a line of JSON on stdout.
func printWorker(c *cobra.Command, e campaign.Event, asJSON bool) {
	if asJSON {
		_ = output.NewLines(c.OutOrStdout(), "").Print(e) // as everything that reports progress
		return
	}
	text := e.Text
	if e.Event == "tested" {
		text = fmt.Sprintf("%s in %.1f s", repair.Count(e.Findings, "finding"), e.Seconds)
	}
	where := ""
	switch {
	case e.Unit != "":
		where = e.Campaign + " " + e.Unit + ": "
	case e.Campaign != "":
		where = e.Campaign + ": "
	}
	fmt.Fprintf(c.ErrOrStderr(), "%s%s: %s\n", where, e.Event, text)
}

func workerCommand() *cobra.Command {
	var f campaignFlags
	var w workerFlags
	var untilDone bool
	c := &cobra.Command{
		Use:   "worker --nats URL | --dir DIR",
		Short: "Run units of campaigns, on any machine",
		Long: `Takes units of the campaigns of a server, and runs them. It runs only commands and
flags that fsward campaign start offers. The files that it takes from the server are sets of
workloads, and stacks, whose commands run in the guest. It refuses campaigns of another version of
fsward or of the guest, and says why on stderr.

If the server is away, the worker finishes its units, and keeps the results until the server is
back. A worker that is asked to end gives its units back. If it is killed, its units go to others
after half a minute.

Exit status: 0 it was asked to end, or the queues are empty, 2 wrong usage, 3 nothing could be run
here: several units in a row failed, or all campaigns were refused.`,
		Example: `  fsward worker --nats tls://nats.example.com --nats-creds worker.creds --guests 4
  fsward worker --dir ext3-seq-1 --cpus 2-3`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if w.guests < 1 {
				return usageError{errors.New("--guests must be 1 or more"), c.CommandPath()}
			}
			return f.with(c, false, func(ctx context.Context, client *campaign.Client) error {
				worker, err := w.worker(c, client, f.json)
				if err != nil {
					return err
				}
				worker.Campaign, worker.UntilDone = f.name, untilDone
				return worker.Run(ctx)
			})
		},
	}
	f.add(c)
	w.add(c)
	c.Flags().BoolVar(&untilDone, "until-done", false, "end when the queues are empty")
	return c
}
