package ruleset

import "fsward/invariants/syntax"

// A goalArg is an argument that is itself a goal; More is the number of arguments that the goal is
// called with in addition.
type goalArg struct{ Arg, More int }

// Builtins lists the predicates that rules may call, with the goals among their arguments. An
// interpreter has no other predicates: nothing in the list reads or writes a file, changes the
// rules, or ends the process.
var Builtins = withOrders(map[syntax.Indicator][]goalArg{
	// Records and state.
	syntax.Pred("change", 5):       nil,
	syntax.Pred("query", 2):        nil,
	syntax.Pred("query", 4):        nil,
	syntax.Pred("previous", 3):     nil,
	syntax.Pred("next", 3):         nil,
	syntax.Pred("at_or_before", 3): nil,
	syntax.Pred("at_or_after", 3):  nil,
	syntax.Pred("range", 4):        nil,
	syntax.Pred("range_down", 4):   nil,
	syntax.Pred("crc32c", 2):       nil,
	// Control.
	syntax.Pred("$step", 0):  nil,
	syntax.Pred("$whole", 0): nil,
	syntax.Pred("$holds", 1): {{Arg: 0}},
	syntax.Pred("true", 0):   nil,
	syntax.Pred("fail", 0):   nil,
	syntax.Pred("false", 0):  nil,
	syntax.Pred(",", 2):      {{Arg: 0}, {Arg: 1}},
	syntax.Pred(";", 2):      {{Arg: 0}, {Arg: 1}},
	syntax.Pred("->", 2):     {{Arg: 0}, {Arg: 1}},
	syntax.Pred(`\+`, 1):     {{Arg: 0}},
	syntax.Pred("once", 1):   {{Arg: 0}},
	syntax.Pred("forall", 2): {{Arg: 0}, {Arg: 1}},
	syntax.Pred("call", 1):   {{Arg: 0}},
	syntax.Pred("call", 2):   {{Arg: 0, More: 1}},
	syntax.Pred("call", 3):   {{Arg: 0, More: 2}},
	// Sets of solutions.
	syntax.Pred("count", 2):   {{Arg: 0}},
	syntax.Pred("sum", 3):     {{Arg: 1}},
	syntax.Pred("findall", 3): {{Arg: 1}},
	syntax.Pred("between", 3): nil,
	// Unification.
	syntax.Pred("=", 2):  nil,
	syntax.Pred(`\=`, 2): nil,
	// Arithmetic.
	syntax.Pred("is", 2): nil,
	// Inspection of terms.
	syntax.Pred("arg", 3):     nil,
	syntax.Pred("=..", 2):     nil,
	syntax.Pred("functor", 3): nil,
})

// withOrders adds the comparisons and the type tests.
func withOrders(list map[syntax.Indicator][]goalArg) map[syntax.Indicator][]goalArg {
	for name := range syntax.NumberOrders {
		list[syntax.Pred(name, 2)] = nil
	}
	for name := range syntax.TermOrders {
		list[syntax.Pred(name, 2)] = nil
	}
	for name := range syntax.TermTests {
		list[syntax.Pred(name, 1)] = nil
	}
	return list
}
