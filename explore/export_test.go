package explore

import (
	"slices"
	"strings"

	bolt "go.etcd.io/bbolt"

	"fsward/explore/agent"
)

// Signatures returns the sorted signatures of all states that the run in a folder has seen.
func Signatures(dir string) (out []string, err error) {
	s, err := openStore(dir)
	if err != nil {
		return nil, err
	}
	defer s.close()
	err = s.view(func(tx *bolt.Tx) error {
		return tx.Bucket(bucketSeen).ForEach(func(k, _ []byte) error {
			out = append(out, string(k))
			return nil
		})
	})
	slices.Sort(out)
	return out, err
}

// Differences returns the differences between the tree of a commit and a recovered tree.
func (c *CommittedTree) Differences(got map[string]agent.Entry) string { return c.differences(got) }

// DescribeOperations writes the operations of an error up to its crash.
func DescribeOperations(e *Error, b *strings.Builder) { e.describeOperations(b) }
