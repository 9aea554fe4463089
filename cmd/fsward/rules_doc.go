package main

import (
	"os"

	"github.com/spf13/cobra"

	"fsward/hostd/offline"
)

func rulesDocCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "doc",
		Short: "Print docs/user/invariants.md from the comment blocks of the rules",
		Long: `Prints docs/user/invariants.md, the page of all built-in rules: for each rule what must
be true, what a violation means for the user, the source of the property, and the file
and line. The page also lists the checks that run before the rules, and the kinds of
objects and fields that rules can use.`,
		Example: "  fsward rules doc > docs/user/invariants.md",
		Args:    cobra.NoArgs,
		RunE:    func(*cobra.Command, []string) error { return offline.WriteInvariants(os.Stdout) },
	}
}
