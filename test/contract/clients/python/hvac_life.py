"""What a Python user does with the secrets manager, from enabling the engine to unmounting it, by hvac alone.

VAULT_ADDR and VAULT_TOKEN (root) say where; CODE_HOST and APP_KEY what the engine mints at. Each part prints its name when it
held; the first thing that does not hold ends the program with its traceback.
"""
import os
import sys
import warnings

import hvac
from hvac import exceptions

MOUNT = "team/apps"
CONFIG = {"app_id": 7, "prv_key": os.environ["APP_KEY"], "base_url": os.environ["CODE_HOST"]}
RULES = f"""
path "{MOUNT}/token/ci" {{ capabilities = ["create", "read"] }}
path "{MOUNT}/permissionsets" {{ capabilities = ["list"] }}
"""
warnings.simplefilter("ignore", DeprecationWarning)


def same(found, wanted):
    assert found == wanted, f"{found!r} instead of {wanted!r}"


def refused(kind, call, text=""):
    """The error of exactly this class, with this text in it."""
    try:
        answer = call()
    except exceptions.VaultError as error:
        assert type(error) is kind, f"{type(error).__name__} instead of {kind.__name__}: {error}"
        assert text in str(error), f"{str(error)!r} lacks {text!r}"
        return error
    raise AssertionError(f"{kind.__name__} expected, got {answer!r}")


def as_token(token):
    return hvac.Client(token=token)


def state(root):
    same(root.is_authenticated(), True)
    same(as_token("hvs.wrong").is_authenticated(), False)
    same((root.sys.is_initialized(), root.sys.is_sealed()), (True, False))
    health = root.sys.read_health_status(method="GET")
    same((health["initialized"], health["sealed"], health["standby"]), (True, False, False))
    same(root.sys.read_health_status(method="HEAD").status_code, 200)
    same(root.sys.read_health_status(method="GET", active_code=299).status_code, 299)
    same(root.sys.read_seal_status()["sealed"], False)
    same(root.sys.read_leader_status()["ha_enabled"], False)
    same(root.lookup_token()["data"]["policies"], ["root"])
    term = root.sys.get_encryption_key_status()["data"]["term"]
    same(root.sys.rotate_encryption_key().status_code, 204)
    status = root.sys.get_encryption_key_status()["data"]
    same((status["term"], sorted(status)), (term + 1, ["encryptions", "install_time", "term"]))


def mounts(root):
    root.sys.enable_secrets_engine("github", path=MOUNT, description="ours", config={"default_lease_ttl": "1h", "max_lease_ttl": "2h"})
    refused(exceptions.InvalidRequest, lambda: root.sys.enable_secrets_engine("github", path=MOUNT), "path is already in use at team/apps/")
    refused(exceptions.InvalidRequest, lambda: root.sys.enable_secrets_engine("nope"), "plugin not found in the catalog: nope")
    listed = root.sys.list_mounted_secrets_engines()
    mount = listed["data"][f"{MOUNT}/"]
    same((mount["type"], mount["description"], mount["config"]["default_lease_ttl"], mount["config"]["max_lease_ttl"]), ("github", "ours", 3600, 7200))
    same(listed[f"{MOUNT}/"], mount)
    same({"sys/", "cubbyhole/"} <= set(listed["data"]), True)
    root.sys.tune_mount_configuration(MOUNT, default_lease_ttl="30m", description="tuned")
    tuned = root.sys.read_mount_configuration(MOUNT)["data"]
    same((tuned["default_lease_ttl"], tuned["max_lease_ttl"], tuned["description"]), (1800, 7200, "tuned"))
    methods = root.sys.list_auth_methods()
    same(methods["data"]["token/"]["type"], "token")
    same(methods["token/"], methods["data"]["token/"])


def config(root):
    refused(exceptions.InvalidRequest, lambda: root.write(f"{MOUNT}/config", app_id=7), "prv_key")
    same(root.write_data(f"{MOUNT}/config", data=CONFIG).status_code, 204)
    read = root.read(f"{MOUNT}/config")
    same(read["data"], {"app_id": 7, "base_url": CONFIG["base_url"], "exclude_repository_metadata": False, "prv_key": "<configured>"})
    same((read["lease_id"], read["renewable"], read["lease_duration"], read["wrap_info"], read["warnings"], read["auth"]), ("", False, 0, None, None, None))


