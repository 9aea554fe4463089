package campaign

import (
	"compress/gzip"
	"os"
	"path/filepath"
	"testing"

	"fsward/repair/damage"
)

// writeSuite makes a suite of a sound image, two damaged ones, and a file that is no image.
func writeSuite(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	bad := toyImage()
	bad[8] ^= 0xff
	bad[10] ^= 0xff
	magic := toyImage()
	copy(magic, "\xff\xff\xff\xff")
	for name, text := range map[string][]byte{"f_good/image.gz": toyImage(), "f_bad/image.gz": bad,
		"f_magic/image.gz": magic} {
		path := filepath.Join(dir, name)
		if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		z := gzip.NewWriter(f)
		if _, err := z.Write(text); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "none.img.gz"), []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestSuite tries the images of a suite, and finds what the damaged one shows.
func TestSuite(t *testing.T) {
	cfg := plantedConfig(t, "twice", "toy")
	cfg.Damage = suitePrefix + writeSuite(t)
	found := test(t, cfg, 4)
	if len(found) != 1 || len(found[Again]) != 1 || found[Again][0].Group != "suite.f_bad" {
		t.Fatalf("found %v", found)
	}
	checkFinding(t, found[Again][0])
	for _, wrong := range []string{"suite:" + t.TempDir(), "map"} {
		cfg.Damage = wrong
		c, err := Create(t.Context(), filepath.Join(t.TempDir(), "out"), cfg)
		if err == nil {
			t.Errorf("the damage %s is accepted", wrong)
			_ = c.Close()
		}
	}
}

// TestRepairedBytes damages what repairs of a suite's images change, further (model B). A finding
// is of an image of the suite, with a byte of its own. What an image shows without it is none. A
// campaign that goes on has the same damages.
func TestRepairedBytes(t *testing.T) {
	cfg := plantedConfig(t, "crashes", "toy")
	cfg.Damage, cfg.Model, cfg.Workers = suitePrefix+writeSuite(t), damage.Test, 1
	dir := filepath.Join(t.TempDir(), "out")
	c, err := Create(t.Context(), dir, cfg)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.repaired) != 2 || c.repaired[1].Suite != "f_magic/image.gz" {
		t.Fatalf("repairs change %+v", c.repaired)
	}
	first, err := c.model.At(0)
	if err != nil || c.Close() != nil {
		t.Fatal(err)
	}
	if c, err = Open(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if again, err := c.model.At(0); err != nil || again.What != first.What {
		t.Errorf("damage 0 is %v, and was %v: %v", again, first, err)
	}
	found := test(t, cfg, 8)
	if len(found) != 1 || len(found[Crash]) != 1 || found[Crash][0].Group != "suite.f_magic" {
		t.Fatalf("found %v", found)
	}
	checkFinding(t, found[Crash][0])

	cfg.Program = plantedConfig(t, "twice", "toy").Program
	for _, f := range test(t, cfg, 8)[Again] {
		t.Errorf("the image shows it without the damage %s", f.Damage)
	}
	for _, wrong := range []Config{{Model: damage.Test}, {Model: damage.Pairs, Damage: cfg.Damage},
		{Model: "c"}} {
		wrong.FS, wrong.Program, wrong.Image = cfg.FS, cfg.Program, cfg.Image
		if c, err := Create(t.Context(), filepath.Join(t.TempDir(), "out"), wrong); err == nil {
			t.Errorf("model %q of %q is accepted", wrong.Model, wrong.Damage)
			_ = c.Close()
		}
	}
}

// TestImage tries one damaged image, and a map of fields from a file.
func TestImage(t *testing.T) {
	cfg := plantedConfig(t, "twice", "toy")
	suite := writeSuite(t)
	cfg.Damage = imagePrefix + filepath.Join(suite, "f_bad", "image.gz")
	if found := test(t, cfg, 1); len(found[Again]) != 1 {
		t.Errorf("found %v", found)
	}
	cfg.Damage = written(t, "map.yaml", []byte("file_system: toy\nstructures:\n  head:\n"+
		"    fields: [[number, 8, 4]]\nplaces: [{structure: head, at: 0}]\n"))
	if found := test(t, cfg, 2); len(found[Again]) != 1 || found[Again][0].Group != "head.number" {
		t.Errorf("found %v", found)
	}
}
