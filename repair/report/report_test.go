package report

import (
	"strings"
	"testing"

	"fsward/repair"
	"fsward/repair/campaign"
	"fsward/repair/paths"
	"fsward/repair/sandbox"
)

// finding returns a finding of a group whose second run printed an output.
func finding(kind, group, output string, count uint64) *campaign.Finding {
	return &campaign.Finding{Program: "toy", Version: "toy 1", Group: group, Damage: group + ": 1 → 2",
		Failure: campaign.Failure{Kind: kind, Detail: "runs in a row claim: corrected, corrected"},
		Count:   count, Minimized: true, Tally: campaign.Tally{Shown: 10, Replays: 10},
		Patches: []campaign.Patch{{Off: 1024, Old: "01", New: "02"}},
		Files:   []string{"- /gone", "+ /lost+found/#13"},
		Runs: []*campaign.Run{{Mode: "-y", Argv: []string{"toy", "-y"}, Outcome: repair.Corrected,
			Result: sandbox.Result{Status: 1, Output: []byte(output)}}}}
}

func written(t *testing.T, list ...*campaign.Results) string {
	t.Helper()
	var b strings.Builder
	if err := Write(&b, list); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestWrite writes a page of two campaigns, and looks for what a reader wants to know.
func TestWrite(t *testing.T) {
	full := &campaign.Results{Config: campaign.Config{FS: "ext3", Program: "toy"}, Version: "toy 1",
		Progress: campaign.Progress{Damages: 77, Runs: 154, Paths: 5, Fields: 33, Seconds: 12,
			Next: 77, Count: 100},
		Findings: []*campaign.Finding{finding("again", "inode.flags", "fixed", 3),
			finding("again", "inode.flags", "fixed more", 4), finding("crash", "group.free", "", 1)},
		Search: &paths.Found{Executions: 900, Processor: 1, Edges: 44, AllEdges: 99,
			OverTime: []paths.Point{{Seconds: 6, Executions: 400, Paths: 9, Edges: 33}}}}
	full.Findings[2].Shown, full.Findings[2].Varies = 2, true
	empty := &campaign.Results{Config: campaign.Config{FS: "jfs", Program: "jfs_fsck"}}
	got := written(t, full, empty)
	for _, want := range []string{"<td>toy<td>ext3<td class=\"n\">33<td class=\"n\">77",
		"<code>inode.flags</code>\n<td class=\"n\">7<td class=\"n zero\">0", // by kind
		"A second run contradicts the first.", "The program crashed.", "<td class=\"n\">1024",
		"exit status 1, corrected", "fixed more", "shown in 10 of 10 replays", "jfs_fsck on jfs",
		"44 of 99 edges", "<td class=\"n\">6<td class=\"n\">400\n<td class=\"n\">9<td class=\"n\">33",
		"Nothing was found.", "; 23 damages are left", "<strong>shown in 2 of 10 replays</strong>",
		"Its messages differ from run to run.", "<pre>- /gone\n&#43; /lost&#43;found/#13</pre>"} {
		if !strings.Contains(got, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	for _, no := range []string{"http://", "https://", "src="} {
		if strings.Contains(got, no) {
			t.Errorf("the page needs another file: %q", no)
		}
	}
}

// TestHostile writes a page of outputs that a hostile image can cause a program to print.
func TestHostile(t *testing.T) {
	f := finding("crash", "<b>", "<script>alert(1)</script>\xff\x00"+strings.Repeat("x", 1<<20), 1)
	f.Detail = "</details><img>"
	got := written(t, &campaign.Results{Findings: []*campaign.Finding{f}})
	for _, no := range []string{"<script", "<img", "<b>", "\xff"} {
		if strings.Contains(got, no) {
			t.Errorf("the page has %q", no)
		}
	}
	if len(got) > 64<<10 || !strings.Contains(got, "&lt;script&gt;") {
		t.Errorf("the page has %d bytes", len(got))
	}
}
