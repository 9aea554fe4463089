package model

import (
	"fmt"
	"path"
	"strings"

	"golang.org/x/sys/unix"

	"fsward/explore/agent"
)

// Perform performs operations, all of them, as explore.Env.Try does.
type Perform func(ops ...agent.Op) ([]agent.Result, error)

// Look reads what is below dir of a real file system, with all that Equal and Allowed of f want to know. An error says that it could
// not be read; a *Wrong that the file system does not let it be read.
func Look(do Perform, dir string, f *FS) (*Seen, error) {
	r, err := do(agent.Tree(dir))
	if err != nil {
		return nil, err
	}
	if r[0].Errno != 0 {
		return nil, wrongf("unreadable", "the tree cannot be read: %v", r[0].Errno)
	}
	entries, err := agent.DecodeTree(r[0].Data)
	if err != nil {
		return nil, err
	}
	s, err := See(entries, f.can.Own...)
	if err != nil {
		return nil, &Wrong{"unreadable", err.Error()}
	}
	wants := s.Wants(f)
	if err := s.lookXattrs(do, dir, wants); err != nil {
		return nil, err
	}
	for _, w := range wants {
		if w.Data {
			if err := s.lookData(do, dir, w); err != nil {
				return nil, err
			}
		}
	}
	return s, nil
}

func (s *Seen) lookXattrs(do Perform, dir string, wants []Want) error {
	var list, get []agent.Op
	type key struct{ path, name string }
	var of []string
	var keys []key
	for _, w := range wants {
		if w.Xattrs {
			list, of = append(list, agent.Listxattr(path.Join(dir, w.Path))), append(of, w.Path)
		}
	}
	if len(list) == 0 {
		return nil
	}
	names, err := do(list...)
	if err != nil {
		return err
	}
	for i, r := range names {
		if r.Errno == unix.EOPNOTSUPP {
			continue
		}
		if r.Errno != 0 {
			return wrongf("unreadable", "%s: listxattr: %v", of[i], r.Errno)
		}
		for name := range strings.SplitSeq(string(r.Data), "\x00") {
			if strings.HasPrefix(name, "user.") {
				get, keys = append(get, agent.Getxattr(path.Join(dir, of[i]), name)), append(keys, key{of[i], name})
			}
		}
	}
	if len(get) == 0 {
		return nil
	}
	values, err := do(get...)
	if err != nil {
		return err
	}
	all := make(map[string]map[string]string)
	for i, r := range values {
		if r.Errno != 0 {
			return wrongf("unreadable", "%s: getxattr %s, which listxattr names: %v", keys[i].path, keys[i].name, r.Errno)
		}
		if all[keys[i].path] == nil {
			all[keys[i].path] = make(map[string]string)
		}
		all[keys[i].path][keys[i].name] = string(r.Data)
	}
	for p, x := range all {
		s.SetXattrs(p, x)
	}
	return nil
}

func (s *Seen) lookData(do Perform, dir string, w Want) error {
	data := make([]byte, 0, w.Size)
	for uint64(len(data)) < w.Size {
		off := uint64(len(data))
		n := min(w.Size-off, agent.MaxData)
		r, err := do(agent.Open(0, path.Join(dir, w.Path), unix.O_RDONLY, 0), agent.Read(0, off, uint32(n)))
		if err != nil {
			return err
		}
		if r[0].Errno != 0 || r[1].Errno != 0 || uint64(len(r[1].Data)) != n {
			return wrongf("unreadable", "%s: open: %v, read of %d bytes at %d: %d bytes, %v", w.Path, r[0].Errno, n, off, len(r[1].Data), r[1].Errno)
		}
		data = append(data, r[1].Data...)
	}
	s.SetData(w.Path, data)
	if !s.nodes[below(w.Path)].whole {
		return fmt.Errorf("%s changed while it was read", w.Path)
	}
	return nil
}
