package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"fsward/explore/b3"
	"fsward/explore/campaign"
	"fsward/explore/spec"
)

// campaignStart is campaign start as its flags describe it.
type campaignStart struct {
	campaignFlags
	workerFlags
	vary     []string
	unit     uint64
	spread   bool
	replicas int
}

// Sizes of a unit: about a minute's work in an emulated guest, or of a fast repair program.
const (
	defaultUnit    = 64
	defaultDamages = 2048
)

func campaignStartCommand() *cobra.Command {
	var s campaignStart
	c := &cobra.Command{
		Use:   "start KIND --dir DIR | --nats URL [flags] -- ARGS...",
		Short: "Divide a command into units, and test them",
		Long: `KIND is the command whose flags follow "--":

  b3       fsward explore b3: all workloads of a set, in units of some ranks
  explore  fsward explore run, one unit for each combination of values of --vary
  survey   fsward explore survey, one unit for each file system
  fsck     fsward fsck run, one unit for each combination of values of --vary, and for each part of
           --unit damages of --range
  matrix   fsward-matrix, which make fsward-matrix builds: altered commits that the checker of the
           file system reports and fsward lets through, in units of some corruptions

A campaign carries the file of --set of b3, and of --stack of explore; other flags that name files
are refused.

With --dir the command tests the units itself, --guests at a time, until everything is done; more
workers may join. With --nats it puts the units into the queue and ends, unless --guests is given.

Exit status: 0 found nothing, 1 found errors, 2 wrong usage, 3 not everything could be tested.`,
		Example: `  fsward campaign start b3 --dir ext3-seq-1 --guests 2 -- --fs ext3 --set seq-1
  fsward campaign start explore --dir swarm --vary 'seed=1-20' --vary 'fs=ext3|btrfs' \
    -- --checker reasonable --search random --time 5m
  fsward campaign start fsck --dir repairs --guests 2 \
    --vary 'mode=-fy|-fp' -- --fs ext3 --range 0-65535
  fsward campaign start b3 --nats tls://nats.example.com --name btrfs-seq-2 --replicas 3 \
    -- --fs btrfs --set seq-2`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return s.run(c, args[0], args[1:]) },
	}
	s.campaignFlags.add(c)
	c.Flags().Lookup("name").Usage = "name the campaign `NAME` (default: KIND)"
	s.workerFlags.add(c)
	c.Flags().StringArrayVar(&s.vary, "vary", nil,
		"make a unit for each value of a flag: `FLAG=VALUE|VALUE...` or FLAG=A-B; may be repeated")
	c.Flags().Uint64Var(&s.unit, "unit", 0, fmt.Sprintf("a unit has `N` workloads of b3 (0: %d), N "+
		"damages of fsck (0: %d), or N corruptions of matrix (0: %d)", defaultUnit, defaultDamages,
		defaultCorruptions))
	c.Flags().BoolVar(&s.spread, "spread", false,
		"test the units in an order that spreads over the whole test: the results so far are a "+
			"sample of all")
	addNumber(c, &s.replicas, "replicas", 1, 1,
		"keep `N` copies of the queue on the servers of a cluster")
	return c
}

func (s *campaignStart) run(c *cobra.Command, kind string, args []string) error {
	if err := s.check(c); err != nil {
		return err
	}
	s.local(c, s.address.Dir != "")
	d, err := s.definition(c.Context(), kind, args)
	d.Spread = s.spread
	if err == nil {
		err = d.Check()
	}
	if err != nil {
		return usageError{err, c.CommandPath()}
	}
	if err := s.versions(&d); err != nil {
		return err
	}
	return s.with(c, true, func(ctx context.Context, client *campaign.Client) error {
		q, err := client.Create(ctx, d, campaign.Option{Replicas: s.replicas})
		if err != nil {
			return err
		}
		return s.campaignFlags.test(ctx, c, client, q, &s.workerFlags)
	})
}

// versions completes a definition by what its workers must have.
func (s *campaignStart) versions(d *campaign.Definition) (err error) {
	k, err := campaign.KindOf(d.Kind)
	if err != nil {
		return err
	}
	if d.Build, err = buildOf(k); err == nil && k.Guest {
		d.Guest, err = s.guestVersion()
	}
	return err
}

// campaignCommands are the commands of the kinds.
var campaignCommands = map[string]func() *cobra.Command{"b3": exploreB3Command,
	"explore": exploreRunCommand, "survey": exploreSurveyCommand, "fsck": fsckRunCommand,
	"matrix": matrixCommand}

// definition returns the definition of a campaign of a kind, from the arguments of its command.
func (s *campaignStart) definition(ctx context.Context, kind string,
	args []string) (d campaign.Definition, err error) {
	if _, err := campaign.KindOf(kind); err != nil {
		return d, err
	}
	if s.name == "" {
		s.name = kind
	}
	d = campaign.NewDefinition(s.name, kind)
	command := campaignCommands[kind]()
	if err := command.ParseFlags(args); err != nil {
		return d, err
	}
	command.Flags().Visit(func(f *pflag.Flag) { d.Flags = append(d.Flags, flagValues(f)...) })
	for _, text := range s.vary {
		a, err := axis(text)
		if err != nil {
			return d, err
		}
		d.Axes = append(d.Axes, a)
	}
	rest := command.Flags().Args()
	switch kind {
	case "b3":
		if err := s.ranks(&d); err != nil {
			return d, err
		}
		return d, s.carry(&d)
	case "matrix":
		return d, s.corruptions(ctx, &d)
	case "fsck":
		if err := s.damages(&d); err != nil {
			return d, err
		}
	}
	if len(rest) > 0 {
		d.Axes = append(d.Axes, campaign.Axis{Values: rest})
	}
	d.Last = campaign.Combinations(d.Axes) - 1
	return d, s.carry(&d)
}

