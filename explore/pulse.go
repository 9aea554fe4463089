package explore

import (
	"time"

	"fsward/explore/agent"
)

// A pulse says when the next "progress" event is due. The tests of one state can take minutes, so
// events come between crash states, too, and between the requests of a long step. These repeat what
// the last one between states said of the machine: a request in the middle of a test could disturb
// it.
type pulse struct {
	passThrough
	emit      func(Event)
	last      time.Time // of the last event
	depth     int       // of the state that is tested
	available uint64    // bytes of memory that the machine had before it
}

// progressEvery is the minimum time between two "progress" events.
const progressEvery = 2 * time.Second

// due reports whether an event is due, and counts it as sent.
func (p *pulse) due() bool {
	if time.Since(p.last) <= progressEvery {
		return false
	}
	p.last = time.Now()
	return true
}

// event returns the event.
func (p *pulse) event() Event {
	return Event{Event: "progress", Depth: p.depth, Available: p.available}
}

// beat reports the progress if an event is due.
func (p *pulse) beat() {
	if p.emit != nil && p.due() { // a replay reports none
		p.emit(p.event())
	}
}

// batch is that of an interceptor.
func (p *pulse) batch(_ *Env, r request, next sendBatch) (agent.Done, error) {
	defer p.beat()
	return next(r)
}

// command is that of an interceptor.
func (p *pulse) command(_ *Env, c agent.Command, next sendCommand) (agent.Exit, error) {
	defer p.beat()
	return next(c)
}
