package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"

	"fsward/hostd/daemon"
	"fsward/hostd/guard"
)

// daemonConfig is the configuration of fsward daemon.
type daemonConfig struct {
	top     guardFlags // what concerns the process
	control string     // path of the control socket; "" for none
	guests  []guestConfig
}

// guestConfig is a guest with the libvirt domain that a policy suspends.
type guestConfig struct {
	daemon.Guest
	domain, uri string
}

// A configError is a mistake in a configuration.
type configError struct {
	file string
	line int
	text string
}

func (e *configError) Error() string { return fmt.Sprintf("%s:%d: %s", e.file, e.line, e.text) }

// guestsKey is the key of the guests.
const guestsKey = "guests"

// readDaemonConfig reads a configuration. The error of a mistake in it is a *configError.
func readDaemonConfig(path string) (*daemonConfig, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err) // it names the line
	}
	r := configReader{file: path}
	if len(doc.Content) == 0 {
		return nil, r.fail(&yaml.Node{Line: 1}, "the file is empty; fsward daemon --example prints one")
	}
	return r.read(doc.Content[0])
}

// configReader reads the nodes of a file.
type configReader struct{ file string }

func (r configReader) fail(at *yaml.Node, format string, args ...any) error {
	return &configError{r.file, at.Line, fmt.Sprintf(format, args...)}
}

func (r configReader) read(root *yaml.Node) (*daemonConfig, error) {
	cfg := &daemonConfig{}
	flags := &cobra.Command{}
	cfg.top.addReports(flags)
	var guests *yaml.Node
	err := r.pairs(root, "the configuration", func(key, value *yaml.Node) error {
		if key.Value == guestsKey {
			guests = value
			return nil
		}
		return r.set(flags.Flags(), key, value, guestsKey)
	})
	if err != nil {
		return nil, err
	}
	if cfg.top.control != "" {
		if cfg.control, err = daemon.Address(cfg.top.control); err != nil {
			return nil, r.fail(root, "control: %v", err)
		}
	}
	if guests == nil {
		return nil, r.fail(root, "there is no key %s", guestsKey)
	}
	err = r.pairs(guests, guestsKey, func(name, value *yaml.Node) error {
		g, err := r.guest(name, value, cfg.top.control)
		cfg.guests = append(cfg.guests, g)
		return err
	})
	if err == nil && len(cfg.guests) == 0 {
		err = r.fail(guests, "there are no guests")
	}
	if err == nil {
		err = r.apart(guests, cfg.guests)
	}
	return cfg, err
}

// guest reads a guest: its keys are the flags of fsward guard.
func (r configReader) guest(name, node *yaml.Node, control string) (g guestConfig, err error) {
	if name.Value == "" || strings.ContainsAny(name.Value, "/ \t\n") {
		return g, r.fail(name, "guest %q: a name has no spaces or slashes", name.Value)
	}
	f, o, flags := guestFlags()
	lines := map[string]*yaml.Node{}
	err = r.pairs(node, "guest "+name.Value, func(key, value *yaml.Node) error {
		lines[key.Value] = key
		return r.set(flags.Flags(), key, value)
	})
	if err != nil {
		return g, err
	}
	for _, key := range []string{"disk", "listen"} {
		if lines[key] == nil {
			return g, r.fail(name, "guest %s has no key %s", name.Value, key)
		}
	}
	f.control = control
	g.Name, g.domain, g.uri = name.Value, o.domain, o.libvirtURI
	g.Transport = o.transport
	g.Guest.Config.Config, err = f.config(flags)
	if err == nil {
		g.Listen, err = o.read()
	}
	if err == nil && o.calls != "" {
		g.Guest.Config.Calls = true
		g.Guest.Calls, err = daemon.Address(o.calls)
	}
	if err != nil {
		return g, r.fail(blamed(err, name, lines), "guest %s: %s", name.Value, keyText(err))
	}
	g.Socket = o.socket
	return g, nil
}

// guestFlags returns the flags that are the keys of a guest, and the command that has them.
func guestFlags() (*guardFlags, *guardOptions, *cobra.Command) {
	var f guardFlags
	var o guardOptions
	c := &cobra.Command{Use: "guest"}
	f.addGuard(c)
	f.memory.addDisk(c, "memory")
	o.add(c)
	return &f, &o, c
}

