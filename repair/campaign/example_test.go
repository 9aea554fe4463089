package campaign_test

import (
	"fmt"

	"fsward/repair/campaign"
)

// Each kind of failure has a sentence for people.
func ExampleSentence() {
	for _, kind := range []string{campaign.Again, campaign.Hang} {
		fmt.Printf("%s: %s\n", kind, campaign.Sentence(kind))
	}
	// Output:
	// again: A second run contradicts the first.
	// hang: The program did not end.
}
