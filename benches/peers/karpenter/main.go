// Command peer runs one scheduling pass of Karpenter's published module on the
// files that `millwright plan` reads, and prints what it would buy as JSON.
//
//	peer -catalog catalog.json objects.yaml ...
//
// A node is billed at the cheapest offering that its claim still allows, which
// is the kindest reading: a spot launch often costs more.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/operator/logging"
	"sigs.k8s.io/karpenter/pkg/scheduling"
)

type node struct {
	Pool         string   `json:"pool"`
	InstanceType string   `json:"instance_type"`
	Zone         string   `json:"zone"`
	CapacityType string   `json:"capacity_type"`
	Price        float64  `json:"price_per_hour"`
	Pods         []string `json:"pods"`
	// Labels that template and requirements give the node.
	Labels map[string]string `json:"labels"`
}

type result struct {
	Engine      string  `json:"engine"`
	Cost        float64 `json:"cost_per_hour"`
	Unscheduled int     `json:"n_unscheduled"`
	ElapsedMs   float64 `json:"elapsed_ms"`
	OnExisting  int     `json:"on_existing"`
	Nodes       []node  `json:"nodes"`
	// Pods by the node that exists.
	Existing map[string][]string `json:"existing"`
	// Why pods found no place.
	Refused map[string]string `json:"refused"`
}

func cheapest(kinds []*cloudprovider.InstanceType, allowed scheduling.Requirements) (name string, best *cloudprovider.Offering) {
	for _, kind := range kinds {
		for _, offering := range kind.Offerings.Available().Compatible(allowed) {
			if best == nil || offering.Price < best.Price || offering.Price == best.Price && kind.Name < name {
				name, best = kind.Name, offering
			}
		}
	}
	return name, best
}

func plan(c *cluster) (*result, error) {
	pending, err := c.provisioner.GetPendingPods(c.ctx)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	scheduled, err := c.provisioner.Schedule(c.ctx)
	if err != nil {
		return nil, err
	}
	out := &result{Engine: "karpenter", ElapsedMs: float64(time.Since(began).Microseconds()) / 1000, Nodes: []node{},
		Existing: map[string][]string{}, Refused: map[string]string{}}
	placed := 0
	for _, claim := range scheduled.NewNodeClaims {
		name, offering := cheapest(claim.InstanceTypeOptions, claim.Requirements)
		if offering == nil {
			return nil, fmt.Errorf("a claim of pool %s allows no offering", claim.NodePoolName)
		}
		bought := node{Pool: claim.NodePoolName, InstanceType: name, Zone: offering.Zone(), CapacityType: offering.CapacityType(), Price: offering.Price,
			Pods: []string{}, Labels: map[string]string{}}
		maps.Copy(bought.Labels, claim.Labels)
		for key, requirement := range claim.Requirements {
			if requirement.Operator() == corev1.NodeSelectorOpIn {
				bought.Labels[key] = slices.Min(requirement.Values())
			}
		}
		for _, pod := range claim.Pods {
			bought.Pods = append(bought.Pods, pod.Namespace+"/"+pod.Name)
		}
		placed += len(claim.Pods)
		out.Cost += offering.Price
		out.Nodes = append(out.Nodes, bought)
	}
	for _, existing := range scheduled.ExistingNodes {
		out.OnExisting += len(existing.Pods)
		for _, pod := range existing.Pods {
			out.Existing[existing.Name()] = append(out.Existing[existing.Name()], pod.Namespace+"/"+pod.Name)
		}
	}
	for pod, why := range scheduled.PodErrors {
		out.Refused[pod.Namespace+"/"+pod.Name] = why.Error()
	}
	// Pods that its own limit of 60 s left in the queue are in no list.
	out.Unscheduled = len(pending) - placed - out.OnExisting
	return out, nil
}

func run() error {
	catalog := flag.String("catalog", "", "catalogue `file`")
	flag.Parse()
	if *catalog == "" || flag.NArg() == 0 {
		return fmt.Errorf("usage: peer -catalog FILE OBJECTS...")
	}
	kinds, err := readCatalog(*catalog)
	if err != nil {
		return err
	}
	objects, err := readObjects(flag.Args())
	if err != nil {
		return err
	}
	c, err := newCluster(objects, kinds)
	if err != nil {
		return err
	}
	out, err := plan(c)
	if err != nil {
		return err
	}
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetIndent("", " ")
	return encoder.Encode(out)
}

func main() {
	log.SetLogger(logging.NopLogger)
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}