def permission_sets(root):
    same(root.list(f"{MOUNT}/permissionsets"), None)
    same(root.read(f"{MOUNT}/permissionset/ci"), None)
    root.write(f"{MOUNT}/permissionset/ci", installation_id="1001", repositories="web", permissions={"contents": "read"})
    root.write(f"{MOUNT}/permissionset/issues", org_name="example-org", permissions="issues=write")
    same(root.list(f"{MOUNT}/permissionsets")["data"], {"keys": ["ci", "issues"]})
    same(root.read(f"{MOUNT}/permissionset/ci")["data"], {
        "installation_id": 1001, "org_name": "", "repositories": ["web"], "repository_ids": None, "permissions": {"contents": "read"},
    })
    root.delete(f"{MOUNT}/permissionset/issues")
    same(root.list(f"{MOUNT}/permissionsets")["data"], {"keys": ["ci"]})


def minting(root):
    for minted in (root.read(f"{MOUNT}/token?installation_id=1001"), root.write(f"{MOUNT}/token", org_name="Example-Org"), root.read(f"{MOUNT}/token/ci"), root.write(f"{MOUNT}/token/ci")):
        same(minted["data"]["installation_id"], 1001)
        same(minted["renewable"], False)
        assert minted["data"]["token"].startswith("ghs_") and minted["data"]["hashed_token"], minted["data"].keys()
        assert minted["lease_id"].startswith(f"{MOUNT}/token"), minted["lease_id"]
        assert 3590 <= minted["lease_duration"] <= 3600, minted["lease_duration"]
    refused(exceptions.InvalidRequest, lambda: root.write(f"{MOUNT}/token"), "installation_id or org_name is a required parameter")
    refused(exceptions.InvalidRequest, lambda: root.write(f"{MOUNT}/token/none"), "permission set 'none' does not exist")


def leases(root):
    lease = root.write(f"{MOUNT}/token/ci")["lease_id"]
    found = root.sys.read_lease(lease)["data"]
    same((found["id"], found["path"], found["renewable"], found["last_renewal"]), (lease, f"{MOUNT}/token/ci", False, None))
    assert 0 < found["ttl"] <= 3600, found
    same(lease.rsplit("/", 1)[1] in root.sys.list_leases(f"{MOUNT}/token/ci")["data"]["keys"], True)
    same("ci/" in root.sys.list_leases(f"{MOUNT}/token/")["data"]["keys"], True)
    refused(exceptions.InvalidRequest, lambda: root.sys.renew_lease(lease), "lease is not renewable")
    same(root.sys.revoke_lease(lease).status_code, 204)
    refused(exceptions.InvalidRequest, lambda: root.sys.read_lease(lease), "invalid lease")
    # hvac repeats the prefix in the body, which the path overrides with a word about it.
    same("[prefix]" in root.sys.revoke_prefix(f"{MOUNT}/token/ci")["warnings"][0], True)
    refused(exceptions.InvalidPath, lambda: root.sys.list_leases(f"{MOUNT}/token/ci"))
    root.write(f"{MOUNT}/token/ci")
    root.sys.revoke_force(f"{MOUNT}/token/ci")
    refused(exceptions.InvalidPath, lambda: root.sys.list_leases(f"{MOUNT}/token/ci"))


def policies(root):
    root.sys.create_or_update_policy("ci", RULES)
    root.sys.create_or_update_acl_policy("metrics", {"path": {f"{MOUNT}/metrics": {"capabilities": ["read"]}}})
    same({"ci", "metrics", "default", "root"} <= set(root.sys.list_policies()["data"]["policies"]), True)
    same("ci" in root.sys.list_acl_policies()["data"]["keys"], True)
    same(root.sys.read_policy("ci")["data"], {"name": "ci", "rules": RULES})
    same(root.sys.read_acl_policy("ci")["data"]["policy"], RULES)
    root.sys.delete_policy("metrics")
    refused(exceptions.InvalidPath, lambda: root.sys.read_policy("metrics"))
    refused(exceptions.InvalidRequest, lambda: root.sys.create_or_update_policy("bad", 'path "x" { capabilities = ["fly"] }'), "fly")
    refused(exceptions.InvalidRequest, lambda: root.sys.delete_policy("default"), "cannot delete")


