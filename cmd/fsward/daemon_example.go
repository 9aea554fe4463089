package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"go.uber.org/zap"

	"fsward/hostd/guard"
	"fsward/hostd/vm"
)

// exampleValues are the values of keys in the example that have no useful default.
var exampleValues = map[string]string{
	"calls":        "unix:/run/fsward/web.calls",
	"control":      "unix:/run/fsward/control",
	"disk":         "[vda=/var/lib/libvirt/images/web.qcow2, vdb=/dev/vg/web-data]",
	"disk-format":  "[vda=qcow2, vdb=raw]",
	"domain":       "web",
	"listen":       "unix:/run/fsward/web.sock",
	"on-undecided": "refuse",
	"record":       "/var/log/fsward/web.log",
	"record-base":  "/var/lib/fsward/web.base",
	"require":      "[ext3]",
	"rules":        "/etc/fsward/rules",
	"socket-group": "libvirt-qemu",
	"socket-mode":  "660",
}

// exampleKeys are the keys that the example sets. The others are comments.
var exampleKeys = []string{"control", "disk", "disk-format", "listen", "socket-group",
	"socket-mode"}

// exampleOf returns a value of a key.
func exampleOf(f *pflag.Flag) string {
	if v := exampleValues[f.Name]; v != "" {
		return v
	}
	return strings.Trim(f.DefValue, "[]")
}

// printExample prints a configuration with every key, what it does and its default.
func printExample(w io.Writer) {
	var top guardFlags
	process := &cobra.Command{}
	top.addReports(process)
	fmt.Fprintln(w, "# fsward daemon --config FILE")
	printKeys(w, process.Flags(), "")
	fmt.Fprint(w, "\nguests:\n  # any name without spaces and slashes; repeat it for every guest\n"+
		"  web:\n")
	_, _, flags := guestFlags()
	printKeys(w, flags.Flags(), "    ")
}

// printKeys prints flags as keys of YAML, with their help as comments.
func printKeys(w io.Writer, flags *pflag.FlagSet, indent string) {
	flags.VisitAll(func(f *pflag.Flag) {
		_, usage := pflag.UnquoteUsage(f)
		for _, line := range wrapped(usage, 96-len(indent)) {
			fmt.Fprintf(w, "%s# %s\n", indent, line)
		}
		mark := "# "
		for _, key := range exampleKeys {
			if key == f.Name {
				mark = ""
			}
		}
		fmt.Fprintf(w, "%s%s%s: %s\n", indent, mark, f.Name, exampleOf(f))
	})
}

// wrapped breaks a text into lines of at most width bytes, if its words allow.
func wrapped(text string, width int) (lines []string) {
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && len(line)+1+len(word) > width {
			lines, line = append(lines, line), ""
		}
		line = strings.TrimPrefix(line+" "+word, " ")
	}
	return append(lines, line)
}

// finder returns a function that finds a libvirt domain, once; nil without a domain.
func finder(domain, uri string, log *zap.Logger) func(context.Context) (guard.Suspender, error) {
	if domain == "" {
		return nil
	}
	var mu sync.Mutex
	var found guard.Suspender
	return func(ctx context.Context) (guard.Suspender, error) {
		mu.Lock()
		defer mu.Unlock()
		if found != nil {
			return found, nil
		}
		d, err := vm.Find(ctx, uri, domain, log)
		if err != nil {
			return nil, err
		}
		found = d
		return found, nil
	}
}
