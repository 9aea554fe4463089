package campaign_test

import (
	"fmt"

	"fsward/explore/campaign"
)

// A campaign over two flags has a unit for each combination of their values.
func ExampleCombinations() {
	fmt.Println(campaign.Combinations([]campaign.Axis{
		{Name: "seed", Values: []string{"1", "2", "3"}},
		{Name: "search", Values: []string{"breadth", "unseen"}},
	}))
	fmt.Println(campaign.Flag{Name: "fs", Value: "ext3"}, campaign.Kinds())
	// Output:
	// 6
	// --fs=ext3 [b3 explore fsck matrix survey]
}
