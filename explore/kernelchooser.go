package explore

import (
	"errors"
	"fmt"

	"fsward/explore/agent"
)

// A kernelChooser makes the choices of the kernel (fsw_ekm_choose) part of the sequence of an Env's
// Chooser. Each request gets the values that come next, and the choices that the kernel took during
// the request follow those of the checker.
type kernelChooser struct{ passThrough }

func (kernelChooser) batch(e *Env, r request, next sendBatch) (done agent.Done, err error) {
	err = chooseAround(e, func() (err error) {
		done, err = next(r)
		return err
	})
	return done, err
}

func (kernelChooser) command(e *Env, c agent.Command, next sendCommand) (x agent.Exit, err error) {
	err = chooseAround(e, func() (err error) {
		x, err = next(c)
		return err
	})
	return x, err
}

// chooseAround calls f, which sends a request to the machine, and takes the kernel's choices.
func chooseAround(e *Env, f func() error) error {
	if _, err := e.ask(agent.LoadChoices(e.chooser.upcoming())); err != nil {
		return err
	}
	if err := f(); err != nil {
		return err
	}
	results, err := e.ask(agent.TakenChoices())
	if err != nil {
		return err
	}
	taken, err := agent.DecodeChoices(results[0].Data)
	for _, c := range taken {
		site := "kernel " + c.Site
		e.note(fmt.Sprintf("the kernel chose %d of %d at %s", c.Value, c.Bound, c.Site), false, nil)
		if got := e.chooser.Choose(c.Bound, site); got != c.Value && e.chooser.err == nil {
			err = errors.Join(err, &DivergedError{At: len(e.chooser.taken) - 1,
				Want: Choice{N: c.Bound, Value: got, Site: site},
				Got:  Choice{N: c.Bound, Value: c.Value, Site: site}})
		}
	}
	return err
}
