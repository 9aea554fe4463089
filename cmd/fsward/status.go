package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"fsward/hostd/daemon"
	"fsward/hostd/guard"
	"fsward/repair"
)

func statusCommand() *cobra.Command {
	var control string
	c := &cobra.Command{
		Use:   "status --control unix:PATH",
		Short: "Show the volumes on the disks of a running daemon",
		Long: `Prints a line for each volume on the disks that a running fsward guard or vm run guards:
DISK for a whole disk, DISK:p2 for a partition, DISK:vg/lv for a logical volume. The line has the
file system, the commits judged and refused, the state of the volume, the check of the baseline, and
the write that is held, if any. If the judgment of a commit takes longer than a second, a line below
shows how far it is. If a commit waits for another disk, a line below says for which, and how long.
Lines at the end show the rules in force with their hash, which each verdict has in JSON, the
reports that were dropped, the recordings, and the audits of crash states.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			client, err := controlClient(c, control)
			if err != nil {
				return err
			}
			volumes, err := client.Status()
			if err != nil {
				return err
			}
			const row = "%-16s %-8s %10v %8v  %-26s %-28s %s\n"
			fmt.Printf(row, "VOLUME", "FS", "COMMITS", "REFUSED", "STATE", "BASELINE", "HELD")
			for _, s := range volumes {
				fmt.Printf(row, s.Name(), s.FS, s.Commits, s.Refused, s.State, s.Baseline, s.Held)
				if s.Judging != nil {
					fmt.Printf("%-10s a commit is being judged: %s\n", "", s.Judging)
				}
				if s.Late != nil {
					fmt.Printf("%-10s %s\n", "", s.Late)
				}
			}
			self, err := client.Self()
			if err != nil {
				return err
			}
			printSelf(self)
			return nil
		},
	}
	addControlFlag(c, &control)
	return c
}

// printSelf prints what there is to say about the daemon itself.
func printRuleSet(heading string, rules guard.RuleSetInfo) {
	fmt.Printf("%s %s\n", heading, rules)
	for _, b := range rules.Bundles {
		fmt.Printf("  bundle %s\n", b)
	}
	for _, s := range rules.Settings {
		fmt.Printf("  %s\n", s)
	}
}

func printSelf(self daemon.Self) {
	if len(self.Guests) == 0 {
		printRuleSet("rules", self.Rules)
	}
	for _, g := range self.Guests {
		printRuleSet(g.Guest+": rules", g.Rules)
	}
	for _, o := range self.Outputs {
		if o.Dropped > 0 || o.Waiting > 0 {
			fmt.Printf("%s: %d of %d wait for the reader, %d dropped\n", o.Name, o.Waiting, o.Messages,
				o.Dropped)
		}
	}
	for _, a := range self.CrashAudits {
		name := a.Disk
		if a.Guest != "" {
			name = a.Guest + "/" + name
		}
		fmt.Printf("crash states of %s: %s; %s\n", name, repair.Count(a.Findings, "finding"), a.Totals)
		if a.Error != "" {
			fmt.Printf("the audit of %s has ended: %s\n", name, a.Error)
		}
	}
	if r := self.Recording; r != nil {
		fmt.Printf("recording %s: segments %d to %d, %d MiB\n", strings.Join(r.Logs, ", "), r.First,
			r.Last, r.Bytes>>20)
		if r.Error != "" {
			fmt.Printf("the recording has stopped: %s\n", r.Error)
		}
	}
}
