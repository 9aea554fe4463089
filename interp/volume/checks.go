package volume

import (
	"fsward/change"
	"fsward/interp"
)

var checks = []interp.Check{
	{Name: "volume/gpt-header", Doc: "A header of a GPT has the right checksum.",
		Origin: "UEFI 2.10, 5.3.2"},
	{Name: "volume/lvm-label", Doc: "The label of a PV has the right checksum.",
		Origin: "lvm2 lib/label/label.c, _find_lvm_header()"},
	{Name: "volume/lvm-metadata",
		Doc: "The header of a metadata area of LVM, and the metadata that it commits, have the right " +
			"checksums.",
		Origin: "lvm2 lib/format_text/format-text.c, raw_read_mda_header()"},
}

// Checks lists the checks that Tables makes before any rule runs.
func Checks() []interp.Check { return checks }

// violation returns the violation of a check.
func violation(check, reason string, addr uint64) change.Violation {
	v := change.Violation{Rule: "volume/" + check, Kind: change.ByStructure, Detail: reason,
		Addr: addr, HasAddr: true}
	for _, c := range checks {
		if c.Name == v.Rule {
			v.Doc = c.Doc
		}
	}
	return v
}
