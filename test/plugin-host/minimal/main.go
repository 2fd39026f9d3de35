// Command minimal-plugin is the least that a plugin for GitHub tokens can be, written in Go with Vault's SDK: it signs a JWT with RS256
// for each request, as such plugins do, asks the platform for a token and leases it. The bench compares Steward's plugin with it.
package main

import (
	"bytes"
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/hashicorp/vault/sdk/framework"
	"github.com/hashicorp/vault/sdk/logical"
	"github.com/hashicorp/vault/sdk/plugin"
)

const secretType = "github_token"

type config struct {
	AppID   int    `json:"app_id"`
	Key     string `json:"prv_key"`
	BaseURL string `json:"base_url"`
}

type backend struct {
	*framework.Backend
	client *http.Client
	mu     sync.RWMutex
	loaded *config
	key    *rsa.PrivateKey
}

func factory(ctx context.Context, conf *logical.BackendConfig) (logical.Backend, error) {
	b := &backend{client: &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 100}}}
	never := func(context.Context, *logical.Request, *framework.FieldData) (bool, error) { return false, nil }
	b.Backend = &framework.Backend{
		BackendType: logical.TypeLogical,
		Paths: []*framework.Path{
			{
				Pattern:        "config",
				ExistenceCheck: never,
				Fields:         map[string]*framework.FieldSchema{"app_id": {Type: framework.TypeInt}, "prv_key": {Type: framework.TypeString}, "base_url": {Type: framework.TypeString}},
				Operations:     map[logical.Operation]framework.OperationHandler{logical.CreateOperation: &framework.PathOperation{Callback: b.configure}, logical.UpdateOperation: &framework.PathOperation{Callback: b.configure}},
			},
			{
				Pattern:        "token",
				ExistenceCheck: never,
				Fields:         map[string]*framework.FieldSchema{"installation_id": {Type: framework.TypeInt}},
				Operations:     map[logical.Operation]framework.OperationHandler{logical.CreateOperation: &framework.PathOperation{Callback: b.mint}, logical.UpdateOperation: &framework.PathOperation{Callback: b.mint}},
			},
		},
		Secrets: []*framework.Secret{{Type: secretType, Fields: map[string]*framework.FieldSchema{"token": {Type: framework.TypeString}}, Revoke: b.revoke}},
	}
	return b, b.Setup(ctx, conf)
}

func (b *backend) configure(ctx context.Context, request *logical.Request, data *framework.FieldData) (*logical.Response, error) {
	entry, err := logical.StorageEntryJSON("config", config{data.Get("app_id").(int), data.Get("prv_key").(string), data.Get("base_url").(string)})
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	b.loaded = nil
	b.mu.Unlock()
	return nil, request.Storage.Put(ctx, entry)
}

func (b *backend) settings(ctx context.Context, storage logical.Storage) (*config, *rsa.PrivateKey, error) {
	b.mu.RLock()
	loaded, key := b.loaded, b.key
	b.mu.RUnlock()
	if loaded != nil {
		return loaded, key, nil
	}
	entry, err := storage.Get(ctx, "config")
	if err != nil || entry == nil {
		return nil, nil, errors.Join(errors.New("not configured"), err)
	}
	loaded = &config{}
	if err := entry.DecodeJSON(loaded); err != nil {
		return nil, nil, err
	}
	block, _ := pem.Decode([]byte(loaded.Key))
	if block == nil {
		return nil, nil, errors.New("no PEM")
	}
	key, err = x509.ParsePKCS1PrivateKey(block.Bytes)
	if err != nil {
		return nil, nil, err
	}
	b.mu.Lock()
	b.loaded, b.key = loaded, key
	b.mu.Unlock()
	return loaded, key, nil
}

func sign(appID int, key *rsa.PrivateKey) (string, error) {
	now := time.Now().Add(-30 * time.Second).Unix()
	claims := fmt.Sprintf(`{"iss":"%d","iat":%d,"exp":%d}`, appID, now, now+120)
	text := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"RS256","typ":"JWT"}`)) + "." + base64.RawURLEncoding.EncodeToString([]byte(claims))
	digest := sha256.Sum256([]byte(text))
	signature, err := rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, digest[:])
	return text + "." + base64.RawURLEncoding.EncodeToString(signature), err
}

func (b *backend) call(ctx context.Context, method, url, credential string, body []byte) (map[string]any, error) {
	request, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+credential)
	request.Header.Set("Accept", "application/vnd.github.v3+json")
	request.Header.Set("User-Agent", "minimal-plugin")
	response, err := b.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	if response.StatusCode/100 != 2 {
		return nil, fmt.Errorf("%s: %s", response.Status, text)
	}
	if len(text) == 0 {
		return nil, nil
	}
	var answer map[string]any
	return answer, json.Unmarshal(text, &answer)
}

func (b *backend) mint(ctx context.Context, request *logical.Request, data *framework.FieldData) (*logical.Response, error) {
	settings, key, err := b.settings(ctx, request.Storage)
	if err != nil {
		return nil, err
	}
	credential, err := sign(settings.AppID, key)
	if err != nil {
		return nil, err
	}
	id := data.Get("installation_id").(int)
	answer, err := b.call(ctx, http.MethodPost, fmt.Sprintf("%s/app/installations/%d/access_tokens", settings.BaseURL, id), credential, []byte("{}"))
	if err != nil {
		return nil, err
	}
	answer["installation_id"] = id
	response := b.Secret(secretType).Response(answer, nil)
	expires, err := time.Parse(time.RFC3339, fmt.Sprint(answer["expires_at"]))
	response.Secret.TTL = time.Until(expires)
	return response, err
}

func (b *backend) revoke(ctx context.Context, request *logical.Request, data *framework.FieldData) (*logical.Response, error) {
	settings, _, err := b.settings(ctx, request.Storage)
	if err != nil {
		return nil, err
	}
	_, err = b.call(ctx, http.MethodDelete, settings.BaseURL+"/installation/token", data.Get("token").(string), nil)
	return nil, err
}

func main() {
	if err := plugin.ServeMultiplex(&plugin.ServeOpts{BackendFactoryFunc: factory}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
