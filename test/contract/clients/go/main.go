// What a Go program does with the secrets manager, from enabling the engine to unmounting it, by Vault's own client alone.
//
// VAULT_ADDR and VAULT_TOKEN (root) say where; CODE_HOST and APP_KEY what the engine mints at. Each part prints its name when
// it held; the first thing that does not hold ends the program with what was found.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/hashicorp/vault/api"
)

const (
	mount = "team/apps"
	rules = `path "team/apps/token/ci" { capabilities = ["create", "read"] }`
)

type data = map[string]any

// as is a client of its own, with a token of its own.
func as(token string) *api.Client {
	client := must(api.NewClient(api.DefaultConfig()))
	client.SetToken(token)
	return client
}

func state(root *api.Client) {
	same(must(root.Sys().InitStatus()), true)
	health := must(root.Sys().Health())
	same([]bool{health.Initialized, health.Sealed, health.Standby}, []bool{true, false, false})
	contains(health.Version, "+steward.")
	same(must(root.Sys().SealStatus()).Sealed, false)
	same(must(root.Sys().Leader()).HAEnabled, false)
	before := must(root.Sys().KeyStatus())
	done(root.Sys().Rotate())
	after := must(root.Sys().KeyStatus())
	same(after.Term, before.Term+1)
	same(after.InstallTime.Before(before.InstallTime), false)
	_, err := root.Sys().Init(&api.InitRequest{SecretShares: 1, SecretThreshold: 1})
	refused(err, 400, "Vault is already initialized")
}

func mounts(root *api.Client) {
	done(root.Sys().Mount(mount, &api.MountInput{Type: "github", Description: "ours", Config: api.MountConfigInput{DefaultLeaseTTL: "1h", MaxLeaseTTL: "2h"}}))
	refused(root.Sys().Mount(mount, &api.MountInput{Type: "github"}), 400, "path is already in use at team/apps/")
	refused(root.Sys().Mount("elsewhere", &api.MountInput{Type: "nope"}), 400, "plugin not found in the catalog: nope")
	listed := must(root.Sys().ListMounts())[mount+"/"]
	same([]any{listed.Type, listed.Description, listed.Config.DefaultLeaseTTL, listed.Config.MaxLeaseTTL}, []any{"github", "ours", 3600, 7200})
	same(must(root.Sys().GetMount(mount)).Accessor, listed.Accessor)
	// Texts that are left out arrive as empty ones, and change nothing.
	description := "tuned"
	done(root.Sys().TuneMount(mount, api.MountConfigInput{Description: &description}))
	tuned := must(root.Sys().MountConfig(mount))
	same([]any{tuned.DefaultLeaseTTL, tuned.MaxLeaseTTL}, []any{3600, 7200})
	same(must(root.Sys().ListMounts())[mount+"/"].Description, "tuned")
	done(root.Sys().TuneMount(mount, api.MountConfigInput{DefaultLeaseTTL: "30m", MaxLeaseTTL: "system"}))
	same(must(root.Sys().MountConfig(mount)).DefaultLeaseTTL, 1800)
	same(must(root.Sys().MountConfig(mount)).MaxLeaseTTL, 2764800)
	same(must(root.Sys().ListAuth())["token/"].Type, "token")
	plugins := must(root.Sys().ListPlugins(&api.ListPluginsInput{Type: api.PluginTypeSecrets}))
	same(plugins.PluginsByType[api.PluginTypeSecrets], []string{"github"})
}

func config(root *api.Client) {
	logical := root.Logical()
	_, err := logical.Write(mount+"/config", data{"app_id": 7})
	refused(err, 400, "prv_key")
	must(logical.Write(mount+"/config", data{"app_id": 7, "prv_key": os.Getenv("APP_KEY"), "base_url": os.Getenv("CODE_HOST")}))
	read := must(logical.Read(mount + "/config")).Data
	same(read["app_id"], "7")
	same([]any{read["prv_key"], read["base_url"], read["exclude_repository_metadata"], len(read)}, []any{"<configured>", os.Getenv("CODE_HOST"), false, 4})
	contains(must(root.Help(mount+"/config")).Help, "app_id")
}

