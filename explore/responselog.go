package explore

import (
	"context"
	"fmt"

	"fsward/explore/agent"
)

// A responseLog is a System that records the answers of the machine. It can play them to a checker,
// which reaches its earlier state without the machine.
type responseLog struct {
	System
	answers []answer
	next    int  // index of the next answer
	play    bool // answers come from the log, not from the machine
}

// An answer of the machine, with its request.
type answer struct {
	operation string
	exit      agent.Exit
	done      agent.Done
}

// respond returns the next answer of the log if the log plays. Otherwise it calls ask, and records
// the answer.
func (l *responseLog) respond(operation string, ask func() (answer, error)) (answer, error) {
	if !l.play {
		a, err := ask()
		a.operation = operation
		l.answers, l.next = append(l.answers, a), l.next+1
		return a, err
	}
	if l.next == len(l.answers) || l.answers[l.next].operation != operation {
		want := "nothing more"
		if l.next < len(l.answers) {
			want = l.answers[l.next].operation
		}
		return answer{}, &DivergedError{At: l.next,
			Want: Choice{N: 1, Site: want}, Got: Choice{N: 1, Site: operation}}
	}
	l.next++
	return l.answers[l.next-1], nil
}

// Run is that of System.
func (l *responseLog) Run(ctx context.Context, c agent.Command) (agent.Exit, error) {
	a, err := l.respond(fmt.Sprint(c.Args, c.Env), func() (a answer, err error) {
		a.exit, err = l.System.Run(ctx, c)
		return a, err
	})
	return a.exit, err
}

// Do is that of System.
func (l *responseLog) Do(ctx context.Context, b agent.Batch) (agent.Done, error) {
	a, err := l.respond(fmt.Sprint(b.Ops), func() (a answer, err error) {
		a.done, err = l.System.Do(ctx, b)
		return a, err
	})
	return a.done, err
}

// Mark is that of System.
func (l *responseLog) Mark(ctx context.Context, text string) error {
	_, err := l.respond("mark "+text, func() (answer, error) {
		return answer{}, l.System.Mark(ctx, text)
	})
	return err
}
