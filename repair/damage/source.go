package damage

import (
	"fmt"

	"fsward/interp/detect"
	"fsward/repair/fieldmap"
)

// A Source says where the fields of a file system come from.
type Source struct {
	FS   string `json:"fs"`
	From string `json:"from"` // "map", "interpreter" or "words"
	// Structures and Fields are those of the map.
	Structures int `json:"structures,omitempty"`
	Fields     int `json:"fields,omitempty"`
}

func (s Source) String() string {
	switch s.From {
	case "map":
		return fmt.Sprintf("map: %d structures, %d fields", s.Structures, s.Fields)
	case "words":
		return "words of each sector"
	}
	return "interpreter of " + Interpreter(s.FS)
}

// Sources returns where the fields of file systems come from, as NewModel finds them.
func Sources(systems []string) (list []Source, err error) {
	for _, fs := range systems {
		m, err := fieldmap.Known(fs)
		if err != nil {
			return nil, err
		}
		s := Source{FS: fs, From: "words"}
		switch {
		case m != nil:
			s.From, s.Structures = "map", len(m.Structures)
			for _, t := range m.Structures {
				s.Fields += len(t.Fields)
			}
		case detect.Alterables(Interpreter(fs)) != nil:
			s.From = "interpreter"
		}
		list = append(list, s)
	}
	return list, nil
}
