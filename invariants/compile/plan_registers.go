package compile

import (
	"fmt"
	"strings"
)

// A registerFile numbers the registers of a plan and knows their names in the text of the clause.
type registerFile struct {
	count  int
	names  map[int]string // by register; registers without a name in the text are missing
	spared int            // 1 + the register that spare returns; 0 before it is needed
}

func (f *registerFile) next() int {
	f.count++
	delete(f.names, f.count-1) // on another path, the register may have had a name
	return f.count - 1
}

// spare returns the register for values that nobody needs.
func (f *registerFile) spare() int {
	if f.spared == 0 {
		f.spared = f.next() + 1
	}
	return f.spared - 1
}

// load binds a variable to a new register.
func (f *registerFile) load(e *bindings, v variable, t valueType) int {
	r := f.next()
	if f.names == nil {
		f.names = map[int]string{}
	}
	f.names[r] = e.name(v)
	e.bound[v] = register{r, t}
	return r
}

func (f *registerFile) label(e *bindings, r int, v variable) {
	if f.names == nil {
		f.names = map[int]string{}
	}
	f.names[r] = e.name(v)
}

// keptText describes how a sum is kept.
func (f *registerFile) keptText(keys []register) string {
	if len(keys) == 0 {
		return "kept: one pass over the changes below"
	}
	var names []string
	for _, r := range keys {
		names = append(names, f.names[r.index])
	}
	return fmt.Sprintf("kept for each %s: one pass over the changes below", strings.Join(names, ", "))
}
