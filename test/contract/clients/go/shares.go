package main

import (
	"encoding/base64"
	"os"

	"github.com/hashicorp/vault/api"
)

// shares is what the holders of key shares do with a new store: it is run by itself, and leaves the store unsealed.
func shares(client *api.Client) {
	sys := client.Sys()
	same(must(sys.InitStatus()), false)
	_, err := sys.Init(&api.InitRequest{SecretShares: 2, SecretThreshold: 3})
	refused(err, 400, "threshold cannot be larger than shares")
	made := must(sys.Init(&api.InitRequest{SecretShares: 3, SecretThreshold: 2}))
	same([]int{len(made.Keys), len(made.KeysB64)}, []int{3, 3})
	same(must(sys.Unseal(made.Keys[0])).Progress, 1)
	same(must(sys.ResetUnsealProcess()).Progress, 0)
	must(sys.Unseal(made.Keys[2]))
	same(must(sys.Unseal(made.KeysB64[1])).Sealed, false)
	client.SetToken(made.RootToken)

	_, err = sys.RekeyUpdate(made.Keys[0], "")
	refused(err, 400, "no barrier rekey in progress")
	begun := must(sys.RekeyInit(&api.RekeyInitRequest{SecretShares: 3, SecretThreshold: 3, RequireVerification: true}))
	same([]int{begun.T, begun.N, begun.Required}, []int{3, 3, 2})
	done(sys.RekeyCancelWithNonce(begun.Nonce))
	same(must(sys.RekeyStatus()).Started, false)
	begun = must(sys.RekeyInit(&api.RekeyInitRequest{SecretShares: 3, SecretThreshold: 3, RequireVerification: true}))
	must(sys.RekeyUpdate(made.Keys[0], begun.Nonce))
	rekeyed := must(sys.RekeyUpdate(made.Keys[1], begun.Nonce))
	same([]bool{rekeyed.Complete, rekeyed.VerificationRequired}, []bool{true, true})
	for index, share := range rekeyed.Keys {
		same(must(sys.RekeyVerificationStatus()).Progress, index)
		verified := must(sys.RekeyVerificationUpdate(share, rekeyed.VerificationNonce))
		same(verified.Complete, index == 2)
	}
	_, err = sys.RekeyRetrieveBackup()
	refused(err, 400, "no backed-up keys found")

	attempt := must(sys.GenerateRootInit("", ""))
	same(attempt.OTPLength, len(attempt.OTP))
	var generated *api.GenerateRootStatusResponse
	for _, share := range rekeyed.KeysB64 {
		generated = must(sys.GenerateRootUpdate(share, attempt.Nonce))
	}
	same(generated.Complete, true)
	token := must(base64.RawStdEncoding.DecodeString(generated.EncodedToken))
	for index := range token {
		token[index] ^= attempt.OTP[index]
	}
	same(must(as(string(token)).Auth().Token().LookupSelf()).Data["path"], "auth/token/root")
	done(sys.Seal())
	for !must(sys.SealStatus()).Sealed {
	}
	for _, share := range rekeyed.Keys {
		must(sys.Unseal(share))
	}
	same(must(sys.SealStatus()).Sealed, false)
}

// sharesAlone says whether the program is to do this and nothing else.
func sharesAlone() bool {
	return len(os.Args) > 1 && os.Args[1] == "shares"
}
