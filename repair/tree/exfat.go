package tree

import (
	"github.com/cespare/xxhash/v2"

	"fsward/interp"
	"fsward/repair/exfat"
	"fsward/repair/minix"
)

// exfatSource reads exFAT. The number of a file is the address of its directory entries, and that
// of the root 0. Files have no permissions and no owners.
type exfatSource struct {
	fs    *exfat.FS
	files map[uint64]*exfat.File
	read  budget
}

func openExFAT(disk interp.Disk) (source, error) {
	f, err := exfat.Open(disk, disk.Size())
	if err != nil {
		return nil, err
	}
	return &exfatSource{f, map[uint64]*exfat.File{0: f.Root()}, budgetOf(disk)}, nil
}

func (s *exfatSource) root() uint64 { return 0 }

func (s *exfatSource) file(number uint64) (*File, error) {
	e := s.files[number]
	data, fat, err := s.fs.Clusters(e)
	if err != nil {
		return nil, err
	}
	f := &File{Mode: minix.Directory, parts: exfatRanges(fat, e.Entry)}
	if e.Attributes&exfat.Directory != 0 {
		return f, nil
	}
	f.Mode, f.Size = minix.Regular, e.Size
	f.parts = append(f.parts, exfatRanges(data)...)
	if err := s.read.spend(e.Size); err != nil {
		return nil, err
	}
	h := xxhash.New()
	err = s.fs.Copy(h, e)
	f.Content = h.Sum64()
	return f, err
}

func exfatRanges(lists ...[]exfat.Range) (out []Range) {
	for _, list := range lists {
		for _, r := range list {
			out = append(out, Range(r))
		}
	}
	return out
}

func (s *exfatSource) entries(number uint64) (list []entry, err error) {
	all, err := s.fs.Entries(s.files[number])
	for _, e := range all {
		s.files[e.At] = e
		list = append(list, entry{e.Name, e.At, Range(e.Entry[0])})
	}
	return list, err
}
