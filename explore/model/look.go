package model

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"fsward/explore/agent"
)

// A Perform performs all of the operations and returns their results, as explore.Env.Try does.
type Perform func(ops ...agent.Op) ([]agent.Result, error)

// Look reads the tree below directory dir of a real file system, with everything that Equal and
// Allowed of f need. The error is a *Mismatch if the file system is at fault; any other error
// means that the reading failed.
func Look(do Perform, dir string, f *FS) (*Observed, error) {
	r, err := do(agent.Tree(dir))
	if err != nil {
		return nil, err
	}
	if r[0].Errno != 0 {
		return nil, mismatchf("unreadable", "the tree cannot be read: %v", r[0].Errno)
	}
	entries, err := agent.DecodeTree(r[0].Data)
	if err != nil {
		return nil, err
	}
	s, err := Observe(entries, f.promises.Own...)
	if err != nil {
		return nil, &Mismatch{"unreadable", err.Error()}
	}
	wants := s.Wants(f)
	if err := s.readXattrs(do, dir, wants); err != nil {
		return nil, err
	}
	for _, w := range wants {
		if w.Data {
			if err := s.readData(do, dir, w); err != nil {
				return nil, err
			}
		}
	}
	return s, nil
}

// An xattrKey identifies an extended attribute of a file.
type xattrKey struct{ path, name string }

// maxXattrReads is the number of reads of extended attributes in one batch. The agent keeps a
// buffer of 64 KiB for each until the batch ends, in a guest that has a few hundred MiB.
const maxXattrReads = 512

// inBatches performs reads of extended attributes, and returns their results.
func inBatches(do Perform, ops []agent.Op) (out []agent.Result, err error) {
	for part := range slices.Chunk(ops, maxXattrReads) {
		results, err := do(part...)
		if err != nil {
			return nil, err
		}
		out = append(out, results...)
	}
	return out, nil
}

// readXattrs reads the extended attributes of the files that want them: first their names, then
// their values.
func (s *Observed) readXattrs(do Perform, dir string, wants []Want) error {
	keys, err := listXattrs(do, dir, wants)
	if err != nil || len(keys) == 0 {
		return err
	}
	get := make([]agent.Op, len(keys))
	for i, k := range keys {
		get[i] = agent.Getxattr(path.Join(dir, k.path), k.name)
	}
	values, err := inBatches(do, get)
	if err != nil {
		return err
	}
	all := make(map[string]map[string]string)
	for i, r := range values {
		k := keys[i]
		if r.Errno != 0 {
			return mismatchf("unreadable", "%s: getxattr of %s, which listxattr lists: %v",
				k.path, k.name, r.Errno)
		}
		if all[k.path] == nil {
			all[k.path] = make(map[string]string)
		}
		all[k.path][k.name] = string(r.Data)
	}
	for p, x := range all {
		s.SetXattrs(p, x)
	}
	return nil
}

// listXattrs lists the extended attributes of users, and access control lists, of the files that
// want them.
func listXattrs(do Perform, dir string, wants []Want) (keys []xattrKey, err error) {
	var list []agent.Op
	var paths []string
	for _, w := range wants {
		if w.Xattrs {
			list = append(list, agent.Listxattr(path.Join(dir, w.Path)))
			paths = append(paths, w.Path)
		}
	}
	if len(list) == 0 {
		return nil, nil
	}
	results, err := inBatches(do, list)
	if err != nil {
		return nil, err
	}
	for i, r := range results {
		if r.Errno == unix.EOPNOTSUPP {
			continue
		}
		if r.Errno != 0 {
			return nil, mismatchf("unreadable", "%s: listxattr: %v", paths[i], r.Errno)
		}
		for name := range strings.SplitSeq(string(r.Data), "\x00") {
			if strings.HasPrefix(name, userPrefix) || isACL(name) {
				keys = append(keys, xattrKey{paths[i], name})
			}
		}
	}
	return keys, nil
}

// readData reads the content of a file, agent.MaxData bytes at a time.
func (s *Observed) readData(do Perform, dir string, w Want) error {
	data := make([]byte, 0, w.Size)
	for uint64(len(data)) < w.Size {
		off := uint64(len(data))
		n := min(w.Size-off, agent.MaxData)
		r, err := do(
			agent.Open(0, path.Join(dir, w.Path), unix.O_RDONLY, 0),
			agent.Read(0, off, uint32(n)),
		)
		if err != nil {
			return err
		}
		if r[0].Errno != 0 || r[1].Errno != 0 || uint64(len(r[1].Data)) != n {
			return mismatchf("unreadable",
				"%s: open: %v; read of %d bytes at offset %d: %d bytes, %v",
				w.Path, r[0].Errno, n, off, len(r[1].Data), r[1].Errno)
		}
		data = append(data, r[1].Data...)
	}
	s.SetData(w.Path, data)
	if !s.nodes[below(w.Path)].complete {
		return fmt.Errorf("%s changed while it was read", w.Path)
	}
	return nil
}