def tokens(root):
    made = root.auth.token.create(policies=["ci"], ttl="1h", display_name="build", meta={"team": "web"})["auth"]
    same((made["policies"], made["lease_duration"], made["renewable"], made["token_type"], made["orphan"], made["metadata"]), (["ci", "default"], 3600, True, "service", False, {"team": "web"}))
    ci = as_token(made["client_token"])
    about = ci.auth.token.lookup_self()["data"]
    same((about["id"], about["accessor"], about["display_name"], about["policies"], about["type"]), (made["client_token"], made["accessor"], "token-build", ["ci", "default"], "service"))
    same(root.auth.token.lookup(made["client_token"])["data"]["ttl"] <= 3600, True)
    same(root.auth.token.lookup_accessor(made["accessor"])["data"]["id"], "")
    same(made["accessor"] in root.auth.token.list_accessors()["data"]["keys"], True)
    same(ci.auth.token.renew_self(increment="30m")["auth"]["client_token"], made["client_token"])
    same(root.auth.token.renew(made["client_token"])["auth"]["accessor"], made["accessor"])
    same(root.auth.token.renew_accessor(made["accessor"])["auth"]["client_token"], "")
    # What its policy says, and no more.
    same(ci.write(f"{MOUNT}/token/ci")["data"]["permissions"]["contents"], "read")
    same(ci.list(f"{MOUNT}/permissionsets")["data"]["keys"], ["ci"])
    refused(exceptions.Forbidden, lambda: ci.write(f"{MOUNT}/token", installation_id=1001), "permission denied")
    refused(exceptions.Forbidden, lambda: ci.read("sys/mounts"), "permission denied")
    refused(exceptions.Forbidden, lambda: ci.auth.token.list_accessors(), "permission denied")
    capabilities = ci.sys.get_capabilities(paths=[f"{MOUNT}/token/ci", f"{MOUNT}/config"])["data"]
    same((capabilities[f"{MOUNT}/token/ci"], capabilities[f"{MOUNT}/config"]), (["create", "read"], ["deny"]))
    same(root.sys.get_capabilities(paths=["sys/mounts"], token=made["client_token"])["data"]["sys/mounts"], ["deny"])
    same(root.sys.get_capabilities(paths=["sys/mounts"], accessor=made["accessor"])["data"]["capabilities"], ["deny"])
    same(root.sys.get_capabilities(paths=["sys/mounts"])["data"]["sys/mounts"], ["root"])
    root.auth.token.revoke(made["client_token"])
    same(ci.is_authenticated(), False)
    refused(exceptions.Forbidden, lambda: root.auth.token.lookup(made["client_token"]), "bad token")

    few = as_token(root.auth.token.create(policies=["ci"], num_uses=2)["auth"]["client_token"])
    few.auth.token.lookup_self()
    few.auth.token.lookup_self()
    refused(exceptions.Forbidden, few.auth.token.lookup_self, "permission denied")
    periodic = root.auth.token.create(policies=["ci"], period="10m")["auth"]
    same((periodic["lease_duration"], root.auth.token.lookup(periodic["client_token"])["data"]["period"]), (600, 600))
    orphan = root.auth.token.create_orphan(policies=["ci"])["auth"]
    same(root.auth.token.lookup(orphan["client_token"])["data"]["orphan"], True)
    root.auth.token.revoke_accessor(orphan["accessor"])
    same(as_token(orphan["client_token"]).is_authenticated(), False)
    batch = root.auth.token.create(policies=["ci"], type="batch", ttl="5m")["auth"]
    same((batch["token_type"], batch["accessor"], batch["renewable"]), ("batch", "", False))
    assert batch["client_token"].startswith("hvb."), "a batch token looks like one"
    same(as_token(batch["client_token"]).read(f"{MOUNT}/token/ci")["data"]["installation_id"], 1001)


