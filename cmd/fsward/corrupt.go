package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"fsward/hostd/offline"
	btrfscorrupt "fsward/interp/btrfs/corrupt"
	"fsward/interp/detect"
	ext3corrupt "fsward/interp/ext3/corrupt"
)

func corruptCommand() *cobra.Command {
	var cfg offline.CorruptConfig
	var bases []string
	var list, asJSON bool
	c := &cobra.Command{
		Use:   "corrupt {IMG... | {--base IMG --out NEWLOG}... --commit N LOG...} {ALTERATION | --seed N}",
		Short: "Alter one named field of a file system, with right checksums",
		Long: `Makes the kind of damage that a bug in a file system makes, as opposed to a bad disk: one
object of the metadata is altered, its block gets the checksum that fits, and all copies are
the same. It is for testing checkers, fsward and others.

Given an image, the image is altered in place: work on a copy. Given a log of writes (fsward
guard --record makes one) and the image it starts from, a new log is written in which one commit
carries the alteration; only what the commit's transaction wrote is altered.

Where a file system has several disks, give the images of all of them; or the base of each, the
new log of each, and then the log of each, in the same order.

It is made at the first place that it fits, in the order of the trees or blocks, or with --pick N
at the place that comes N later. Instead of an alteration, --seed N takes one by chance; what it
took is printed, and can be given the next time. --list prints the objects of a file system (--fs)
with their fields, actions and kinds.

Of Btrfs, an alteration is one of

  ` + strings.ReplaceAll(btrfscorrupt.SpecHelp, "\n", "\n  ") + `

The actions of items: delete, duplicate (there twice under the same key), add (a copy under the
next key), swap (contents exchanged with those of the next item of its kind and length), swapkeys
(keys exchanged with the next item), shrink and grow (a byte less, a byte more at its end).

Of ext3, one of

  ` + strings.ReplaceAll(ext3corrupt.SpecHelp, "\n", "\n  ") + `

Where the contents of a block are in the journal, they are altered there, with the checksums of the
journal made right again where it has some. The actions: delete, duplicate, add (under another
name), swap (with the next one), move (a dirent to another directory), cycle (a directory below
itself, with all names and counts right), clear (an inode: all zeros), free (an inode: no links),
copy (an inode like the next), crosslink (a block that another one has too); of the bits of
bitmaps set, unset, and set_freed and unset_new, of those that the commit changes.`,
		Example: `  fsward corrupt --list
  fsward corrupt disk.img inode_item.nlink+1
  fsward corrupt disk.img 'key_ptr.generation-1@tree=5'
  fsward corrupt --base disk.base.img --commit 3 --out bad.log disk.log 'extent_item!delete'
  fsward corrupt a.img b.img chunk_item.stripe1.offset+4096
  fsward corrupt --base a.img --base b.img --commit 3 --out bad.a --out bad.b vm.log.a vm.log.b 'dev_extent!delete'
  fsward corrupt --seed 17 disk.img
  fsward corrupt --list --fs ext3
  fsward corrupt ext3.img 'inode.links_count+1@kind=directory'`,
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case list && len(args) == 0, !list && len(args) >= 1 && cfg.Seed != 0, !list && len(args) >= 2:
			default:
				return fmt.Errorf("the images or logs, and an alteration or --seed; or --list alone")
			}
			if len(bases) != len(cfg.Out) {
				return fmt.Errorf("--base and --out go together: they are for a log")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			if list {
				return listAlterables(cfg.FS, asJSON)
			}
			if cfg.Seed == 0 {
				args, cfg.Spec = args[:len(args)-1], args[len(args)-1]
			}
			done, err := corrupt(c, cfg, bases, args)
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
	c.Flags().StringArrayVar(&bases, "base", nil, "`IMG` that the log starts from; repeated where there are several disks")
	c.Flags().IntVar(&cfg.Commit, "commit", 1, "alter the `N`-th commit of the log")
	c.Flags().StringArrayVar(&cfg.Out, "out", nil, "write the new log to `FILE`, which must not exist; one for each log")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object a line")
	return c
}

// corrupt alters images, or logs where they have bases.
func corrupt(c *cobra.Command, cfg offline.CorruptConfig, bases, args []string) (*offline.Corrupted, error) {
	if len(bases) == 0 {
		return offline.CorruptImages(args, cfg)
	}
	disks, err := replayDisks(bases, args)
	if err != nil {
		return nil, usageError{err, c.CommandPath()}
	}
	return offline.CorruptLogs(c.Context(), disks, cfg)
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
		fmt.Println(a.Object)
		for _, l := range []struct {
			what string
			list []string
		}{{"fields: ", fields}, {"actions:", a.Actions}, {"kinds:  ", a.Kinds}} {
			if len(l.list) > 0 {
				fmt.Printf("  %s %s\n", l.what, strings.Join(l.list, " "))
			}
		}
	}
	return nil
}
