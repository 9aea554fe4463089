package oracle_test

import (
	"context"
	"fmt"

	"fsward/blocktap"
	"fsward/explore/crash"
	"fsward/explore/oracle"
	"fsward/interp/detect"
)

// An oracle judges the states that a crash can leave on a recorded disk, here with ext3. The rules
// hold in each of them. Then the oracle reads the same log without its flushes, as a faulty disk
// would perform it. Now a crash can leave states that violate a rule.
func ExampleOracle_Judge() {
	const recording = "../../hostd/guard/testdata/logs/ext3"
	sound := crash.OpenTrace(recording + ".log.zst")
	faulty := func(yield func(crash.Event, error) bool) {
		for ev, err := range sound {
			if err == nil && ev.Kind == crash.Settled {
				continue
			}
			if !yield(ev, err) {
				return
			}
		}
	}
	base, err := blocktap.OpenImage(recording + ".base.zst")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer base.Close()
	ctx := context.Background()
	maker := oracle.NewMaker(oracle.Options{})
	for _, log := range []crash.Events{sound, faulty} {
		o, err := maker.New(ctx, detect.Auto, base)
		if err != nil {
			fmt.Println(err)
			return
		}
		options := crash.Options{Unit: crash.PageSize, Limit: 60, Seed: 1}
		_, err = crash.Each(base, log, options, func(s *crash.State) error {
			_, err := o.Judge(ctx, s)
			return err
		})
		if err != nil {
			fmt.Println(err)
			return
		}
		stats := o.Stats()
		fmt.Printf("%s: states %v, violated %v, undecided %v\n",
			o.FS(), stats.Judged > 0, stats.Violated > 0, stats.Undecided > 0)
	}
	// Output:
	// ext3: states true, violated false, undecided false
	// ext3: states true, violated true, undecided false
}
