package campaign

import (
	"fmt"
	"strings"

	"fsward/repair"
)

// sentences say what each kind of failure means.
var sentences = map[string]string{
	Crash:       "The program crashed.",
	Hang:        "The program did not end.",
	Flood:       "The program printed without an end.",
	Status:      "The program ended with an exit status that it does not document.",
	Again:       "A second run contradicts the first.",
	Cycle:       "The program never comes to an end, however often it runs.",
	Lost:        "A file is lost or changed that the damage did not touch.",
	Disagree:    "The modes of the program disagree about whether the file system is clean.",
	Rules:       "The program calls the file system clean, and fsward's rules are violated.",
	Interrupted: "After a crash during the repair, another repair does not mend the file system.",
	Mounts:      "The program calls the file system clean, but Linux cannot use it.",
	Undo:        "The undo file of a repair does not give the damaged image back.",
	Incomplete:  "The program recovers less than those of other file systems.",
	Trust:       "The program keeps the value of a damaged copy although most copies had another.",
}

// Bounds of the lines in what.txt: of each output, and of the bytes that the damage changes.
const (
	maxQuoted  = 30
	maxPatches = 16
)

// what returns the text for people in the folder of a finding.
func (f *Finding) what() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s\n\n", sentences[f.Kind], f.Detail)
	fmt.Fprintf(&b, "program  %s\nversion  %s\nimage    %s, %s\ndamage   %s\nfield    %s\n",
		strings.Join(f.Runs[0].Argv, " "), f.Version, f.FS, baseFile, f.Damage, f.Group)
	n := 0
	for i, p := range f.Patches {
		if i < maxPatches {
			fmt.Fprintf(&b, "bytes    at %d (%#x): %s → %s\n", p.Off, p.Off, p.Old, p.New)
		}
		n += len(p.New) / 2
	}
	if more := len(f.Patches) - maxPatches; more > 0 {
		fmt.Fprintf(&b, "         and at %d more addresses: %s\n", more, findingFile)
	}
	minimal := ""
	if f.Minimized {
		minimal = "; none can be left out"
	}
	fmt.Fprintf(&b, "         %s%s\n", repair.Count(n, "byte"), minimal)
	if f.Replays > 0 {
		fmt.Fprintf(&b, "replays  %s\n", f.Summary())
	}
	if f.Varies {
		b.WriteString("messages differ from run to run\n")
	}
	fmt.Fprintf(&b, "\nshow it again: fsward fsck replay DIR, where DIR is this folder\n")
	if len(f.Files) > 0 {
		fmt.Fprintf(&b, "\nfiles after the repair, against those before the damage:\n  %s\n",
			strings.Join(f.Files, "\n  "))
	}
	for i, r := range f.Runs {
		fmt.Fprintf(&b, "\nrun %d: %s\n%s\n", i+1, strings.Join(r.Argv, " "), r.Ended())
		lines := strings.Split(strings.TrimRight(strings.ToValidUTF8(string(r.Output), "?"), "\n"), "\n")
		for _, l := range lines[:min(len(lines), maxQuoted)] {
			fmt.Fprintf(&b, "  | %s\n", l)
		}
		if len(lines) > maxQuoted {
			fmt.Fprintf(&b, "  … %d more lines in run%d.txt\n", len(lines)-maxQuoted, i+1)
		}
	}
	return b.String()
}
