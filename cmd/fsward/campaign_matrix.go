package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"fsward/explore/campaign"
)

// defaultCorruptions is the size of a unit of the corruption matrix: about a minute's work.
const defaultCorruptions = 256

// countTime bounds how long a program may take to say how much there is.
const countTime = time.Minute

// matrixCommand has the flags of the corruption matrix. It is no command of fsward: dev/matrix/cmd
// is a program of its own.
func matrixCommand() *cobra.Command {
	c := &cobra.Command{Use: "matrix"}
	c.Flags().String("fs", "", "")
	c.Flags().String("only", "", "")
	c.Flags().String("range", "", "")
	c.Flags().Bool("linux", false, "")
	c.Flags().Uint("picks", 0, "")
	c.Flags().Uint("workers", 0, "")
	return c
}

// corruptions divides a campaign of the corruption matrix into units: those of --range, or all.
func (s *campaignStart) corruptions(ctx context.Context, d *campaign.Definition) error {
	ranged := ""
	d.Flags = slices.DeleteFunc(d.Flags, func(f campaign.Flag) bool {
		if f.Name == "range" {
			ranged = f.Value
		}
		return f.Name == "range"
	})
	d.Unit = cmp.Or(s.unit, defaultCorruptions)
	if err := d.Check(); err != nil || len(d.Axes) > 0 {
		return cmp.Or(err, fmt.Errorf("--vary is not for %s: start a campaign for each value", d.Kind))
	}
	if ranged != "" {
		first, last, ok := strings.Cut(ranged, "-")
		var err1, err2 error
		d.First, err1 = strconv.ParseUint(first, 10, 63)
		d.Last, err2 = strconv.ParseUint(last, 10, 63)
		if !ok || err1 != nil || err2 != nil || d.Last < d.First {
			return fmt.Errorf("--range %s: want FIRST-LAST, two numbers of corruptions", ranged)
		}
		return nil
	}
	n, err := countOf(ctx, d)
	if err == nil {
		d.Last = n - 1
	}
	return err
}

// countOf asks the program of a kind how much there is.
func countOf(ctx context.Context, d *campaign.Definition) (uint64, error) {
	k, err := campaign.KindOf(d.Kind)
	if err != nil {
		return 0, err
	}
	fsward, err := os.Executable()
	if err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(ctx, countTime)
	defer cancel()
	args := []string{"--count"}
	for _, f := range d.Flags {
		args = append(args, f.String())
	}
	cmd := exec.CommandContext(ctx, k.Path(fsward), args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return 0, fmt.Errorf("%s: %w: make %s makes it", k.Path(fsward), err, k.Program)
	}
	n, err := strconv.ParseUint(strings.TrimSpace(string(out)), 10, 32)
	if err != nil || n == 0 {
		return 0, fmt.Errorf("%s --count printed %.40q", k.Program, out)
	}
	return n, nil
}
