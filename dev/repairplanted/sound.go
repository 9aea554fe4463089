package main

import (
	"context"
	"fmt"
	"path/filepath"

	"fsward/dev/checkerbuild"
	"fsward/repair/adapter"
)

// soundPrograms builds the programs without a bug, once.
type soundPrograms struct {
	sources, dir string
	built        map[string]*soundProgram // by name
}

// A soundProgram is one without a bug, and its sources.
type soundProgram struct {
	build *checkerbuild.Build
	path  string
}

func (s *soundPrograms) build(ctx context.Context, in target) (*soundProgram, error) {
	if p := s.built[in.Program]; p != nil {
		return p, nil
	}
	known, _, err := adapter.Find(in.Program, in.FS)
	if err != nil {
		return nil, err
	}
	if known.Rebuild == nil {
		return nil, fmt.Errorf("%s: its description does not say how it is built", in.Program)
	}
	p := &soundProgram{path: filepath.Join(s.dir, in.Program+"-sound")}
	p.build, err = checkerbuild.New(ctx, filepath.Join(s.sources, known.Rebuild.Package),
		known.Rebuild, "CFLAGS=-O1 -g")
	if err != nil {
		return nil, err
	}
	s.built[in.Program] = p
	return p, p.build.Program(ctx, p.path)
}