func permissionSets(root *api.Client) {
	logical := root.Logical()
	same(must(logical.List(mount+"/permissionsets")), (*api.Secret)(nil))
	same(must(logical.Read(mount+"/permissionset/ci")), (*api.Secret)(nil))
	must(logical.Write(mount+"/permissionset/ci", data{"installation_id": 1001, "permissions": data{"contents": "read"}}))
	must(logical.Write(mount+"/permissionset/docs", data{"org_name": "other-org"}))
	same(texts(must(logical.List(mount + "/permissionsets")).Data["keys"]), []string{"ci", "docs"})
	must(logical.Delete(mount + "/permissionset/docs"))
	same(texts(must(logical.List(mount + "/permissionsets")).Data["keys"]), []string{"ci"})
	read := must(logical.Read(mount + "/permissionset/ci")).Data
	same(read["installation_id"], "1001")
	same(read["permissions"], data{"contents": "read"})
}

func minting(root *api.Client) {
	logical := root.Logical()
	for _, minted := range []*api.Secret{
		must(logical.ReadWithData(mount+"/token", map[string][]string{"org_name": {"Example-Org"}, "repositories": {"web", "api"}})),
		must(logical.Write(mount+"/token", data{"installation_id": "1001", "permissions": "contents=read"})),
		must(logical.Read(mount + "/token/ci")), must(logical.Write(mount+"/token/ci", nil)),
	} {
		same(minted.Data["installation_id"], "1001")
		contains(minted.LeaseID, mount+"/token")
		contains(minted.Data["token"].(string), "ghs_")
		same([]any{minted.Renewable, minted.LeaseDuration > 3590 && minted.LeaseDuration <= 3600}, []any{false, true})
	}
	_, err := logical.Write(mount+"/token", data{})
	refused(err, 400, "installation_id or org_name is a required parameter")
	_, err = logical.Write(mount+"/token", data{"nope": 1})
	refused(err, 400, "unknown field: nope")
	_, err = logical.Write(mount+"/token/none", nil)
	refused(err, 400, "permission set 'none' does not exist")
}

func leases(root *api.Client) {
	sys := root.Sys()
	lease := must(root.Logical().Write(mount+"/token/ci", nil)).LeaseID
	same(must(sys.Lookup(lease)).Data["id"], lease)
	_, err := sys.Renew(lease, 60)
	refused(err, 400, "lease is not renewable")
	_, err = sys.Renew("no/such/lease", 60)
	refused(err, 400, "lease not found")
	done(sys.Revoke(lease))
	_, err = sys.Lookup(lease)
	refused(err, 400, "invalid lease")
	contains(fmt.Sprint(must(root.Logical().List("sys/leases/lookup/" + mount + "/token")).Data["keys"]), "ci/")
	done(sys.RevokePrefix(mount + "/token/ci"))
	done(sys.RevokeForce(mount + "/token"))
	done(sys.RevokeWithOptions(&api.RevokeOptions{LeaseID: mount + "/token", Prefix: true, Sync: true}))
	same(must(root.Logical().List("sys/leases/lookup/"+mount)), (*api.Secret)(nil))
}

func policies(root *api.Client) {
	sys := root.Sys()
	done(sys.PutPolicy("ci", rules))
	same(must(sys.GetPolicy("ci")), rules)
	same(must(sys.ListPolicies()), []string{"ci", "default", "root"})
	refused(sys.PutPolicy("bad", `path "x" { capabilities = ["fly"] }`), 400, "fly")
	refused(sys.PutPolicy("root", rules), 400, `cannot update "root" policy`)
	done(sys.PutPolicy("short", rules))
	done(sys.DeletePolicy("short"))
	same(must(sys.GetPolicy("short")), "")
}

