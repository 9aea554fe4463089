package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"fsward/hostd/offline"
	"fsward/interp"
	btrfscorrupt "fsward/interp/btrfs/corrupt"
	ext3corrupt "fsward/interp/ext3/corrupt"
)

var corruptHelp = `Alters one object of the metadata as a bug in a file system would, not as a bad
disk would: the block gets the right checksum, and all copies are the same. It tests checkers,
fsward and others.

Given an image, the command alters the image in place: work on a copy. Given a log of writes (fsward
guard --record makes one) and the image it starts from, it writes a new log in which one commit
carries the alteration. It alters only blocks that the commit's transaction wrote.

On a disk with several volumes, the command alters the one volume where the alteration fits. If it
fits on several, the command alters nothing and names them: give IMG:p2 for the second partition,
IMG:vg/lv for a logical volume. --seed chooses among all volumes. In a log, --commit counts the
commits of all volumes together, and with --base IMG:p2 those of that volume alone.

For a file system on several disks, give the images of all of them; or the base of each, the new log
of each, and then the log of each, in the same order.

The command makes the alteration at the first place where it fits, in the order of the trees or
blocks, or with --pick N at the N-th place after it. Instead of an alteration, --seed N chooses one
at random; the command prints its choice, which you can give the next time. --list prints the
objects of a file system (--fs) with their fields, actions and kinds, or those of each volume of the
images.

For Btrfs, an alteration is one of

  ` + strings.ReplaceAll(btrfscorrupt.SpecHelp, "\n", "\n  ") + `

The actions of items: delete, duplicate (a second item with the same key), add (a copy with the next
key), swap (exchange the contents with the next item of its kind and length), swapkeys (exchange the
keys with the next item), shrink and grow (one byte less or more at its end).

For ext3, one of

  ` + strings.ReplaceAll(ext3corrupt.SpecHelp, "\n", "\n  ") + `

If the journal has the contents of a block, the command alters the copy in the journal, and corrects
the checksums of the journal, if it has any. The actions: delete, duplicate, add (under another
name), swap (with the next one), move (a dirent to another directory), cycle (put a directory below
itself, with all names and counts right), clear (fill an inode with zeros), free (give an inode no
links), copy (make an inode equal to the next one), crosslink (use a block that another object has
too). The bits of bitmaps have the actions set and unset, and set_freed and unset_new for bits that
the commit changes.`

func corruptCommand() *cobra.Command {
	var cfg offline.CorruptConfig
	var bases []string
	var list, asJSON bool
	c := &cobra.Command{
		Use: "corrupt {IMG... | {--base IMG --out NEWLOG}... --commit N LOG...} " +
			"{ALTERATION | --seed N | --list}",
		Short: "Alter one named field of a file system, with right checksums",
		Long:  corruptHelp,
		Example: `  fsward corrupt --list
  fsward corrupt disk.img inode_item.nlink+1
  fsward corrupt disk.img 'key_ptr.generation-1@tree=5'
  fsward corrupt --base disk.base.img --commit 3 --out bad.log disk.log 'extent_item!delete'
  fsward corrupt a.img b.img chunk_item.stripe1.offset+4096
  fsward corrupt --base a.img --base b.img --commit 3 --out bad.a --out bad.b \
    vm.log.a vm.log.b 'dev_extent!delete'
  fsward corrupt --seed 17 disk.img
  fsward corrupt vm.img:p2 inode_item.nlink+1
  fsward corrupt --list --fs ext3
  fsward corrupt --list vm.img
  fsward corrupt ext3.img 'inode.links_count+1@kind=directory'`,
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case list, len(args) >= 1 && cfg.Seed != 0, len(args) >= 2:
			default:
				return fmt.Errorf("give images or logs, and an alteration or --seed; or give --list")
			}
			if len(bases) != len(cfg.Out) {
				return fmt.Errorf("--base and --out go together: they are for a log")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			if list {
				return listAlterables(args, cfg.FS, asJSON)
			}
			return corrupt(c, cfg, bases, args, asJSON)
		},
	}
	addFSFlag(c, &cfg.FS)
	c.Flags().BoolVar(&list, "list", false,
		"print the objects, fields and actions that can be altered")
	addNumber(c, &cfg.Pick, "pick", 0, 0, "alter the `N`-th place after the first one")
	c.Flags().Uint64Var(&cfg.Seed, "seed", 0,
		"choose an alteration at random: the same `N`, which is not 0, chooses the same alteration")
	addBaseFlag(c, &bases)
	addNumber(c, &cfg.Commit, "commit", 1, 1, "alter the `N`-th commit of the log")
	c.Flags().StringArrayVar(&cfg.Out, "out", nil,
		"write the new log to `FILE`, which must not exist; one for each log")
	addJSONFlag(c, &asJSON)
	return c
}

// corrupt alters images, or logs if bases are given, and prints the alteration. Without a seed the
// last argument is the alteration.
func corrupt(c *cobra.Command, cfg offline.CorruptConfig, bases, args []string, asJSON bool) error {
	if cfg.Seed == 0 {
		args, cfg.Spec = args[:len(args)-1], args[len(args)-1]
	}
	done, err := alter(c, cfg, bases, args)
	if err != nil {
		return err
	}
	if asJSON {
		return printJSON(done)
	}
	if done.Volume != "" {
		fmt.Printf("volume %s: ", done.Volume)
	}
	fmt.Printf("%s\n%s --pick %d\n", done.What, done.Spec, done.Pick)
	return nil
}

func alter(c *cobra.Command, cfg offline.CorruptConfig, bases,
	files []string) (*offline.Corrupted, error) {
	if len(bases) == 0 {
		return offline.CorruptImages(files, cfg)
	}
	disks, err := replayDisks(bases, files)
	if err != nil {
		return nil, usageError{err, c.CommandPath()}
	}
	return offline.CorruptLogs(c.Context(), disks, cfg)
}

// listAlterables prints the objects that can be altered: on each volume of images, or in the file
// system fs.
func listAlterables(images []string, fs string, asJSON bool) error {
	all, err := offline.Alterables(images, fs)
	if err != nil {
		return err
	}
	for _, v := range all {
		if v.Volume != "" && !asJSON {
			fmt.Printf("volume %s: %s\n", v.Volume, v.FS)
		}
		for _, a := range v.List {
			if !asJSON {
				writeAlterable(a)
				continue
			}
			if err := printJSON(struct {
				Volume string `json:"volume,omitempty"`
				interp.Alterable
			}{v.Volume, a}); err != nil {
				return err
			}
		}
	}
	return nil
}

func writeAlterable(a interp.Alterable) {
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
