package reference

// A ViewError is a failure to read the state, which comes from the disk and not from the rule.
type ViewError struct{ Err error }

func (e ViewError) Error() string { return "the state could not be read: " + e.Err.Error() }

func (e ViewError) Unwrap() error { return e.Err }
