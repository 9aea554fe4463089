package campaign

import (
	"compress/gzip"
	"os"
	"path/filepath"
	"testing"
)

// writeSuite makes a suite of a sound image, a damaged one, and a file that is no image.
func writeSuite(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	bad := toyImage()
	bad[8] ^= 0xff
	bad[10] ^= 0xff
	for name, text := range map[string][]byte{"f_good/image.gz": toyImage(), "f_bad/image.gz": bad} {
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
	found := test(t, cfg, 3)
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