func tokens(root *api.Client) {
	auth := root.Auth().Token()
	renewable := true
	made := must(auth.Create(&api.TokenCreateRequest{Policies: []string{"ci"}, TTL: "1h", DisplayName: "build", Metadata: map[string]string{"team": "web"}, Renewable: &renewable})).Auth
	same([]any{made.Policies, made.LeaseDuration, made.Renewable, made.Orphan, made.Metadata}, []any{[]string{"ci", "default"}, 3600, true, false, map[string]string{"team": "web"}})
	ci := as(made.ClientToken)
	self := must(ci.Auth().Token().LookupSelf())
	same(must(self.TokenID()), made.ClientToken)
	same(must(self.TokenTTL()) <= time.Hour, true)
	same(must(self.TokenIsRenewable()), true)
	same(must(auth.LookupAccessor(made.Accessor)).Data["display_name"], "token-build")
	same(must(auth.Renew(made.ClientToken, 1800)).Auth.LeaseDuration, 1800)
	same(must(auth.RenewAccessor(made.Accessor, 0)).Auth.ClientToken, "")
	same(must(ci.Logical().Write(mount+"/token/ci", nil)).Data["installation_id"], "1001")
	same(must(ci.Logical().Read(mount + "/token/ci")).Data["installation_id"], "1001")
	_, err := ci.Logical().Write(mount+"/token", data{"installation_id": 1001})
	refused(err, 403, "permission denied")
	_, err = ci.Sys().ListMounts()
	refused(err, 403, "permission denied")
	same(must(ci.Sys().CapabilitiesSelf(mount+"/token/ci")), []string{"create", "read"})
	same(must(root.Sys().Capabilities(made.ClientToken, "sys/mounts")), []string{"deny"})
	done(auth.RevokeTree(made.ClientToken))
	_, err = ci.Auth().Token().LookupSelf()
	refused(err, 403, "permission denied")
	_, err = auth.Lookup(made.ClientToken)
	refused(err, 403, "bad token")

	orphan := must(auth.CreateOrphan(&api.TokenCreateRequest{Policies: []string{"ci"}, NumUses: 1})).Auth
	same(orphan.Orphan, true)
	must(as(orphan.ClientToken).Auth().Token().LookupSelf())
	_, err = as(orphan.ClientToken).Auth().Token().LookupSelf()
	refused(err, 403, "permission denied")
	batch := must(auth.Create(&api.TokenCreateRequest{Policies: []string{"ci"}, Type: "batch", TTL: "5m"})).Auth
	same(must(must(as(batch.ClientToken).Auth().Token().LookupSelf()).TokenIsRenewable()), false)
	same(must(as(batch.ClientToken).Logical().Read(mount+"/token/ci")).Renewable, false)
}

// watcher lets the client keep a token alive, as agents do, until the token is taken away.
func watcher(root *api.Client) {
	secret := must(root.Auth().Token().Create(&api.TokenCreateRequest{Policies: []string{"ci"}, Period: "6s"}))
	mine := as(secret.Auth.ClientToken)
	watch := must(mine.NewLifetimeWatcher(&api.LifetimeWatcherInput{Secret: secret}))
	go watch.Start()
	defer watch.Stop()
	for range 2 {
		select {
		case renewal := <-watch.RenewCh():
			same([]any{renewal.Secret.Auth.ClientToken, renewal.Secret.Auth.LeaseDuration}, []any{secret.Auth.ClientToken, 6})
		case err := <-watch.DoneCh():
			panic(fmt.Sprint("ended without a renewal: ", err))
		case <-time.After(20 * time.Second):
			panic("no renewal")
		}
	}
	done(root.Auth().Token().RevokeAccessor(secret.Auth.Accessor))
	for {
		select {
		case <-watch.RenewCh():
		case <-watch.DoneCh():
			return
		case <-time.After(20 * time.Second):
			panic("watching a dead token")
		}
	}
}

