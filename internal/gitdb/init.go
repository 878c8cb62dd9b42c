package gitdb

import (
	"fmt"
	"os"
	"path/filepath"
)

// Init makes an empty bare repository at a path that does not exist yet.
func Init(dir string) error {
	if _, err := os.Lstat(dir); err == nil {
		return fmt.Errorf("create repository %s: something is there already", dir)
	}
	for _, d := range []string{"objects/info", "objects/pack", "refs/heads", "refs/tags"} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.FromSlash(d)), 0o755); err != nil {
			return fmt.Errorf("create repository: %w", err)
		}
	}
	for name, content := range map[string]string{
		"HEAD":   "ref: refs/heads/main\n",
		"config": "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = true\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			return fmt.Errorf("create repository: %w", err)
		}
	}
	return nil
}
