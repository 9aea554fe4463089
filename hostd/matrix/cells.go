package matrix

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"fsward/blocktap"
	"fsward/hostd"
	"fsward/interp"
	"fsward/interp/detect"
)

// A Cell is one corruption of one recorded commit.
type Cell struct {
	Variant string `json:"variant"`
	Stage   int    `json:"stage"` // the commit, counted from the end of the recording
	Object  string `json:"object"`
	Tree    string `json:"tree,omitempty"`
	Field   string `json:"field,omitempty"` // "" for an action
	Change  string `json:"change"`          // "+1", "delete"
	Pick    int    `json:"pick"`
	What    string `json:"what"`

	stage   *stage
	patches []interp.Patch
}

// Spec is the alteration in the words of fsward corrupt.
func (c *Cell) Spec() string {
	spec := c.Object + "." + c.Field + c.Change
	if c.Field == "" {
		spec = c.Object + "!" + c.Change
	}
	if c.Tree != "" {
		spec += "@tree=" + treeNumbers[c.Tree]
	}
	return spec
}

// ID names the cell among all.
func (c *Cell) ID() string { return fmt.Sprintf("%s/%d %s #%d", c.Variant, c.Stage, c.Spec(), c.Pick) }

// Group is where the cell belongs in lists for people.
func (c *Cell) Group() string {
	switch {
	case c.Tree == logTree:
		return "log"
	case c.Object == "super_block":
		return "superblock"
	case c.Object == "header" || c.Object == "key_ptr" || strings.HasPrefix(c.Field, "item."):
		return "structure"
	case slices.Contains([]string{"default tree", "volume", "snapshot", "fresh"}, c.Tree):
		return "file trees"
	case strings.HasPrefix(c.Object, "free_space") || c.Tree == "free space":
		return "free space"
	case strings.HasPrefix(c.Object, "qgroup"):
		return "quota"
	case c.Tree == "root":
		return "root tree"
	case c.Tree == "chunk" || c.Tree == "dev":
		return "chunks and devices"
	default:
		return "extents"
	}
}

// treeNumbers are the trees of the recordings. Subvolumes are numbered in the order in which the workload
// makes them.
var treeNumbers = map[string]string{"root": "1", "extent": "2", "chunk": "3", "dev": "4", "default tree": "5", "csum": "7", "quota": "8",
	"uuid": "9", "free space": "10", "block group": "11", "volume": "256", "snapshot": "260", "fresh": "259", logTree: "-6"}

// logTree is the name of what only log commits have, and these alone are asked for it.
const logTree = "log"

// treeNames is in the order of the drawing.
var treeNames = []string{"root", "extent", "block group", "chunk", "dev", "csum", "free space", "quota", "uuid", "default tree", "volume", "snapshot", "fresh", logTree}

// universe lists every corruption, by object, tree, field and change.
func universe() []Cell {
	var out []Cell
	for _, a := range detect.Alterables("btrfs") {
		trees := treeNames
		if a.Object == "super_block" {
			trees = []string{""}
		}
		for _, tree := range trees {
			for _, f := range a.Fields {
				for _, change := range hostd.Changes(f.Width) {
					out = append(out, Cell{Object: a.Object, Tree: tree, Field: f.Name, Change: change})
				}
			}
			for _, action := range a.Actions {
				out = append(out, Cell{Object: a.Object, Tree: tree, Change: action})
			}
		}
	}
	return out
}

// generate makes the cells of a stage: for each of the corruptions wanted as many places as picks, spread
// over those that there are. made counts them, so that a later stage makes only what is missing.
func generate(st *stage, wanted []Cell, picks int, made map[string]int) ([]*Cell, error) {
	disk, err := blocktap.OpenImage(st.after)
	if err != nil {
		return nil, err
	}
	defer disk.Close()
	corrupter, err := detect.Corrupter(disk, "btrfs", true)
	if err != nil {
		return nil, err
	}
	const spread = 7
	var cells []*Cell
	for _, c := range wanted {
		if st.log != (c.Tree == logTree) {
			continue
		}
		for pick := 0; made[c.Spec()] < picks; pick++ {
			out, err := corrupter.Corrupt(c.Spec(), pick*spread)
			if errors.Is(err, interp.ErrNoPlace) {
				break
			}
			if err != nil {
				return nil, err
			}
			if _, err := st.txn.Patched(out.Patches); st.log && err != nil {
				continue // a block of the log commit before
			}
			cell := c
			cell.Variant, cell.Stage, cell.Pick, cell.What = st.variant, st.number, pick, out.What
			cell.stage, cell.patches = st, out.Patches
			cells = append(cells, &cell)
			made[c.Spec()]++
		}
	}
	return cells, nil
}