def token_roles(root):
    refused(exceptions.InvalidPath, root.auth.token.list_roles)
    root.auth.token.create_or_update_role("builder", allowed_policies="ci", token_period="5m", orphan=True)
    same(root.auth.token.list_roles()["data"]["keys"], ["builder"])
    same(root.auth.token.read_role("builder")["data"]["allowed_policies"], ["ci"])
    made = root.auth.token.create(role_name="builder")["auth"]
    same((made["policies"], made["orphan"], made["lease_duration"]), (["ci", "default"], True, 300))
    root.auth.token.delete_role("builder")
    refused(exceptions.InvalidPath, lambda: root.auth.token.read_role("builder"))


def approle(root):
    root.sys.enable_auth_method("approle", description="machines")
    same(root.sys.list_auth_methods()["data"]["approle/"]["type"], "approle")
    role = root.auth.approle
    role.create_or_update_approle("web", token_policies=["ci"], token_ttl="20m", token_max_ttl="1h", secret_id_num_uses=2, secret_id_ttl="10m")
    same(role.list_roles()["data"]["keys"], ["web"])
    read = role.read_role("web")["data"]
    same((read["token_policies"], read["token_ttl"], read["token_max_ttl"], read["secret_id_num_uses"], read["bind_secret_id"]), (["ci"], 1200, 3600, 2, True))
    role_id = role.read_role_id("web")["data"]["role_id"]
    secret = role.generate_secret_id("web", metadata={"host": "builder"})["data"]
    same((secret["secret_id_num_uses"], secret["secret_id_ttl"]), (2, 600))
    same(role.read_secret_id("web", secret["secret_id"])["data"]["metadata"], {"host": "builder"})
    same(role.list_secret_id_accessors("web")["data"]["keys"], [secret["secret_id_accessor"]])

    machine = hvac.Client(token="")
    auth = machine.auth.approle.login(role_id=role_id, secret_id=secret["secret_id"])["auth"]
    same((auth["policies"], auth["metadata"]["role_name"], auth["metadata"]["host"], auth["orphan"], auth["lease_duration"]), (["ci", "default"], "web", "builder", True, 1200))
    same(machine.is_authenticated(), True)
    same(machine.write(f"{MOUNT}/token/ci")["data"]["installation_id"], 1001)
    stranger = hvac.Client(token="")
    refused(exceptions.InvalidRequest, lambda: stranger.auth.approle.login(role_id=role_id, secret_id="wrong"), "invalid role or secret ID")
    stranger.auth.approle.login(role_id=role_id, secret_id=secret["secret_id"])
    refused(exceptions.InvalidRequest, lambda: hvac.Client(token="").auth.approle.login(role_id=role_id, secret_id=secret["secret_id"]), "invalid role or secret ID")
    other = role.generate_secret_id("web")["data"]
    role.destroy_secret_id_accessor("web", other["secret_id_accessor"])
    refused(exceptions.InvalidRequest, lambda: hvac.Client(token="").auth.approle.login(role_id=role_id, secret_id=other["secret_id"]), "invalid role or secret ID")
    role.delete_role("web")
    root.sys.disable_auth_method("approle")
    same("approle/" in root.sys.list_auth_methods()["data"], False)
    same(machine.is_authenticated(), False)


