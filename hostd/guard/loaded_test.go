package guard_test

import (
	"sync"

	"fsward/hostd/guard"
)

// loaded keeps the built-in rules between the replays of a test. Loading them takes longer than
// most replays.
var loaded rulesPool

// A rulesPool keeps loaded rules by engine. One goroutine at a time may use them.
type rulesPool struct {
	mu   sync.Mutex
	free map[string][]*guard.Rules
}

// take returns the built-in rules for an engine. It loads them if none are free.
func (p *rulesPool) take(engine string) (*guard.Rules, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.free[engine]); n > 0 {
		rules := p.free[engine][n-1]
		p.free[engine] = p.free[engine][:n-1]
		return rules, nil
	}
	return guard.RulesConfig{Engine: engine}.Load()
}

// giveBack keeps rules for later.
func (p *rulesPool) giveBack(engine string, rules *guard.Rules) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.free == nil {
		p.free = make(map[string][]*guard.Rules)
	}
	p.free[engine] = append(p.free[engine], rules)
}