func approle(root *api.Client) {
	logical := root.Logical()
	done(root.Sys().EnableAuthWithOptions("machines", &api.EnableAuthOptions{Type: "approle", Description: "ours"}))
	same(must(root.Sys().ListAuth())["machines/"].Type, "approle")
	must(logical.Write("auth/machines/role/web", data{"token_policies": "ci", "token_ttl": "20m", "token_num_uses": 3}))
	same(texts(must(logical.List("auth/machines/role")).Data["keys"]), []string{"web"})
	login := data{"role_id": must(logical.Read("auth/machines/role/web/role-id")).Data["role_id"], "secret_id": must(logical.Write("auth/machines/role/web/secret-id", nil)).Data["secret_id"]}
	auth := must(as("").Logical().Write("auth/machines/login", login)).Auth
	same([]any{auth.Policies, auth.Metadata["role_name"], auth.Orphan, auth.LeaseDuration}, []any{[]string{"ci", "default"}, "web", true, 1200})
	same(must(as(auth.ClientToken).Logical().Read(mount+"/token/ci")).Renewable, false)
	_, err := as("").Logical().Write("auth/machines/login", data{"role_id": login["role_id"], "secret_id": "wrong"})
	refused(err, 400, "invalid role or secret ID")
	done(root.Sys().DisableAuth("machines"))
	_, err = as(auth.ClientToken).Auth().Token().LookupSelf()
	refused(err, 403, "permission denied")
}

func wrapping(root *api.Client) {
	asking := as(root.Token())
	asking.SetWrappingLookupFunc(func(operation, path string) string { return "60s" })
	wrapped := must(asking.Logical().Write(mount+"/token/ci", nil)).WrapInfo
	same([]any{wrapped.TTL, wrapped.CreationPath}, []any{60, mount + "/token/ci"})
	inside := must(as("").Logical().Unwrap(wrapped.Token))
	same(inside.Data["installation_id"], "1001")
	same(must(root.Sys().Lookup(inside.LeaseID)).Data["id"], inside.LeaseID)
	_, err := root.Logical().Unwrap(wrapped.Token)
	refused(err, 400, "wrapping token is not valid or does not exist")
}

func house(root *api.Client) {
	sys := root.Sys()
	devices := must(sys.ListAudit())
	same(len(devices), 1)
	for path := range devices {
		contains(must(sys.AuditHash(path, "x")), "hmac-sha256:")
	}
	same(must(sys.CORSStatus()).Enabled, false)
	done(sys.ConfigureCORS(&api.CORSRequest{AllowedOrigins: []string{"https://pages.example.org"}, Enabled: true}))
	same(must(sys.CORSStatus()).AllowedOrigins, []string{"https://pages.example.org"})
	done(sys.DisableCORS())
	same(must(sys.CORSStatus()).Enabled, false)
	elsewhere := as(root.Token())
	elsewhere.SetNamespace("elsewhere")
	_, err := elsewhere.Sys().ListMounts()
	refused(err, 404, "namespace not found")
	_, err = root.Logical().WriteWithContext(context.Background(), "nowhere/x", nil)
	refused(err, 404, "no handler for route")
	// A caller that goes away is not a failure of the daemon.
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = root.Logical().ReadWithContext(gone, mount+"/config")
	same(errors.Is(err, context.Canceled), true)
}

func goodbye(root *api.Client) {
	lease := must(root.Logical().Write(mount+"/token/ci", nil)).LeaseID
	done(root.Sys().Unmount(mount))
	same(must(root.Sys().ListMounts())[mount+"/"], (*api.MountOutput)(nil))
	_, err := root.Sys().Lookup(lease)
	refused(err, 400, "invalid lease")
}

func main() {
	root := as(os.Getenv("VAULT_TOKEN"))
	if sharesAlone() {
		shares(root)
		fmt.Println("held: shares")
		return
	}
	parts := []struct {
		name string
		live func(*api.Client)
	}{
		{"state", state}, {"mounts", mounts}, {"config", config}, {"permission sets", permissionSets}, {"minting", minting}, {"leases", leases}, {"policies", policies},
		{"tokens", tokens}, {"watcher", watcher}, {"approle", approle}, {"wrapping", wrapping}, {"house", house}, {"goodbye", goodbye},
	}
	for _, part := range parts {
		part.live(root)
		fmt.Println("held:", part.name)
	}
}
