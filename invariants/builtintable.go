package invariants

// A goalArg is an argument that is itself a goal, called with some arguments more.
type goalArg struct{ arg, more int }

// builtinGoals lists the predicates that rules may call, with the goals among their arguments. No other predicate
// exists in an interpreter: nothing in the list reads or writes a file, changes the rules, or ends the process.
var builtinGoals = withOrders(map[indicator][]goalArg{
	// Records and state.
	pi("change", 5):       nil,
	pi("query", 2):        nil,
	pi("query", 4):        nil,
	pi("previous", 3):     nil,
	pi("next", 3):         nil,
	pi("at_or_before", 3): nil,
	pi("at_or_after", 3):  nil,
	pi("range", 4):        nil,
	pi("range_down", 4):   nil,
	pi("crc32c", 2):       nil,
	// Control.
	pi("$step", 0):  nil,
	pi("$holds", 1): {{arg: 0}},
	pi("true", 0):   nil,
	pi("fail", 0):   nil,
	pi("false", 0):  nil,
	pi(",", 2):      {{arg: 0}, {arg: 1}},
	pi(";", 2):      {{arg: 0}, {arg: 1}},
	pi("->", 2):     {{arg: 0}, {arg: 1}},
	pi(`\+`, 1):     {{arg: 0}},
	pi("once", 1):   {{arg: 0}},
	pi("forall", 2): {{arg: 0}, {arg: 1}},
	pi("call", 1):   {{arg: 0}},
	pi("call", 2):   {{arg: 0, more: 1}},
	pi("call", 3):   {{arg: 0, more: 2}},
	// Sets of solutions.
	pi("count", 2):   {{arg: 0}},
	pi("sum", 3):     {{arg: 1}},
	pi("findall", 3): {{arg: 1}},
	pi("between", 3): nil,
	// Unification.
	pi("=", 2):  nil,
	pi(`\=`, 2): nil,
	// Arithmetic.
	pi("is", 2): nil,
	// Inspection of terms.
	pi("arg", 3):     nil,
	pi("=..", 2):     nil,
	pi("functor", 3): nil,
})

// withOrders adds the comparisons and the tests of the type of a term.
func withOrders(list map[indicator][]goalArg) map[indicator][]goalArg {
	for name := range numberOrders {
		list[pi(name, 2)] = nil
	}
	for name := range termOrders {
		list[pi(name, 2)] = nil
	}
	for name := range termTests {
		list[pi(name, 1)] = nil
	}
	return list
}
