package explore

import (
	"context"
	"fmt"

	"fsward/explore/agent"
)

// A responseLog is a System that keeps what the machine answered. It can play the answers to a checker,
// which is brought to where it was without the machine.
type responseLog struct {
	System
	answers []answer
	next    int  // the number of the answer that follows
	play    bool // answers are played, and not asked for
}

// An answer of the machine, and what it was asked.
type answer struct {
	asked string
	exit  agent.Exit
	done  agent.Done
}

// again returns the next answer of the log. If it does not play, it asks for the answer and keeps it.
func (l *responseLog) respond(asked string, ask func() (answer, error)) (answer, error) {
	if !l.play {
		a, err := ask()
		a.asked = asked
		l.answers, l.next = append(l.answers, a), l.next+1
		return a, err
	}
	if l.next == len(l.answers) || l.answers[l.next].asked != asked {
		want := "nothing more"
		if l.next < len(l.answers) {
			want = l.answers[l.next].asked
		}
		return answer{}, &DivergedError{At: l.next, Want: Choice{N: 1, Site: want}, Got: Choice{N: 1, Site: asked}}
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
	_, err := l.respond("mark "+text, func() (answer, error) { return answer{}, l.System.Mark(ctx, text) })
	return err
}
