package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/hashicorp/vault/api"
)

// must stops the program at the first error that was not expected.
func must[T any](value T, err error) T {
	done(err)
	return value
}

func done(err error) {
	if err != nil {
		panic(err)
	}
}

// same compares what came with what should have; numbers of answers are json.Number.
func same(found, wanted any) {
	if number, ok := found.(json.Number); ok {
		found = number.String()
	}
	if !reflect.DeepEqual(found, wanted) {
		panic(fmt.Sprintf("%#v instead of %#v", found, wanted))
	}
}

func contains(text, part string) {
	if !strings.Contains(text, part) {
		panic(fmt.Sprintf("%q lacks %q", text, part))
	}
}

// refused is an error of this status with this text in it.
func refused(err error, status int, part string) {
	var answer *api.ResponseError
	if !errors.As(err, &answer) {
		panic(fmt.Sprintf("status %d expected, got %v", status, err))
	}
	same(answer.StatusCode, status)
	contains(strings.Join(answer.Errors, "\n"), part)
}

// texts is a list of an answer, sorted.
func texts(value any) []string {
	list := []string{}
	for _, one := range value.([]any) {
		list = append(list, one.(string))
	}
	slices.Sort(list)
	return list
}
