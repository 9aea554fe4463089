package fuse_test

import (
	"context"
	"fmt"
	"os/exec"
	"testing"
	"time"

	"fsward/blocktap"
)

type hookFunc func(ctx context.Context, r *blocktap.Request, do func() error) error

func (h hookFunc) Handle(ctx context.Context, r *blocktap.Request, do func() error) error {
	return h(ctx, r, do)
}

// shell runs a command after it has replaced %s in it by path. succeed says whether the command
// must succeed or must fail.
func shell(t *testing.T, command, path string, succeed bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	command = fmt.Sprintf(command, path)
	out, err := exec.CommandContext(ctx, "sh", "-c", command).CombinedOutput()
	if (err == nil) != succeed {
		t.Errorf("%s: %v\n%s", command, err, out)
	}
}
