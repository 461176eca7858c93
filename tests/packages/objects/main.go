// Reads rendered Kubernetes objects and decodes each by its own type, strictly: a field that the type does not have is an
// error. Prints each as a line of JSON. With the argument `values` it only turns YAML into JSON.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"

	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	policy "k8s.io/api/policy/v1"
	rbac "k8s.io/api/rbac/v1"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

var kinds = map[string]func() any{
	"v1/Namespace":                             func() any { return &core.Namespace{} },
	"v1/ResourceQuota":                         func() any { return &core.ResourceQuota{} },
	"v1/Service":                               func() any { return &core.Service{} },
	"v1/ServiceAccount":                        func() any { return &core.ServiceAccount{} },
	"apps/v1/StatefulSet":                      func() any { return &apps.StatefulSet{} },
	"networking.k8s.io/v1/NetworkPolicy":       func() any { return &networking.NetworkPolicy{} },
	"networking.k8s.io/v1/Ingress":             func() any { return &networking.Ingress{} },
	"policy/v1/PodDisruptionBudget":            func() any { return &policy.PodDisruptionBudget{} },
	"rbac.authorization.k8s.io/v1/Role":        func() any { return &rbac.Role{} },
	"rbac.authorization.k8s.io/v1/RoleBinding": func() any { return &rbac.RoleBinding{} },
}

func check(text []byte) error {
	var head struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
		Metadata   struct {
			Name string `json:"name"`
		} `json:"metadata"`
	}
	if err := yaml.Unmarshal(text, &head); err != nil {
		return err
	}
	name := head.APIVersion + "/" + head.Kind
	made, known := kinds[name]
	if !known {
		return fmt.Errorf("no type for %q", name)
	}
	object := made()
	if err := yaml.UnmarshalStrict(text, object); err != nil {
		return fmt.Errorf("%s %s: %w", name, head.Metadata.Name, err)
	}
	return json.NewEncoder(os.Stdout).Encode(object)
}

func values() error {
	text, err := io.ReadAll(os.Stdin)
	if err == nil {
		text, err = yaml.YAMLToJSONStrict(text)
	}
	fmt.Println(string(text))
	return err
}

func main() {
	if len(os.Args) == 2 && os.Args[1] == "values" {
		if err := values(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	documents := utilyaml.NewYAMLReader(bufio.NewReader(os.Stdin))
	for {
		text, err := documents.Read()
		if err == io.EOF {
			return
		}
		if err == nil {
			err = check(text)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}
