package qemudisk

import (
	"encoding/json"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
)

// Names in a qemu-storage-daemon, which serves one disk.
const (
	exportName   = "disk"
	fileNode     = "file"
	diskNode     = "disk"
	defaultPort  = "10809"
	unmapDiscard = "unmap" // discards of the guest free space in the image
)

// options are the options of a block device node (QEMU's BlockdevOptions).
type options map[string]any

// blockdevs returns the block device nodes of a disk, as arguments of --blockdev. The format is
// always named: QEMU must not guess it.
func blockdevs(path string, format Format, readOnly bool) ([]string, error) {
	protocol, err := protocolNode(path)
	if err != nil {
		return nil, err
	}
	protocol["node-name"], protocol["discard"] = fileNode, unmapDiscard
	protocol["read-only"] = readOnly
	disk := options{"driver": string(format), "node-name": diskNode, "file": fileNode,
		"discard": unmapDiscard, "read-only": readOnly}
	var out []string
	for _, node := range []options{protocol, disk} {
		text, err := json.Marshal(node)
		if err != nil {
			return nil, err
		}
		out = append(out, string(text))
	}
	return out, nil
}

// protocolNode returns the node that reads and writes the bytes of the image itself.
func protocolNode(path string) (options, error) {
	if IsURI(path) {
		server, export, err := parseURI(path)
		return options{"driver": "nbd", "server": server, "export": export}, err
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	return options{"driver": "file", "filename": abs, "locking": "on"}, nil
}

// parseURI reads nbd://HOST[:PORT]/EXPORT and nbd+unix:///EXPORT?socket=PATH
// (NetworkBlockDevice/nbd, doc/uri.md).
func parseURI(s string) (server options, export string, err error) {
	u, err := url.Parse(s)
	if err != nil {
		return nil, "", err
	}
	export = strings.TrimPrefix(u.Path, "/")
	query := u.Query()
	socket := query.Get("socket")
	query.Del("socket")
	switch {
	case len(query) > 0 || u.User != nil || u.Fragment != "":
		return nil, "", fmt.Errorf("%s: expected nbd://HOST[:PORT]/EXPORT or "+
			"nbd+unix:///EXPORT?socket=PATH, and nothing else", s)
	case u.Scheme == "nbd+unix" && (u.Host != "" || socket == ""):
		return nil, "", fmt.Errorf("%s: expected nbd+unix:///EXPORT?socket=PATH", s)
	case u.Scheme == "nbd+unix":
		return options{"type": "unix", "path": socket}, export, nil
	case u.Hostname() == "" || socket != "":
		return nil, "", fmt.Errorf("%s: expected nbd://HOST[:PORT]/EXPORT", s)
	}
	port := u.Port()
	if port == "" {
		port = defaultPort
	}
	return options{"type": "inet", "host": u.Hostname(), "port": port}, export, nil
}
