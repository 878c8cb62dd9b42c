package perf

// Env describes the machine a report file was measured on. One run may span
// several: matrix jobs land on different CPU models. An unknown field is absent.
type Env struct {
	OS          string            `json:"os,omitempty"`         // "linux", or the tool's own text
	OSVersion   string            `json:"os_version,omitempty"` // distribution or build
	Kernel      string            `json:"kernel,omitempty"`
	Arch        string            `json:"arch,omitempty"`
	CPUModel    string            `json:"cpu_model,omitempty"`
	CPUCount    int               `json:"cpu_count,omitempty"`    // logical processors
	MemoryBytes int64             `json:"memory_bytes,omitempty"` // total memory
	Toolchain   map[string]string `json:"toolchain,omitempty"`    // name -> version, e.g. "go": "1.26.8"
}

// IsZero reports that nothing is known.
func (e Env) IsZero() bool {
	return e.OS == "" && e.OSVersion == "" && e.Kernel == "" && e.Arch == "" && e.CPUModel == "" &&
		e.CPUCount == 0 && e.MemoryBytes == 0 && len(e.Toolchain) == 0
}

// Or fills the fields unknown in e from o: what the result file says comes
// first, then the file beside it, then what the measuring job said.
func (e Env) Or(o Env) Env {
	pick := func(a, b string) string {
		if a != "" {
			return a
		}
		return b
	}
	e.OS, e.OSVersion = pick(e.OS, o.OS), pick(e.OSVersion, o.OSVersion)
	e.Kernel, e.Arch = pick(e.Kernel, o.Kernel), pick(e.Arch, o.Arch)
	e.CPUModel = pick(e.CPUModel, o.CPUModel)
	if e.CPUCount == 0 {
		e.CPUCount = o.CPUCount
	}
	if e.MemoryBytes == 0 {
		e.MemoryBytes = o.MemoryBytes
	}
	if len(o.Toolchain) > 0 {
		merged := make(map[string]string, len(e.Toolchain)+len(o.Toolchain))
		for k, v := range o.Toolchain {
			merged[k] = v
		}
		for k, v := range e.Toolchain {
			merged[k] = v
		}
		e.Toolchain = merged
	}
	return e
}

// Runner describes the GitHub runner of the measuring job.
type Runner struct {
	Name         string `json:"name,omitempty"`
	Label        string `json:"label,omitempty"`
	Image        string `json:"image,omitempty"`
	ImageVersion string `json:"image_version,omitempty"`
	Hosted       *bool  `json:"hosted,omitempty"` // nil: unknown
}

// EnvFileName is the file, beside results, in which the measuring job records
// its machine. It is archived like any other raw file.
const EnvFileName = "perfband-env.json"

// EnvFile is the content of [EnvFileName].
type EnvFile struct {
	Schema  int      `json:"schema"`
	Kind    string   `json:"kind"` // "env"
	Env     Env      `json:"env"`
	Runner  Runner   `json:"runner,omitzero"`
	Unknown []string `json:"unknown,omitempty"`
}
