package explore

import (
	"fmt"
	"slices"
	"strings"

	"fsward/explore/agent"
	"fsward/explore/ekm"
)

// checkKernel begins the checks of Config.KernelChecks, before the stack is mounted.
func (t *target) checkKernel(e *Env) error {
	if t.kernelChecks == 0 {
		return nil
	}
	if _, err := e.ask(agent.CheckKernel(t.kernelChecks)); err != nil {
		return fmt.Errorf("the kernel cannot be checked: %w", err)
	}
	return nil
}

// kernelFinding returns the failure that the checks found since they began; nil: none. A finding of
// each kind is in its text. e keeps an error of the machine.
func (t *target) kernelFinding(e *Env) *Failure {
	if t.kernelChecks == 0 {
		return nil
	}
	found := kernelFindings(e, t.kernelChecks)
	if len(found) == 0 {
		return nil
	}
	slices.SortFunc(found, func(a, b agent.KernelFinding) int {
		return strings.Compare(a.Kind+a.Text, b.Kind+b.Text)
	})
	var lines []string
	for _, f := range found {
		lines = append(lines, f.Kind+": "+f.Text)
		// Others may wait for what the thread has kept, forever.
		kept := f.Kind == ekm.LockLeft.String() || f.Kind == ekm.Unpaired.String()
		t.dead = t.dead || kept
	}
	return &Failure{Kind: "kernel: " + found[0].Kind, Text: strings.Join(lines, "\n")}
}

// kernelFindings returns what checks of the kernel found; nil: nothing, or e keeps an error.
func kernelFindings(e *Env, checks ekm.Checks) []agent.KernelFinding {
	if e.Err() != nil {
		return nil
	}
	results, err := e.ask(agent.KernelFindings(checks))
	if err != nil {
		return nil
	}
	found, err := agent.DecodeFindings(results[0].Data)
	_ = e.failed(err)
	return found
}

// ParseKernelChecks returns the checks that a text names: see ekm.ParseChecks.
func ParseKernelChecks(text string) (ekm.Checks, error) { return ekm.ParseChecks(text) }
