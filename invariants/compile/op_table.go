package compile

import (
	"fmt"

	"fsward/invariants/syntax"
	"fsward/invariants/verdict"
)

// tableFrom is the number of facts from which a helper is a table, which is searched by an index.
// Fewer facts are inlined, so that a kind or a field in them chooses the records to look at.
const tableFrom = 65

// A factTable is a helper that consists of facts without variables.
type factTable struct {
	rows [][]value
	// by column: the rows with a value there. A column without an index is nil.
	index []map[value][]int32
}

// table returns a helper as a table; nil if the helper is not one.
func (c *compiler) table(q syntax.Indicator) *factTable {
	clauses := c.predicates[q]
	if len(clauses) < tableFrom || q.Arity == 0 {
		return nil
	}
	if t, known := c.tables[q]; known {
		return t
	}
	c.tables[q] = nil
	t := &factTable{index: make([]map[value][]int32, q.Arity)}
	for _, clause := range clauses {
		head, ok := clause.head.(compoundTemplate)
		if !ok || clause.Body != nil {
			return nil
		}
		row := make([]value, q.Arity)
		for i := range row {
			x, isConstant := head.args[i].(constant)
			if !isConstant {
				return nil
			}
			row[i] = value(x)
		}
		t.rows = append(t.rows, row)
	}
	c.tables[q] = t
	return t
}

// by returns the index of a column.
func (t *factTable) by(column int) map[value][]int32 {
	if t.index[column] == nil {
		t.index[column] = make(map[value][]int32, len(t.rows))
		for i, row := range t.rows {
			t.index[column][row[column]] = append(t.index[column][row[column]], int32(i))
		}
	}
	return t.index[column]
}

// emitTable makes the ops of a goal that looks up rows of a table.
func (p *planner) emitTable(t template, table *factTable, q syntax.Indicator, args []template,
	e *bindings, r *result) error {
	a := &tableLookup{table: table}
	var wanted []template
	for i, arg := range args {
		if v, ok := pack(e, arg); ok {
			a.known, a.ins = append(a.known, i), append(a.ins, v)
		} else {
			a.wanted = append(a.wanted, i)
			wanted = append(wanted, arg)
		}
	}
	access, class := fmt.Sprintf("all %d rows of a table", len(table.rows)), verdict.Tree
	if len(a.known) > 0 {
		a.rows = table.by(a.known[0])
		access, class = "rows of a table, by a hash index", verdict.Constant
	}
	a.info = p.explain.step(e, t, access, class)
	if len(a.known) == 0 {
		p.explain.rows("rows of "+q.String(), false)
	}
	for range wanted {
		a.results = append(a.results, p.registers.next())
	}
	r.ops = []op{a.each}
	return p.giveResults(a.results, wanted, e, r)
}

// A tableLookup is a goal that looks up rows of a table.
type tableLookup struct {
	table   *factTable
	known   []int // columns with a value, and these values
	ins     []operand
	rows    map[value][]int32 // by the first known column; nil if none is known
	wanted  []int             // the other columns, and the registers that take them
	results []int
	info    *stepInfo
}

// each continues with each row that has the known values.
func (a *tableLookup) each(next step) step {
	return func(m *machine) bool {
		var have [maxArity]value
		for i, in := range a.ins {
			have[i] = in(m)
		}
		if a.rows == nil {
			for _, row := range a.table.rows {
				if m.row(a.info) || a.take(m, row) && next(m) {
					return true
				}
			}
			return false
		}
		for _, at := range a.rows[have[0]] {
			row := a.table.rows[at]
			if m.row(a.info) {
				return true
			}
			if a.matches(row, &have) && a.take(m, row) && next(m) {
				return true
			}
		}
		return false
	}
}

// matches reports whether a row has all known values.
func (a *tableLookup) matches(row []value, have *[maxArity]value) bool {
	for i, column := range a.known {
		if row[column] != have[i] {
			return false
		}
	}
	return true
}

// take puts the other columns of a row into registers. It returns true.
func (a *tableLookup) take(m *machine, row []value) bool {
	for i, column := range a.wanted {
		m.r[a.results[i]] = row[column]
	}
	return true
}
