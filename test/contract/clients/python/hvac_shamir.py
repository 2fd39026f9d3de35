"""Key shares with hvac: initialise, unseal, new shares with and without verification, another root token.

Takes the address from VAULT_ADDR; prints `held: NAME` for each part that held.
"""

import base64
import os
import time

import hvac

client = hvac.Client(url=os.environ["VAULT_ADDR"])
system = client.sys


def held(name):
    print(f"held: {name}")


def refused(call, text):
    try:
        call()
    except hvac.exceptions.InvalidRequest as error:
        assert text in str(error), error
        return
    raise AssertionError(f"not refused: {text}")


def unseal(keys):
    for key in keys:
        status = system.submit_unseal_key(key)
    return status


def make(keys, nonce, call):
    for key in keys:
        answer = call(key=key, nonce=nonce)
    return answer


assert not system.is_initialized()
made = system.initialize(secret_shares=5, secret_threshold=3)
assert system.is_initialized() and system.is_sealed()
refused(lambda: system.initialize(secret_shares=1, secret_threshold=1), "Vault is already initialized")
held("initialise")

keys = made["keys"]
assert system.submit_unseal_key(keys[0])["progress"] == 1
assert system.submit_unseal_key(reset=True)["progress"] == 0
refused(lambda: unseal([keys[0], keys[1], "00" * 33]), "these shares do not make the key")
assert system.submit_unseal_keys(made["keys_base64"][1:4])["sealed"] is False
client.token = made["root_token"]
assert client.is_authenticated()
held("unseal")

refused(lambda: system.rekey(keys[0], nonce="x"), "no barrier rekey in progress")
begun = system.start_rekey(secret_shares=3, secret_threshold=2)
assert (begun["t"], begun["n"], begun["required"]) == (2, 3, 3)
assert system.read_rekey_progress()["started"]
system.cancel_rekey()
assert not system.read_rekey_progress()["started"]
begun = system.start_rekey(secret_shares=3, secret_threshold=2)
done = system.rekey_multi(keys[:3], nonce=begun["nonce"])
assert done["complete"] and len(done["keys"]) == 3
refused(lambda: system.start_rekey(secret_shares=2, secret_threshold=2, pgp_keys=["a", "b"]), "pgp_keys is not supported")
refused(lambda: system.read_backup_keys(), "no backed-up keys found")
held("rekey")

keys = done["keys"]
deadline = time.monotonic() + 20
while system.read_seal_status()["t"] != 2:
    assert time.monotonic() < deadline
begun = system.start_rekey(secret_shares=2, secret_threshold=2, require_verification=True)
done = system.rekey_multi(keys[:2], nonce=begun["nonce"])
assert done["verification_required"]
assert system.read_rekey_verify_progress()["progress"] == 0
refused(lambda: system.rekey_verify(done["keys"][0], nonce="x"), "incorrect nonce supplied")
system.rekey_verify(done["keys"][0], nonce=done["verification_nonce"])
system.cancel_rekey_verify()
nonce = system.read_rekey_verify_progress()["nonce"]
assert system.rekey_verify_multi(done["keys"], nonce=nonce)["complete"]
keys = done["keys"]
held("verification")

refused(lambda: system.start_root_token_generation(otp="short"), "OTP string is wrong length")
begun = system.start_root_token_generation()
assert begun["otp_length"] == len(begun["otp"]) == 28
assert system.read_root_generation_progress()["nonce"] == begun["nonce"]
system.cancel_root_generation()
begun = system.start_root_token_generation()
done = make(keys, begun["nonce"], system.generate_root)
assert done["complete"]
encoded = base64.b64decode(done["encoded_root_token"] + "==")
token = bytes(a ^ b for a, b in zip(encoded, begun["otp"].encode())).decode()
other = hvac.Client(url=client.url, token=token)
assert other.lookup_token()["data"]["policies"] == ["root"]
held("generate root")

term = system.get_encryption_key_status()["data"]["term"]
system.rotate_encryption_key()
assert system.get_encryption_key_status()["data"]["term"] == term + 1
system.seal()
deadline = time.monotonic() + 20
while not system.is_sealed():
    assert time.monotonic() < deadline
assert unseal(keys)["sealed"] is False
assert other.is_authenticated()
held("rotate and seal")
