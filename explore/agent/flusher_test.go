package agent

import "testing"

// TestParsePages checks that the counts are found by their whole names, and that all must be there.
func TestParsePages(t *testing.T) {
	text := "nr_free_pages 1\nnr_dirty 12\nnr_writeback 3\nnr_writeback_temp 9\nnr_dirtied 40\n" +
		"nr_written 28\n"
	if c, err := parsePages([]byte(text)); err != nil || c != (pageCounts{12, 3, 28}) {
		t.Errorf("%+v, %v", c, err)
	}
	for _, bad := range []string{
		"", "nr_dirty 12\nnr_written 28\n", "nr_dirty x\nnr_writeback 3\nnr_written 28\n",
	} {
		if _, err := parsePages([]byte(bad)); err == nil {
			t.Errorf("parsePages accepts %q", bad)
		}
	}
}
