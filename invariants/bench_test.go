package invariants_test

import (
	"context"
	"testing"

	"fsward/invariants"
)

// BenchmarkReference measures the rules of the thesis. The flat transactions, where rule 17 as printed is
// quadratic for an engine without an index by value, are in it as well.
func BenchmarkReference(b *testing.B) {
	for _, name := range []string{"tree-1k", "tree-10k", "tree-41k", "flat-42k"} {
		b.Run(name, func(b *testing.B) {
			f := loadFacts(b, sharedData(b, "rules", name+".pl.zst"))
			e, err := invariants.NewReference(f.Txn.Schema, thesisRules(b), invariants.Options{OpenVocabulary: true})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				e.Check(context.Background(), f.Txn, f.View)
			}
			b.ReportMetric(float64(len(f.Txn.Records)*b.N)/b.Elapsed().Seconds(), "records/s")
		})
	}
}
