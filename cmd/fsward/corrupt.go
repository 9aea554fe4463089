package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"fsward/hostd"
	"fsward/interp/btrfs"
	"fsward/interp/detect"
)

func corruptCommand() *cobra.Command {
	var cfg hostd.CorruptConfig
	var list, asJSON bool
	c := &cobra.Command{
		Use:   "corrupt {IMG | --base IMG --commit N --out NEWLOG LOG} {ALTERATION | --seed N}",
		Short: "Alter one named field of a file system, with right checksums",
		Long: `Makes the kind of damage that a bug in a file system makes, as opposed to a bad disk: one
object of the metadata is altered, its block gets the checksum that fits, and all copies are
the same. It is for testing checkers, fsward and others.

Given an image, the image is altered in place: work on a copy. Given a log of writes (fsward
guard --record makes one) and the image it starts from, a new log is written in which one commit
carries the alteration; only what the commit's transaction wrote is altered.

An alteration is one of

  ` + strings.ReplaceAll(btrfs.SpecHelp, "\n", "\n  ") + `

It is made at the first place that it fits, in the order of the trees, or with --pick N at the
place that comes N later. Instead of an alteration, --seed N takes one by chance; what it took is
printed, and can be given the next time.

The actions of items: delete, duplicate (there twice under the same key), add (a copy under the
next key), swap (contents exchanged with those of the next item of its kind and length), swapkeys
(keys exchanged with the next item), shrink and grow (a byte less, a byte more at its end).

--list prints the objects with their fields and actions. Only Btrfs can be altered so far.`,
		Example: `  fsward corrupt --list
  fsward corrupt disk.img inode_item.nlink+1
  fsward corrupt disk.img 'key_ptr.generation-1@tree=5'
  fsward corrupt --base disk.base.img --commit 3 --out bad.log disk.log 'extent_item!delete'
  fsward corrupt --seed 17 disk.img`,
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case list && len(args) == 0, len(args) == 1 && cfg.Seed != 0, len(args) == 2 && cfg.Seed == 0:
			default:
				return fmt.Errorf("one image or log, and an alteration or --seed; or --list alone")
			}
			if (cfg.Base == "") != (cfg.Out == "") {
				return fmt.Errorf("--base and --out go together: they are for a log")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			if list {
				return listAlterables(cfg.FS, asJSON)
			}
			if len(args) == 2 {
				cfg.Spec = args[1]
			}
			var done *hostd.Corrupted
			var err error
			if cfg.Base == "" {
				done, err = hostd.CorruptImage(args[0], cfg)
			} else {
				done, err = hostd.CorruptLog(c.Context(), args[0], cfg)
			}
			if err != nil {
				return err
			}
			if asJSON {
				return json.NewEncoder(os.Stdout).Encode(done)
			}
			fmt.Printf("%s\n%s --pick %d\n", done.What, done.Spec, done.Pick)
			return nil
		},
	}
	addFSFlag(c, &cfg.FS)
	c.Flags().BoolVar(&list, "list", false, "print what can be altered")
	c.Flags().IntVar(&cfg.Pick, "pick", 0, "alter the place that comes `N` after the first")
	c.Flags().Uint64Var(&cfg.Seed, "seed", 0, "take an alteration by chance, the same one for the same `N`; not 0")
	c.Flags().StringVar(&cfg.Base, "base", "", "`IMG` that the log starts from")
	c.Flags().IntVar(&cfg.Commit, "commit", 1, "alter the `N`-th commit of the log")
	c.Flags().StringVar(&cfg.Out, "out", "", "write the new log to `FILE`, which must not exist")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object a line")
	return c
}

// listAlterables prints what can be altered in a file system: Btrfs unless another is named.
func listAlterables(fs string, asJSON bool) error {
	if fs == detect.Auto {
		fs = "btrfs"
	}
	all := detect.Alterables(fs)
	if all == nil {
		return fmt.Errorf("%s: altering is not supported", fs)
	}
	out := json.NewEncoder(os.Stdout)
	for _, a := range all {
		if asJSON {
			if err := out.Encode(a); err != nil {
				return err
			}
			continue
		}
		var fields []string
		for _, f := range a.Fields {
			fields = append(fields, f.Name)
		}
		fmt.Printf("%s\n  fields:  %s\n", a.Object, strings.Join(fields, " "))
		if len(a.Actions) > 0 {
			fmt.Printf("  actions: %s\n", strings.Join(a.Actions, " "))
		}
	}
	return nil
}
