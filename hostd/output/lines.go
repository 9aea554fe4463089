package output

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// Schema is the number of the form of the JSON lines. It grows when a key changes its meaning or
// goes away, and not when a key is added.
const Schema = 1

// timeLayout is RFC 3339 with microseconds and the zone.
const timeLayout = "2006-01-02T15:04:05.000000Z07:00"

// envelope has the keys that every JSON line ends with.
type envelope struct {
	Schema  int    `json:"schema"`
	Time    string `json:"time"`
	Host    string `json:"host,omitempty"`
	Guest   string `json:"guest,omitempty"`
	Version string `json:"version"`
}

// Lines writes JSON objects, one a line, and adds the keys that every line has: schema, time, host,
// guest, version. It is safe for concurrent use.
type Lines struct {
	mu     sync.Mutex
	w      io.Writer
	common envelope
}

// NewLines returns Lines that writes to w, each line with one call. guest is the name of the guest
// that the lines are about; "" if there is none.
func NewLines(w io.Writer, guest string) *Lines {
	host, err := os.Hostname()
	if err != nil {
		host = "" // the key is left out
	}
	return &Lines{w: w, common: envelope{Schema: Schema, Host: host, Guest: guest, Version: Version()}}
}

// Print writes an object, which must not have the common keys itself. It returns the error of the
// writer, or says that v is no JSON object.
func (l *Lines) Print(v any) error {
	line, err := l.Line(v)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	_, err = l.w.Write(line)
	return err
}

// Line returns the line of an object.
func (l *Lines) Line(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	object := bytes.TrimSuffix(b.Bytes(), []byte("}\n"))
	if len(object) == b.Len() || object[0] != '{' {
		return nil, fmt.Errorf("a JSON line needs an object, not %T", v)
	}
	e := l.common
	e.Time = time.Now().Format(timeLayout)
	common, err := json.Marshal(e)
	if err != nil {
		return nil, err
	}
	if len(object) > 1 {
		object = append(object, ',')
	}
	return append(append(object, common[1:]...), '\n'), nil
}
