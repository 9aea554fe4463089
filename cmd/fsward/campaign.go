package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"fsward/change"
	"fsward/explore/campaign"
	"fsward/repair"
)

func campaignCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "campaign",
		Short: "Divide a large test among guests and machines",
		Long: fmt.Sprintf(`A campaign is a command of fsward with many cases, such as all workloads of
a set. It is divided into units, which workers take from a queue. Each case
counts once, even if a worker, the server or the machine is killed: another
worker takes the unit, and fsward campaign resume continues the campaign.

Kinds of campaigns: %s.

With --dir the queue is in a folder, and no port is open. With --nats it is on a NATS server with
JetStream, from which fsward worker takes units on any machine.

docs/user/campaigns.md is an introduction.`, strings.Join(campaign.Kinds(), ", ")),
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(campaignStartCommand(), campaignResumeCommand(), campaignStatusCommand(),
		campaignStateCommand("pause", campaign.Paused, "Finish the running units, and start no others"),
		campaignStateCommand("cancel", campaign.Canceled,
			"Stop the running units, and drop the others; results are kept"),
		campaignResultsCommand())
	return c
}

// campaignFlags are the flags that say where a campaign is.
type campaignFlags struct {
	address campaign.Address
	name    string
	json    bool
}

func (f *campaignFlags) add(c *cobra.Command) {
	f.addServer(c)
	c.Flags().StringVar(&f.name, "name", "", "use the campaign `NAME`, if the server has several")
	addJSONFlag(c, &f.json)
}

// addServer adds the flags that say where the server is.
func (f *campaignFlags) addServer(c *cobra.Command) {
	c.Flags().StringVar(&f.address.Dir, "dir", "", "use the queue in the folder `DIR`")
	c.Flags().StringVar(&f.address.URL, "nats", "",
		"use the queue of the NATS server at `URL`, such as tls://nats.example.com")
	c.Flags().StringVar(&f.address.Credentials, "nats-creds", "",
		"read the user's credentials for --nats from `FILE`, as nsc makes it")
	c.Flags().StringVar(&f.address.CA, "tls-ca", "",
		"accept servers whose certificates `FILE` signs (default: the certificates of the system)")
	c.Flags().StringVar(&f.address.Cert, "tls-cert", "",
		"read the client certificate for --nats from `FILE`")
	c.Flags().StringVar(&f.address.Key, "tls-key", "", "read the key of --tls-cert from `FILE`")
}

// check checks the flags.
func (f *campaignFlags) check(c *cobra.Command) error {
	err := f.address.Check()
	if err == nil && f.name != "" {
		err = campaign.CheckName(f.name)
	}
	if err != nil {
		return usageError{err, c.CommandPath()}
	}
	return nil
}

// with connects to the server, and calls f. If create is set, a folder may have no server yet.
func (f *campaignFlags) with(c *cobra.Command, create bool,
	do func(ctx context.Context, client *campaign.Client) error) error {
	if err := f.check(c); err != nil {
		return err
	}
	client, err := campaign.Connect(c.Context(), f.address, create)
	if err != nil {
		return err
	}
	defer client.Close()
	return do(c.Context(), client)
}

// withQueue connects to the server, and calls f with the campaign.
func (f *campaignFlags) withQueue(c *cobra.Command,
	do func(ctx context.Context, client *campaign.Client, q *campaign.Queue) error) error {
	return f.with(c, false, func(ctx context.Context, client *campaign.Client) error {
		q, err := client.Find(ctx, f.name)
		if err != nil {
			return err
		}
		return do(ctx, client, q)
	})
}

// campaignStateCommand returns the command that sets a state.
func campaignStateCommand(verb string, state campaign.State, short string) *cobra.Command {
	var f campaignFlags
	c := &cobra.Command{
		Use:     verb + " --dir DIR | --nats URL",
		Short:   short,
		Example: "  fsward campaign " + verb + " --dir ext3-seq-1",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return f.withQueue(c, func(ctx context.Context, _ *campaign.Client, q *campaign.Queue) error {
				if err := q.SetState(ctx, state); err != nil {
					return err
				}
				return f.printStatus(ctx, c, q, q.NewTally())
			})
		},
	}
	f.add(c)
	return c
}

func campaignResumeCommand() *cobra.Command {
	var f campaignFlags
	var w workerFlags
	c := &cobra.Command{
		Use:   "resume --dir DIR | --nats URL",
		Short: "Continue a campaign that was paused or whose processes were killed",
		Long: `Lets workers take units again, and puts units into the queue that were lost. With --dir it
also runs units itself until everything is done.

Exit status: as that of fsward campaign start.`,
		Example: `  fsward campaign resume --dir ext3-seq-1
  fsward campaign resume --nats tls://nats.example.com --name ext3-seq-1`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return f.withQueue(c, func(ctx context.Context, client *campaign.Client,
				q *campaign.Queue) error {
				w.local(c, f.address.Dir != "")
				if err := q.SetState(ctx, campaign.Running); err != nil {
					return err
				}
				return f.test(ctx, c, client, q, &w)
			})
		},
	}
	f.add(c)
	w.add(c)
	return c
}

// test puts the missing units of a campaign into the queue, runs units until everything is done,
// and prints the status.
func (f *campaignFlags) test(ctx context.Context, c *cobra.Command, client *campaign.Client,
	q *campaign.Queue, w *workerFlags) error {
	queued, err := q.Submit(ctx)
	if err != nil {
		return fmt.Errorf("the units: %w", err)
	}
	name := q.Definition.Name
	fmt.Fprintf(c.ErrOrStderr(), "%s: %s queued\n", name, repair.Count(queued, "unit"))
	if r, err := q.Record(ctx); err == nil && r.State == campaign.Paused {
		fmt.Fprintf(c.ErrOrStderr(), "%s is paused: fsward campaign resume lets it go on\n", name)
	}
	if w.guests > 0 {
		worker, err := w.worker(c, client, f.json)
		if err != nil {
			return err
		}
		worker.Campaign, worker.UntilDone = name, true
		if err := worker.Run(ctx); err != nil {
			return err
		}
	}
	t := q.NewTally()
	// A request to end reaches the worker through ctx, and the status is of interest then, too.
	after, cancel := context.WithTimeout(context.WithoutCancel(ctx), statusTime)
	defer cancel()
	if err := f.printStatus(after, c, q, t); err != nil {
		return err
	}
	if w.guests == 0 {
		return nil
	}
	return outcomeOf(after, q, t)
}

// outcomeOf returns the outcome of a campaign as the exit status has it.
func outcomeOf(ctx context.Context, q *campaign.Queue, t *campaign.Tally) error {
	list, bad, err := q.Findings(ctx)
	if err != nil {
		return err
	}
	return campaignOutcome(list, bad, t.Poisoned == 0 && t.Done())
}

// campaignOutcome returns the outcome of findings, of which bad could not be read. complete says
// that every index was tested.
func campaignOutcome(list []campaign.Finding, bad uint64, complete bool) error {
	if bad > 0 || !complete {
		return outcome(change.Undecided)
	}
	for _, e := range list {
		if !e.Surprise {
			return outcome(change.Violated)
		}
	}
	return nil
}
