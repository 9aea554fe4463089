package main

import (
	"os"

	"github.com/spf13/cobra"

	"fsward/hostd"
)

func rulesDocCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "doc",
		Short:   "Print docs/user/invariants.md, made from the comment blocks of the rules",
		Long:    "Prints a page of all built-in invariants: property, what a violation means, source, file and line,\nand the kinds of objects and fields that rules can speak of. docs/user/invariants.md is this page.",
		Example: "  fsward rules doc > docs/user/invariants.md",
		Args:    cobra.NoArgs,
		RunE:    func(*cobra.Command, []string) error { return hostd.WriteInvariants(os.Stdout) },
	}
}
