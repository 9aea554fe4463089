package matrix

import (
	"errors"
	"fmt"

	"fsward/hostd/offline"
	"fsward/interp"
	"fsward/interp/detect"
)

// A Cell is one corruption of one recorded commit.
type Cell struct {
	Variant string `json:"variant"`
	Stage   int    `json:"stage"` // number of the commit from the end of the recording; 1 is the last
	Object  string `json:"object"`
	Where   string `json:"where,omitempty"` // the tree, or the kind of inode: see format.wheres
	Field   string `json:"field,omitempty"` // "" for an action
	Change  string `json:"change"`          // "+1", "delete"
	Pick    int    `json:"pick"`            // index among the places that fit
	What    string `json:"what"`            // description of the corruption, for people

	format  *format
	stage   *stage
	patches []interp.Patch
}

// Spec returns the alteration as fsward corrupt takes it.
func (c *Cell) Spec() string {
	spec := c.Object + "." + c.Field + c.Change
	if c.Field == "" {
		spec = c.Object + "!" + c.Change
	}
	if c.Where != "" {
		spec += "@" + c.format.condition(c.Where)
	}
	return spec
}

// ID returns the unique name of the cell.
func (c *Cell) ID() string {
	return fmt.Sprintf("%s/%d %s #%d", c.Variant, c.Stage, c.Spec(), c.Pick)
}

// Group returns the group of the cell in lists for people.
func (c *Cell) Group() string { return c.format.group(c) }

// allCells lists every corruption of the format: each object and place, each of its fields with
// each change, and each of its actions.
func (f *format) allCells() []Cell {
	var out []Cell
	for _, a := range detect.Alterables(f.name) {
		for _, where := range f.wheresOf(a.Object) {
			for _, field := range a.Fields {
				for _, change := range offline.Changes(field.Width) {
					out = append(out, Cell{
						Object: a.Object,
						Where:  where,
						Field:  field.Name,
						Change: change,
					})
				}
			}
			for _, action := range a.Actions {
				out = append(out, Cell{Object: a.Object, Where: where, Change: action})
			}
		}
	}
	return append(out, f.more...)
}

// generate makes the cells of a stage. For each wanted corruption it takes picks places, spread
// over all places that fit. made counts the cells by Cell.Spec over all stages, so that a later
// stage adds only missing cells.
func generate(st *stage, wanted []Cell, picks int, made map[string]int) ([]*Cell, error) {
	disks, err := offline.OpenOverlays(st.after)
	if err != nil {
		return nil, err
	}
	defer disks.Close()
	corrupter, err := detect.Corrupter(disks, st.format.name, true)
	if err != nil {
		return nil, err
	}
	const spread = 7
	var cells []*Cell
	for _, c := range wanted {
		c.format = st.format
		if st.log != (c.Where == logTree) {
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
			if _, err := st.txn.Patched(out.Patches); err != nil {
				// The transaction does not write the altered range: it belongs to an earlier log commit, or
				// to the superblock of a journal, which most commits do not write.
				continue
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
