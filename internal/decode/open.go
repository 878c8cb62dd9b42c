package decode

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"perfband/internal/limits"
)

// readFile reads a whole file of at most limits.DecodeBytes.
func readFile(fsys fs.FS, name string) ([]byte, error) {
	info, err := fs.Lstat(fsys, name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("not a regular file; links are not followed")
	}
	// A file system that cannot tell a size without reading the file, as that of
	// an archived entry, has the whole of it in memory then: it must not be copied.
	_, tellsSize := fsys.(fs.StatFS)
	if whole, ok := fsys.(fs.ReadFileFS); ok && !tellsSize {
		data, err := whole.ReadFile(name)
		if len(data) > limits.DecodeBytes {
			return nil, tooLarge()
		}
		return data, err
	}
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info.Size() > limits.DecodeBytes {
		return nil, tooLarge()
	}
	data := make([]byte, 0, info.Size()+1)
	for {
		n, err := f.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		switch {
		case err == io.EOF:
			return data, nil
		case err != nil:
			return nil, err
		case len(data) > limits.DecodeBytes:
			return nil, tooLarge()
		case len(data) == cap(data):
			data = append(data, 0)[:len(data)]
		}
	}
}

func tooLarge() error {
	return fmt.Errorf("larger than the limit of %d MiB unpacked; split the report", limits.DecodeBytes>>20)
}

// unpack undoes what may lie around a report: gzip, a byte order mark, UTF-16.
// It returns the name without ".gz".
func unpack(name string, data []byte) (string, []byte, error) {
	if isGzip(data) || strings.HasSuffix(name, ".gz") {
		unpacked, err := gunzip(data)
		if err != nil {
			return name, nil, err
		}
		if isGzip(unpacked) {
			return name, nil, errors.New("gzip inside gzip is not read; pack the report once")
		}
		name, data = strings.TrimSuffix(name, ".gz"), unpacked
	}
	switch {
	case bytes.HasPrefix(data, []byte{0xEF, 0xBB, 0xBF}):
		data = data[3:]
	case bytes.HasPrefix(data, []byte{0xFF, 0xFE}):
		return decodeUTF16(name, data[2:], binary.LittleEndian)
	case bytes.HasPrefix(data, []byte{0xFE, 0xFF}):
		return decodeUTF16(name, data[2:], binary.BigEndian)
	}
	return name, data, nil
}

func isGzip(data []byte) bool { return bytes.HasPrefix(data, []byte{0x1F, 0x8B}) }

// gunzip unpacks twice, first only to count, so that a bomb is refused without
// holding its content and a good file is allocated exactly.
func gunzip(data []byte) ([]byte, error) {
	size, err := gunzipTo(io.Discard, data)
	if err != nil {
		return nil, err
	}
	out := bytes.NewBuffer(make([]byte, 0, size))
	if _, err := gunzipTo(out, data); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

func gunzipTo(w io.Writer, data []byte) (int64, error) {
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return 0, fmt.Errorf("read gzip: %w", err)
	}
	n, err := io.Copy(w, io.LimitReader(r, limits.DecodeBytes+1))
	switch {
	case n > limits.DecodeBytes:
		return 0, tooLarge()
	case errors.Is(err, io.ErrUnexpectedEOF):
		return 0, fmt.Errorf("gzip data is truncated after %d unpacked bytes", n)
	case err != nil:
		return 0, fmt.Errorf("read gzip: %w", err)
	}
	return n, nil
}

func decodeUTF16(name string, data []byte, order binary.ByteOrder) (string, []byte, error) {
	if len(data)%2 != 0 {
		return name, nil, errors.New("UTF-16 text has an odd number of bytes")
	}
	out := make([]byte, 0, len(data)/2+len(data)/8)
	for i := 0; i < len(data); i += 2 {
		r := rune(order.Uint16(data[i:]))
		if utf16.IsSurrogate(r) {
			full := utf8.RuneError
			if i+4 <= len(data) {
				full = utf16.DecodeRune(r, rune(order.Uint16(data[i+2:])))
			}
			if full == utf8.RuneError {
				return name, nil, fmt.Errorf("UTF-16 text has a lone surrogate at byte %d", i+2)
			}
			r = full
			i += 2
		}
		out = utf8.AppendRune(out, r)
	}
	return name, out, nil
}