// carry has a campaign carry the files that its flags name.
func (s *campaignStart) carry(d *campaign.Definition) error {
	k, err := campaign.KindOf(d.Kind)
	if err != nil {
		return err
	}
	for i, f := range d.Flags {
		if k.TakesFile(f.Name) {
			err = errors.Join(err, d.Carry(i))
		}
	}
	return errors.Join(err, checkCarried(d))
}

// checkCarried returns an error for a file of a campaign that no unit could use, or that names
// files of the machine that runs it.
func checkCarried(d *campaign.Definition) error {
	for _, f := range d.Files {
		var err error
		switch d.Kind {
		case "b3":
			_, err = b3.Decode([]byte(f.Text))
		case "explore":
			_, err = spec.Alone(f.Text)
		default:
			err = errors.New("units of this kind have no files")
		}
		if err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
	}
	return nil
}

// damages divides the range of a campaign of fsck into units.
func (s *campaignStart) damages(d *campaign.Definition) error {
	at := slices.IndexFunc(d.Flags, func(f campaign.Flag) bool { return f.Name == "range" })
	if at < 0 {
		return nil
	}
	first, last, ok := strings.Cut(d.Flags[at].Value, "-")
	from, err1 := strconv.ParseUint(first, 10, 63)
	to, err2 := strconv.ParseUint(last, 10, 63)
	if !ok || errors.Join(err1, err2) != nil || to < from {
		return fmt.Errorf("--range %s: want FIRST-LAST, two numbers of damages", d.Flags[at].Value)
	}
	unit := cmp.Or(s.unit, defaultDamages)
	if (to-from)/unit >= maxRange {
		return fmt.Errorf("--range %s makes more than %d units of %d damages: give a larger --unit",
			d.Flags[at].Value, maxRange, unit)
	}
	d.Flags = slices.Delete(d.Flags, at, at+1)
	a := campaign.Axis{Name: "range"}
	for ; from <= to; from += unit {
		a.Values = append(a.Values, fmt.Sprintf("%d-%d", from, min(from+unit-1, to)))
	}
	d.Axes = append(d.Axes, a)
	return nil
}

// flagValues returns a flag of a command as flags of a campaign: one for each value of a list.
func flagValues(f *pflag.Flag) (list []campaign.Flag) {
	if many, ok := f.Value.(pflag.SliceValue); ok {
		for _, v := range many.GetSlice() {
			list = append(list, campaign.Flag{Name: f.Name, Value: v})
		}
		return list
	}
	return []campaign.Flag{{Name: f.Name, Value: f.Value.String()}}
}

// axis reads a value of --vary.
func axis(text string) (a campaign.Axis, err error) {
	name, values, ok := strings.Cut(text, "=")
	if !ok || name == "" {
		return a, fmt.Errorf("--vary %s: want FLAG=VALUE|VALUE... or FLAG=A-B", text)
	}
	a.Name = name
	if number := rangeValue.FindStringSubmatch(values); number != nil {
		a.Values, err = numbers(number[1], number[2])
		return a, err
	}
	a.Values = strings.Split(values, "|")
	return a, nil
}

// rangeValue is a range of numbers.
var rangeValue = regexp.MustCompile(`^(\d{1,9})-(\d{1,9})$`)

// maxRange is the number of values of a range.
const maxRange = 4096

// numbers returns the numbers of a range.
func numbers(first, last string) (list []string, err error) {
	from, err1 := strconv.Atoi(first)
	to, err2 := strconv.Atoi(last)
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	if to < from || to-from >= maxRange {
		return nil, fmt.Errorf("%d-%d: want a range of 1 to %d numbers", from, to, maxRange)
	}
	for ; from <= to; from++ {
		list = append(list, strconv.Itoa(from))
	}
	return list, nil
}

// ranks completes the definition of a campaign of b3: its set and its ranks.
func (s *campaignStart) ranks(d *campaign.Definition) error {
	if err := d.Check(); err != nil && len(d.Axes) > 0 {
		return errors.New("--vary is not for b3: start a campaign for each value")
	}
	var r b3Run
	var flags []campaign.Flag
	for _, f := range d.Flags {
		switch f.Name {
		case "set":
			r.set = f.Value
		case "range":
			r.ranks = f.Value
			continue
		}
		flags = append(flags, f)
	}
	if r.set == "" {
		return d.Check() // it says what is missing, or what may not be there
	}
	d.Flags = flags
	w, err := r.workloads()
	if err != nil {
		return err
	}
	d.First, d.Last, d.Unit, d.Set = w.From, w.To, cmp.Or(s.unit, defaultUnit), w.Version
	return nil
}
