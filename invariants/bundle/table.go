package bundle

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"regexp"
	"strings"

	"fsward/change"
	"fsward/invariants/syntax"
)

// tableName matches the names that a table may have: it is the name of a predicate.
var tableName = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

const (
	maxColumns = 8
	// maxRows bounds the rows of a table.
	maxRows = 50_000
)

// tables returns each table data/NAME.csv as a file with a fact NAME(COLUMN, …) for each row.
func (b *Bundle) tables() ([]syntax.File, error) {
	entries, err := fs.ReadDir(b.from, dataDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var files []syntax.File
	for _, e := range entries {
		name, isTable := strings.CutSuffix(e.Name(), ".csv")
		if e.IsDir() || !isTable {
			continue
		}
		shown := path.Join(b.Path, dataDir, e.Name())
		text, err := syntax.ReadText(b.from, path.Join(dataDir, e.Name()))
		if err != nil {
			return nil, err
		}
		if !tableName.MatchString(name) {
			return nil, fmt.Errorf("%s: the name of a table is a predicate: lower-case letters, digits, _",
				shown)
		}
		facts, err := factsOf(name, text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", shown, err)
		}
		files = append(files, syntax.File{Name: shown, Text: facts, Site: true})
	}
	return files, nil
}

// factsOf turns a table into facts, each on the line of its row. A column that is a number becomes
// one, and any other a name. Lines that begin with # are comments.
func factsOf(name string, text []byte) ([]byte, error) {
	r := csv.NewReader(bytes.NewReader(text))
	r.Comment, r.TrimLeadingSpace = '#', true
	var out bytes.Buffer
	line := 1
	for rows := 0; ; rows++ {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if rows == maxRows || len(row) > maxColumns {
			return nil, fmt.Errorf("a table has at most %d rows of %d columns", maxRows, maxColumns)
		}
		at, _ := r.FieldPos(0)
		for ; line < at; line++ {
			out.WriteByte('\n')
		}
		out.WriteString(name)
		for i, column := range row {
			out.WriteByte("(,"[min(i, 1)])
			out.WriteString(valueText(strings.TrimSpace(column)))
		}
		out.WriteString(").")
	}
	if out.Len() == 0 {
		// A table without rows is asked for like any other, and has no answers. It has one column.
		out.WriteString(name + "(_) :- fail.")
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}

var number = regexp.MustCompile(`^(-?[0-9]{1,20}|0x[0-9a-fA-F]{1,16})$`)

// valueText returns a column as rules write it.
func valueText(column string) string {
	if number.MatchString(column) {
		return column
	}
	if n := len(column); n >= 2 && column[0] == '\'' && column[n-1] == '\'' {
		column = column[1 : n-1] // quoted, so that it is a name although it looks like a number
	}
	return change.Quote(column)
}