// keyText returns the text of an error about a flag, which names the flag as a key.
func keyText(err error) string { return strings.ReplaceAll(err.Error(), "--", "") }

// blamed returns the key that an error is about: the first of those in the file that the text names
// as a flag, or else the name of the guest.
func blamed(err error, name *yaml.Node, lines map[string]*yaml.Node) *yaml.Node {
	best, at := name, len(err.Error())
	for key, node := range lines {
		if i := strings.Index(err.Error()+" ", "--"+key+" "); i >= 0 && i < at {
			best, at = node, i
		}
		if i := strings.Index(err.Error(), "--"+key+":"); i >= 0 && i < at {
			best, at = node, i
		}
	}
	return best
}

// apart returns an error if two guests have the same disk or the same socket.
func (r configReader) apart(at *yaml.Node, guests []guestConfig) error {
	owner := make(map[string]string)
	take := func(guest, what string) error {
		if other, taken := owner[what]; taken {
			return r.fail(at, "the guests %s and %s have the same %s", other, guest, what)
		}
		owner[what] = guest
		return nil
	}
	for _, g := range guests {
		err := take(g.Name, "socket "+filepath.Clean(g.Listen))
		for _, d := range g.Disks {
			err = errors.Join(err, take(g.Name, "disk "+filepath.Clean(d.Path)))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// pairs calls each for the keys and values of a mapping. what names the mapping in errors.
func (r configReader) pairs(node *yaml.Node, what string,
	each func(key, value *yaml.Node) error) error {
	if node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	if node.Kind != yaml.MappingNode {
		return r.fail(node, "%s has to be a mapping, such as `key: value`", what)
	}
	seen := make(map[string]bool)
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		if seen[key.Value] {
			return r.fail(key, "%s has the key %s twice", what, key.Value)
		}
		seen[key.Value] = true
		if err := each(key, value); err != nil {
			return err
		}
	}
	return nil
}

// set gives the flag with the name of a key its value, or its values one after the other. more are
// other keys that may be meant.
func (r configReader) set(flags *pflag.FlagSet, key, value *yaml.Node, more ...string) error {
	flag := flags.Lookup(key.Value)
	if flag == nil {
		return r.fail(key, "there is no key %s%s", key.Value, similar(flags, key.Value, more))
	}
	if value.Kind == yaml.AliasNode {
		value = value.Alias
	}
	values := []*yaml.Node{value}
	if value.Kind == yaml.SequenceNode {
		if _, several := flag.Value.(pflag.SliceValue); !several {
			return r.fail(value, "%s has one value, not a list", key.Value)
		}
		values = value.Content
	}
	for _, v := range values {
		if v.Kind != yaml.ScalarNode || v.Tag == "!!null" {
			return r.fail(v, "%s: expected a value such as %s", key.Value, exampleOf(flag))
		}
		if err := flags.Set(key.Value, v.Value); err != nil {
			return r.fail(v, "%s: %q: expected a value such as %s", key.Value, v.Value, exampleOf(flag))
		}
	}
	return nil
}

// similar suggests the flags, and other keys, that may be meant by a key.
func similar(flags *pflag.FlagSet, key string, more []string) string {
	keys := &cobra.Command{SuggestionsMinimumDistance: 2}
	add := func(name string) {
		keys.AddCommand(&cobra.Command{Use: name, Run: func(*cobra.Command, []string) {}})
	}
	flags.VisitAll(func(f *pflag.Flag) { add(f.Name) })
	for _, name := range more {
		add(name)
	}
	found := keys.SuggestionsFor(key)
	if len(found) == 0 {
		return "; fsward daemon --example lists all"
	}
	return "; did you mean " + strings.Join(found, " or ") + "?"
}

// sinkOf returns the sink of a guest's events.
func (cfg *daemonConfig) sinkOf(s *serving, guest string) guard.Sink {
	if cfg.top.reports.json {
		return guard.NewJSONReport(s.reports, guest)
	}
	return guestSink{guest, s.sink}
}

// guestSink puts the name of a guest before those of its disks.
type guestSink struct {
	guest string
	sink  guard.Sink
}

// Event sends an event on.
func (g guestSink) Event(ev *guard.Event) {
	named := *ev
	named.Disk = g.guest + "/" + ev.Disk
	g.sink.Event(&named)
}
