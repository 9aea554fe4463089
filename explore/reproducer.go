package explore

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"fsward/explore/agent"
)

// reproducerName is the file with the reproducer of an error, in its folder.
const reproducerName = "what.txt"

// writeReproducer writes the reproducer of an error: the operations, the failure, the crash, and
// the commands that show it again. dir is the error's folder.
func writeReproducer(dir string, e *Error, disks []*Disk) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n%s\n\n", e.Kind, e.Summary)
	if e.Surprise {
		b.WriteString("This is a surprise: no promise of the file system is broken.\n\n")
	}
	describeChoices(&b, "Choices of the setup", e.Setup)
	e.describeOperations(&b)
	for i, faults := range e.StepFaults {
		for _, f := range faults {
			fmt.Fprintf(&b, "In step %d, a fault was injected into the kernel at %s (hit %d).\n",
				i+1, f.Site, f.At)
		}
	}
	for _, f := range e.Fail {
		fmt.Fprintf(&b, "In the last step, a fault was injected into the kernel at %s (hit %d).\n",
			f.Site, f.At)
	}
	if len(e.Unscheduled) > 0 {
		fmt.Fprintf(&b, "These kernel threads ran although they were held, "+
			"so the error may not replay: %s.\n", strings.Join(e.Unscheduled, ", "))
	}
	if e.ProcessCrash != nil {
		fmt.Fprintf(&b, "\nThe crash: the program of step %d was killed, while the kernel went on. "+
			"It had made these system calls: %s\n",
			len(e.Steps), strings.Join(e.ProcessCrash.Calls, ", "))
		describeChoices(&b, "Choices of the check", e.ProcessCrash.Choices)
	}
	if e.Crash != nil {
		e.Crash.describe(&b, len(e.Steps))
	}
	fmt.Fprintf(&b, "\nIt was %s.\n", e.Replayed())
	fmt.Fprintf(&b, "To replay the error:\n  %s\n", e.ReplayCommand(filepath.Dir(dir)))
	for _, d := range disks {
		if e.Crash != nil {
			fmt.Fprintf(&b, "To mount disk %d as the crash left it:\n"+
				"  zstd -d %s/disk%[1]d.crash.zst -o crash.img; mount -o loop crash.img /mnt\n",
				d.Number, dir)
		}
		fmt.Fprintf(&b, "To replay all writes and flushes on the initial disk %d:\n"+
			"  zstd -d %s/disk%[1]d.base.zst -o base.img; "+
			"fsward replay --base base.img %[2]s/disk%[1]d.log\n", d.Number, dir)
	}
	return os.WriteFile(filepath.Join(dir, reproducerName), []byte(b.String()), 0o644)
}

// describeOperations writes the operations of each step, up to the crash.
func (e *Error) describeOperations(b *strings.Builder) {
	b.WriteString("Operations, by step:\n")
	later := 0
	for i, did := range e.Did {
		if i+1 == len(e.Did) {
			did, later = e.untilCrash(did)
		}
		for _, line := range did {
			if !e.isLook(line) {
				fmt.Fprintf(b, "  %d. %s\n", i+1, line)
			}
		}
	}
	if later > 0 {
		fmt.Fprintf(b, "  (%d more, after the crash)\n", later)
	}
}

// isLook reports whether a line of what a step did is a look at the whole tree before a crash. It
// does not matter for what the crash left, and error.json has it.
func (e *Error) isLook(line string) bool {
	return e.Crash != nil && (line == agent.Clock().String() ||
		strings.HasPrefix(line, agent.Tree("").String()))
}

// untilCrash returns what the last step did up to the end of the window with the crash, and the
// number of lines that follow.
func (e *Error) untilCrash(did []string) (until []string, later int) {
	if e.Crash == nil {
		return did, 0
	}
	for _, kind := range []string{markNow, markEnd} {
		if i := slices.Index(did, kind+strconv.Itoa(e.Crash.Window)); i >= 0 {
			return did[:i+1], len(did) - i - 1
		}
	}
	return did, 0
}

// ReplayCommand returns the command that replays an error. run is the folder of its run.
func (e *Error) ReplayCommand(run string) string {
	words := append([]string{"fsward explore replay"}, e.ReplayFlags...)
	return strings.Join(append(words, filepath.Join(run, e.Dir)), " ")
}

// describe writes the part of the reproducer about a crash of the machine. step is the number of
// the last step, from 1.
func (c *CrashError) describe(b *strings.Builder, step int) {
	when := map[string]string{
		Begin.String():     "at the start of the window",
		InBetween.String(): "inside the window",
		End.String():       "at the end of the window",
	}[c.Epoch]
	fmt.Fprintf(b, "\nThe crash: %s that step %d requested, after record %d of the log.\n",
		when, step, c.After)
	describeMissing(b, "Submitted writes", c.Missing, c.Torn)
	if c.Perspective != "" {
		fmt.Fprintf(b, "The simplest kind of crash that shows the error: %s.\n", c.Perspective)
	}
	if len(c.Early) > 0 {
		fmt.Fprintf(b, "Blocks that reached the disk although the kernel had only marked them dirty: "+
			"%d. The kernel may write dirty blocks at any moment.\n", len(c.Early))
		for _, w := range c.Early {
			fmt.Fprintf(b, "  %d bytes at sector %d of disk %d\n", w.Bytes, w.Sector, w.Disk)
		}
	}
	if c.Complaint != "" {
		fmt.Fprintf(b, "A command of the recovery or the check reported success, and printed: %s\n"+
			"%s has all that was printed.\n", c.Complaint, printedName)
	}
	choices := c.Choices
	if inspects(choices) {
		choices = choices[1:]
		b.WriteString("An inspection shows it: after the recovery and the check, files were made, " +
			"written and\nremoved on the disk; then it was unmounted, and verified by its own check.\n")
	}
	describeChoices(b, "Choices of the recovery and the check", choices)
	if c.Second != nil {
		b.WriteString("\nA second crash interrupted the recovery from the first.\n")
		describeMissing(b, "Writes of the recovery", c.Second.Missing, c.Second.Torn)
	}
}

// describeMissing writes which writes did not reach the disk, or only in part.
func describeMissing(b *strings.Builder, writes string, missing []uint64, torn []TornBio) {
	fmt.Fprintf(b, "%s that did not reach the disk, or only in part: %s.\n", writes, bioList(missing))
	for _, w := range torn {
		fmt.Fprintf(b, "  Of the %d sectors of bio %d, these did: %s.\n", w.Sectors, w.Bio, w.parts())
	}
}

// describeChoices writes choices, one a line, under a title. It writes nothing if there are none.
func describeChoices(b *strings.Builder, title string, choices []Choice) {
	if len(choices) == 0 {
		return
	}
	fmt.Fprintf(b, "%s:\n", title)
	for _, c := range choices {
		fmt.Fprintf(b, "  %s: %d of %d\n", c.Site, c.Value, c.N)
	}
}

// parts describes the sectors of a torn write that are on the disk, counted from 0.
func (w *TornBio) parts() string {
	var out []string
	for _, p := range w.Done {
		if p[0] == p[1] {
			out = append(out, fmt.Sprint(p[0]))
		} else {
			out = append(out, fmt.Sprintf("%d to %d", p[0], p[1]))
		}
	}
	return strings.Join(out, ", ")
}

// bioList describes a list of bios.
func bioList(bios []uint64) string {
	if len(bios) == 0 {
		return "none"
	}
	list := strings.Trim(strings.ReplaceAll(fmt.Sprint(bios), " ", ", "), "[]")
	return fmt.Sprintf("%d (bio %s)", len(bios), list)
}
