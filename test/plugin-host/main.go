// Command plugin-host starts a secrets plugin with go-plugin and Vault's SDK as a server does, and obeys JSON lines:
// each line of standard input is one order, each line of standard output its outcome. Orders run at once; outcomes come in any order.
package main

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/vault/sdk/helper/consts"
	"github.com/hashicorp/vault/sdk/helper/pluginutil"
	"github.com/hashicorp/vault/sdk/logical"
)

type order struct {
	ID    int64  `json:"id"`
	Do    string `json:"do"`
	Mount string `json:"mount"`
	// start
	Command string   `json:"command"`
	Args    []string `json:"args"`
	Env     []string `json:"env"`
	Sha256  []byte   `json:"sha256"`
	// request
	Operation    string         `json:"operation"`
	Path         string         `json:"path"`
	Data         map[string]any `json:"data"`
	InternalData map[string]any `json:"internal_data"`
	// storage
	ReadOnly bool   `json:"read_only"`
	Key      string `json:"key"`
	Value    string `json:"value"`
	// call
	Method  string   `json:"method"`
	Bytes   []byte   `json:"bytes"`
	Mounts  []string `json:"multiplex_ids"`
	Repeats int      `json:"repeats"`
	// load
	Clients int     `json:"clients"`
	Seconds float64 `json:"seconds"`
	// timeout of a request, in milliseconds; 0 for none
	TimeoutMs int `json:"timeout_ms"`
}

type host struct {
	mu      sync.Mutex
	catalog *catalog
	mounts  map[string]*mount
}

func (h *host) mounted(path string) (*mount, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if found := h.mounts[path]; found != nil {
		return found, nil
	}
	return nil, fmt.Errorf("nothing is mounted at %q", path)
}

func (h *host) obey(o *order) (any, error) {
	ctx := context.Background()
	if o.TimeoutMs > 0 {
		limited, cancel := context.WithTimeout(ctx, time.Duration(o.TimeoutMs)*time.Millisecond)
		defer cancel()
		ctx = limited
	}
	switch o.Do {
	case "start":
		logger := hclog.New(&hclog.LoggerOptions{Level: hclog.Debug, Output: os.Stderr, JSONFormat: true, Name: "host"})
		h.catalog = newCatalog(&pluginutil.PluginRunner{Name: pluginName, Type: consts.PluginTypeSecrets, Command: o.Command, Args: o.Args, Env: o.Env, Sha256: o.Sha256}, logger)
		return nil, nil
	case "mount":
		m, err := newMount(h.catalog, o.Mount)
		if err != nil {
			return nil, err
		}
		h.mu.Lock()
		h.mounts[o.Mount] = m
		h.mu.Unlock()
		versioned, _ := m.backend.(logical.PluginVersioner)
		return map[string]any{"type": m.backend.Type().String(), "special_paths": m.backend.SpecialPaths(), "version": versioned.PluginVersion().Version, "pid": h.catalog.pid()}, nil
	case "pid":
		return h.catalog.pid(), nil
	}
	m, err := h.mounted(o.Mount)
	if err != nil {
		return nil, err
	}
	switch o.Do {
	case "request":
		return m.request(ctx, o)
	case "reload":
		return nil, m.reload(ctx)
	case "unmount":
		m.close(ctx)
		return nil, nil
	case "invalidate":
		return nil, m.with(ctx, func(b logical.Backend) error { b.InvalidateKey(ctx, o.Key); return nil })
	case "read only":
		m.storage.readOnly.Store(o.ReadOnly)
		return nil, nil
	case "put":
		return nil, m.storage.Put(ctx, &logical.StorageEntry{Key: o.Key, Value: []byte(o.Value)})
	case "get":
		entry, err := m.storage.InmemStorage.Get(ctx, o.Key)
		if err != nil || entry == nil {
			return nil, err
		}
		return string(entry.Value), nil
	case "storage calls":
		return map[string]any{"calls": m.storage.calls.Load(), "seal_wrapped": m.storage.wrapped.Load()}, nil
	case "call":
		return h.call(ctx, o)
	case "load":
		return m.load(o)
	}
	return nil, fmt.Errorf("unknown order %q", o.Do)
}

// request answers with what a server would have of it.
func (m *mount) request(ctx context.Context, o *order) (any, error) {
	request := &logical.Request{
		ID: "7c1f3a52-0f6e-4d0c-9a3e-0a6f1d2b3c4d", Operation: logical.Operation(o.Operation), Path: o.Path, Data: o.Data,
		ClientToken: "hvs.salted", DisplayName: "token-test", Connection: &logical.Connection{RemoteAddr: "127.0.0.1", RemotePort: 4321},
		Headers: map[string][]string{"X-Vault-Request": {"true"}},
	}
	if o.InternalData != nil {
		request.Secret = &logical.Secret{LeaseOptions: logical.LeaseOptions{TTL: time.Hour, IssueTime: time.Now()}, InternalData: o.InternalData, LeaseID: m.path + "token/abc"}
	}
	response, err := m.handle(ctx, request)
	outcome := map[string]any{"operation": request.Operation}
	var coded logical.HTTPCodedError
	switch {
	case errors.As(err, &coded):
		outcome["error"] = map[string]any{"message": err.Error(), "status": coded.Code()}
	case errors.Is(err, logical.ErrUnsupportedOperation):
		outcome["error"] = map[string]any{"message": err.Error(), "status": 405}
	case errors.Is(err, logical.ErrUnsupportedPath):
		outcome["error"] = map[string]any{"message": err.Error(), "status": 404}
	case err != nil:
		outcome["error"] = map[string]any{"message": err.Error(), "status": 500}
	case response != nil:
		answer := map[string]any{"data": response.Data, "warnings": response.Warnings, "is_error": response.IsError()}
		if body, ok := response.Data[logical.HTTPRawBody]; ok {
			bytes, isBytes := body.([]byte)
			if text, isText := body.(string); isText {
				// As a server decodes what came through JSON.
				decoded, err := base64.StdEncoding.DecodeString(text)
				bytes, isBytes = decoded, err == nil
			}
			answer["raw"] = map[string]any{"body": string(bytes), "is_bytes": isBytes}
		}
		if secret := response.Secret; secret != nil {
			answer["secret"] = map[string]any{"ttl_seconds": secret.TTL.Seconds(), "renewable": secret.Renewable, "internal_data": secret.InternalData, "issue_time_is_zero": secret.IssueTime.IsZero()}
		}
		outcome["response"] = answer
	}
	return outcome, nil
}

func main() {
	h := &host{mounts: map[string]*mount{}}
	lines := bufio.NewReaderSize(os.Stdin, 1<<20)
	decoder := json.NewDecoder(lines)
	decoder.UseNumber()
	encoder := json.NewEncoder(os.Stdout)
	var writing sync.Mutex
	for {
		o := &order{}
		if err := decoder.Decode(o); err != nil {
			break
		}
		go func() {
			result, err := h.obey(o)
			outcome := map[string]any{"id": o.ID, "result": result}
			if err != nil {
				outcome["failed"] = err.Error()
			}
			writing.Lock()
			defer writing.Unlock()
			if err := encoder.Encode(outcome); err != nil {
				fmt.Fprintln(os.Stderr, "cannot answer:", err)
			}
		}()
	}
	// The end of the input ends the host, and with it the plugin.
	for _, m := range h.mounts {
		m.close(context.Background())
	}
}
