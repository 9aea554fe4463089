package campaign

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nats-io/nats.go/jetstream"
)

// A Found is a finding of a unit as its Runner reports it.
type Found struct {
	Kind, Property, Skeleton string
	Surprise                 bool
	Summary                  string
	Count                    uint64
	Dir                      string // with its files; "": it has none
}

// report makes a finding one of the campaign, with its files, unless the campaign has it. It
// returns the key.
func (q *Queue) report(ctx context.Context, f Found, u Unit, worker string) (string, error) {
	scope, err := q.Definition.Scope(u)
	if err != nil {
		return "", err
	}
	e := &Finding{Kind: cleanText(f.Kind), Property: cleanText(f.Property),
		Skeleton: cleanText(f.Skeleton), Scope: scope, Surprise: f.Surprise,
		Summary: cleanText(f.Summary), Unit: u.ID(), Worker: worker}
	e.Key = e.key()
	known := false
	err = retry(ctx, func() error {
		_, err := q.findings.Get(ctx, e.Key)
		if known = err == nil; errors.Is(err, jetstream.ErrKeyNotFound) {
			return nil
		}
		return err
	})
	if err != nil || known {
		return e.Key, err
	}
	// The files come first: a finding without them would have lost them if this process ended here.
	e.Object, e.Note = q.upload(ctx, f.Dir, objectName(e.Unit, e.Key))
	text, err := encode(e)
	if err != nil {
		return "", err
	}
	return e.Key, retry(ctx, func() error {
		_, err := q.findings.Create(ctx, e.Key, text)
		if errors.Is(err, jetstream.ErrKeyExists) {
			return nil
		}
		return err
	})
}

// uploadAttempts is how often the files of a finding are offered to the server. It may be full; the
// finding is kept without its files then.
const uploadAttempts = 3

// upload stores the files of a folder as an object. It returns the name of the object, or "" and
// why there is none; a note with an object says what it lacks.
func (q *Queue) upload(ctx context.Context, dir, name string) (object, note string) {
	if dir == "" {
		return "", ""
	}
	var packed bytes.Buffer
	note, err := pack(&packed, dir)
	for i := 0; err == nil && i < uploadAttempts; i++ {
		if _, err = q.files.PutBytes(ctx, name, packed.Bytes()); err == nil {
			return name, note
		}
	}
	return "", cleanText(fmt.Sprintf("its files could not be kept: %v", err))
}

// Findings returns the findings of the campaign, in the order of their kinds, and the number of
// entries that are none.
func (q *Queue) Findings(ctx context.Context) (list []Finding, bad uint64, err error) {
	w, err := q.findings.WatchAll(ctx)
	if err != nil {
		return nil, 0, err
	}
	defer func() { err = errors.Join(err, w.Stop()) }()
	list, bad, err = readFindings(w.Updates())
	slices.SortFunc(list, func(a, b Finding) int {
		return strings.Compare(a.order(), b.order())
	})
	return list, bad, errors.Join(ctx.Err(), err)
}

// readFindings reads the entries of a watch up to the nil that says that all were read. Without it
// the connection ended before.
func readFindings(entries <-chan jetstream.KeyValueEntry) (list []Finding, bad uint64, err error) {
	for entry := range entries {
		if entry == nil {
			return list, bad, nil
		}
		var f Finding
		if err := decode(entry.Value(), &f); err != nil || f.Key != entry.Key() {
			bad++
			continue
		}
		list = append(list, f)
	}
	return list, bad, errors.New("the connection ended before all findings were read")
}

// order returns a text by which findings are sorted: errors first.
func (f *Finding) order() string {
	class := "0"
	if f.Surprise {
		class = "1"
	}
	return strings.Join([]string{class, f.Kind, f.Property, f.Skeleton, f.Key}, "\x00")
}

// Unpack writes the files of a finding into a folder in dir, and returns its path; "": the finding
// has no files. Files that were written before stay, and are an error if they differ.
func (q *Queue) Unpack(ctx context.Context, f Finding, dir string) (path string, err error) {
	if f.Object == "" {
		return "", nil
	}
	if err := f.check(); err != nil {
		return "", err
	}
	object, err := q.files.Get(ctx, f.Object)
	if err != nil {
		return "", fmt.Errorf("the files of the finding %s: %w", f.Key, err)
	}
	defer object.Close()
	path = filepath.Join(dir, f.Key)
	if err := unpack(io.LimitReader(object, maxPacked), path); err != nil {
		return "", fmt.Errorf("the files of the finding %s: %w", f.Key, err)
	}
	return path, nil
}