def identity_tokens(root):
    issuer, good, other = os.environ["OIDC_ISSUER"], os.environ["IDENTITY_TOKEN"], os.environ["OTHER_IDENTITY_TOKEN"]
    root.sys.enable_auth_method("jwt", path="ci")
    jwt = root.auth.jwt
    jwt.configure(oidc_discovery_url=issuer, default_role="web", path="ci")
    same(jwt.read_config(path="ci")["data"]["oidc_discovery_url"], issuer)
    jwt.create_role("web", user_claim="sub", allowed_redirect_uris=[], bound_audiences=["https://steward.example.org"], bound_claims={"repository_id": "11"}, claim_mappings={"ref": "ref"}, token_policies=["ci"], token_ttl="20m", path="ci")
    same(jwt.list_roles(path="ci")["data"]["keys"], ["web"])
    read = jwt.read_role("web", path="ci")["data"]
    same((read["bound_claims"], read["token_policies"], read["token_ttl"], read["role_type"]), ({"repository_id": "11"}, ["ci"], 1200, "jwt"))
    job = hvac.Client(token="")
    auth = job.auth.jwt.jwt_login("web", good, path="ci")["auth"]
    same((auth["policies"], auth["metadata"], auth["lease_duration"]), (["ci", "default"], {"role": "web", "ref": "refs/heads/main"}, 1200))
    same(job.write(f"{MOUNT}/token/ci")["data"]["installation_id"], 1001)
    refused(exceptions.InvalidRequest, lambda: hvac.Client(token="").auth.jwt.jwt_login("web", good, path="ci"), "it has logged in before")
    refused(exceptions.InvalidRequest, lambda: hvac.Client(token="").auth.jwt.jwt_login("web", other, path="ci"), "repository_id")
    root.sys.disable_auth_method("ci")
    same(job.is_authenticated(), False)


def wrapping(root):
    wrapped = root.read(f"{MOUNT}/token/ci", wrap_ttl="60s")
    info = wrapped["wrap_info"]
    same((wrapped["data"], wrapped["lease_id"], info["ttl"], info["creation_path"]), (None, "", 60, f"{MOUNT}/token/ci"))
    about = root.write("sys/wrapping/lookup", token=info["token"])["data"]
    same((about["creation_path"], about["creation_ttl"]), (f"{MOUNT}/token/ci", 60))
    inside = root.sys.unwrap(info["token"])
    same(inside["data"]["installation_id"], 1001)
    same(root.sys.read_lease(inside["lease_id"])["data"]["id"], inside["lease_id"])
    refused(exceptions.InvalidRequest, lambda: root.sys.unwrap(info["token"]), "wrapping token is not valid or does not exist")
    ours = root.sys.wrap({"a": "b", "n": 12345678901234567890}, ttl=30)["wrap_info"]
    # Whoever holds the wrapping token needs no other.
    same(as_token(ours["token"]).sys.unwrap()["data"], {"a": "b", "n": 12345678901234567890})
    made = root._adapter.post("/v1/auth/token/create", json={"policies": ["ci"]}, wrap_ttl="1m")
    auth = root.sys.unwrap(made["wrap_info"]["token"])["auth"]
    same(made["wrap_info"]["wrapped_accessor"], auth["accessor"])
    same(as_token(auth["client_token"]).is_authenticated(), True)


def errors(root):
    same(root.read(f"{MOUNT}/nothing"), None)
    refused(exceptions.InvalidPath, lambda: root.write("nowhere/x", a=1), "no handler for route")
    refused(exceptions.InvalidRequest, lambda: root.write(f"{MOUNT}/token", nope=1), "unknown field: nope")
    refused(exceptions.Forbidden, lambda: as_token("hvs.wrong").read(f"{MOUNT}/config"), "permission denied")
    refused(exceptions.Forbidden, lambda: hvac.Client(token="").sys.list_mounted_secrets_engines(), "permission denied")
    refused(exceptions.InvalidPath, lambda: hvac.Client(token=root.token, namespace="elsewhere").sys.list_mounted_secrets_engines(), "namespace not found")


def goodbye(root):
    lease = root.write(f"{MOUNT}/token/ci")["lease_id"]
    root.delete(f"{MOUNT}/config")
    same(root.read(f"{MOUNT}/config")["data"]["prv_key"], "")
    root.sys.disable_secrets_engine(MOUNT)
    same(f"{MOUNT}/" in root.sys.list_mounted_secrets_engines()["data"], False)
    refused(exceptions.InvalidRequest, lambda: root.sys.read_lease(lease), "invalid lease")


def main():
    root = hvac.Client()
    for part in (state, mounts, config, permission_sets, minting, leases, policies, tokens, token_roles, approle, identity_tokens, wrapping, errors, goodbye):
        part(root)
        print("held:", part.__name__)
        sys.stdout.flush()


main()
