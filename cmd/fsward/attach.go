package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"fsward/hostd/attach"
	"fsward/hostd/daemon"
)

// addSocketFlags adds the flags that say who may connect to a socket.
func addSocketFlags(c *cobra.Command, group, mode *string) {
	c.Flags().StringVar(group, "socket-group", "",
		"give the socket to `GROUP`, such as libvirt-qemu (default: the group of fsward)")
	c.Flags().StringVar(mode, "socket-mode", "",
		"give the socket the octal `MODE`, such as 660 (default 600)")
}

// attachOptions are the flags of attach.
type attachOptions struct {
	uri, socket string
	reconnect   time.Duration
}

func attachCommand() *cobra.Command {
	var o attachOptions
	c := &cobra.Command{
		Use:   "attach DOMAIN [TARGET...]",
		Short: "Let a guard serve the disks of a libvirt domain",
		Long: `Rewrites the persistent definition of a domain that is shut off, so that its disks are
those of a guard, and prints the commands that start the guard. TARGETs are the names of disks in
the domain, such as vda. Without them, the command attaches all hard disks that the guest may write.
The address, serial, boot order, discard and policies of a disk stay as they are. The domain's
metadata keeps the original disks, and fsward detach puts them back.

The command changes nothing and says why if the domain is running, transient, attached already, or
has a saved state, snapshots or checkpoints; if a disk has backing files or is not a file or block
device; or if the definition could not be restored exactly.

Exit status: 0 attached, 2 wrong usage, 3 not attached.`,
		Example: `  fsward attach vm
  fsward attach vm vda vdb --connect qemu:///session --socket unix:$XDG_RUNTIME_DIR/vm.sock`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if o.socket == "" {
				o.socket = "unix:/run/fsward/" + args[0] + ".sock"
			}
			path, err := daemon.Address(o.socket)
			if err == nil {
				err = daemon.CheckSocketPath(attach.Options{Socket: path}.ProxySocket()) // the longer one
			}
			if err == nil && o.reconnect < 0 {
				err = fmt.Errorf("--reconnect %s is negative", o.reconnect)
			}
			if err != nil {
				return usageError{err, c.CommandPath()}
			}
			a, err := attach.Attach(c.Context(), o.uri, args[0], args[1:],
				attach.Options{Socket: path, Reconnect: o.reconnect})
			if err != nil {
				return err
			}
			o.print(c.OutOrStdout(), args[0], path, a)
			return nil
		},
	}
	addConnect(c, &o.uri)
	c.Flags().StringVar(&o.socket, "socket", "",
		"let the domain connect to the guard at `unix:PATH` (default unix:/run/fsward/DOMAIN.sock)")
	c.Flags().DurationVar(&o.reconnect, "reconnect", 5*time.Minute,
		"let the guest wait at most `TIME` for a guard that starts again; then its requests "+
			"fail; with 0 they fail at once")
	return c
}

func detachCommand() *cobra.Command {
	var uri string
	c := &cobra.Command{
		Use:   "detach DOMAIN",
		Short: "Give an attached domain its original disks back",
		Long: `Puts the original disks of a domain that is shut off back into its persistent
definition. It keeps other changes of the definition since then.

Exit status: 0 detached, 2 wrong usage, 3 not detached.`,
		Example: `  fsward detach vm`,
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			disks, err := attach.Detach(c.Context(), uri, args[0])
			if err != nil {
				return err
			}
			for _, d := range disks {
				fmt.Fprintf(c.OutOrStdout(), "%s %s is %s again\n", args[0], d.Target, d.Source)
			}
			return nil
		},
	}
	addConnect(c, &uri)
	return c
}

func addConnect(c *cobra.Command, uri *string) {
	c.Flags().StringVar(uri, "connect", "qemu:///system", "look for the domain at this libvirt `URI`")
}

// print prints what was attached, and the commands that start the guard, and a proxy if the domain
// needs one.
func (o *attachOptions) print(w io.Writer, domain, socket string, a attach.Attached) {
	guard := []string{"fsward", "guard"}
	proxy := []string{"fsward", "proxy"}
	for _, d := range a.Disks {
		fmt.Fprintf(w, "# %s %s was %s (%s)\n", domain, d.Target, d.Source, d.Format)
		for _, note := range d.Notes {
			fmt.Fprintf(w, "# %s: %s\n", d.Target, note)
		}
		guard = append(guard, "--disk", d.Target+"="+d.Source, "--disk-format",
			d.Target+"="+string(d.Format))
		proxy = append(proxy, "--disk", d.Target)
	}
	access := []string{"--socket-group", "libvirt-qemu", "--socket-mode", "660"}
	guard = append(guard, "--listen", "unix:"+socket)
	for _, note := range a.Notes {
		fmt.Fprintf(w, "# %s\n", note)
	}
	if a.Proxy == "" {
		fmt.Fprintln(w, "# Start the guard before the domain:")
		fmt.Fprintln(w, shellCommand(append(guard, access...)))
		return
	}
	proxy = append(proxy, "--guard", "unix:"+socket, "--listen", "unix:"+a.Proxy, "--reconnect",
		o.reconnect.String())
	fmt.Fprintln(w, "# This libvirt cannot let the guest wait while the guard starts again;\n"+
		"# libvirt 9.1 and later can. A proxy does it here. Start the guard and the proxy before the\n"+
		"# domain:")
	fmt.Fprintln(w, shellCommand(guard))
	fmt.Fprintln(w, shellCommand(append(proxy, access...)))
}

// shellCommand quotes the words of a command for a POSIX shell.
func shellCommand(words []string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = shellWord(word)
	}
	return strings.Join(quoted, " ")
}

// shellWord quotes a word for a POSIX shell if that is needed.
func shellWord(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
			strings.ContainsRune("@%+=:,./_-", r)
	}
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool { return !plain(r) }) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
