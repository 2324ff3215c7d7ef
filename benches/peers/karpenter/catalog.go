package main

import (
	"encoding/json"
	"fmt"
	"os"
	"sort"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/scheduling"
	"sigs.k8s.io/yaml"
)

// The part of a Millwright catalogue that Karpenter has a word for.
type catalogFile struct {
	Types []struct {
		Name              string            `json:"name"`
		Architecture      string            `json:"architecture"`
		Capacity          map[string]any    `json:"capacity"`
		Allocatable       map[string]any    `json:"allocatable"`
		Labels            map[string]string `json:"labels"`
		VolumeAttachments int               `json:"volumeAttachments"`
		Offerings         []offeringEntry   `json:"offerings"`
	} `json:"types"`
}

type offeringEntry struct {
	Zone          string      `json:"zone"`
	CapacityType  string      `json:"capacityType"`
	Price         json.Number `json:"price"`
	Available     *bool       `json:"available"`
	ReservationID string      `json:"reservationId"`
	Count         int         `json:"count"`
}

// readCatalog turns a catalogue into instance types. What pods may take of a
// node is told as capacity without overhead: Karpenter then plans with exactly
// the numbers Millwright plans with.
func readCatalog(path string) ([]*cloudprovider.InstanceType, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var file catalogFile
	if err := yaml.Unmarshal(text, &file); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	custom := map[string]bool{}
	for _, t := range file.Types {
		for key := range t.Labels {
			custom[key] = true
		}
	}
	for key := range custom {
		v1.WellKnownLabels.Insert(key)
	}
	types := make([]*cloudprovider.InstanceType, 0, len(file.Types))
	for _, t := range file.Types {
		amounts := t.Allocatable
		if amounts == nil {
			amounts = t.Capacity
		}
		capacity, err := resources(amounts)
		if err != nil {
			return nil, fmt.Errorf("%s: type %s: %w", path, t.Name, err)
		}
		if _, told := capacity[corev1.ResourceEphemeralStorage]; !told {
			capacity[corev1.ResourceEphemeralStorage] = resource.MustParse("1000Gi")
		}
		offerings, zones, capacityTypes, err := offeringsOf(t.Offerings)
		if err != nil {
			return nil, fmt.Errorf("%s: type %s: %w", path, t.Name, err)
		}
		architecture := t.Architecture
		if architecture == "" {
			architecture = "amd64"
		}
		in := corev1.NodeSelectorOpIn
		requirements := scheduling.NewRequirements(
			scheduling.NewRequirement(corev1.LabelInstanceTypeStable, in, t.Name),
			scheduling.NewRequirement(corev1.LabelArchStable, in, architecture),
			scheduling.NewRequirement(corev1.LabelOSStable, in, "linux"),
			scheduling.NewRequirement(corev1.LabelTopologyZone, in, zones...),
			scheduling.NewRequirement(v1.CapacityTypeLabelKey, in, capacityTypes...),
		)
		for key := range custom {
			if value, has := t.Labels[key]; has {
				requirements.Add(scheduling.NewRequirement(key, in, value))
			} else {
				requirements.Add(scheduling.NewRequirement(key, corev1.NodeSelectorOpDoesNotExist))
			}
		}
		kind := &cloudprovider.InstanceType{
			Name: t.Name, Requirements: requirements, Offerings: offerings, Capacity: capacity,
			Overhead: &cloudprovider.InstanceTypeOverhead{},
		}
		if t.VolumeAttachments > 0 {
			kind.VolumeAttachmentLimits = map[string]int{"ebs.csi.aws.com": t.VolumeAttachments}
		}
		types = append(types, kind)
	}
	return types, nil
}

func offeringsOf(entries []offeringEntry) (offerings cloudprovider.Offerings, zones, capacityTypes []string, err error) {
	seen := map[string]bool{}
	note := func(list *[]string, value string) {
		if !seen[value] {
			seen[value] = true
			*list = append(*list, value)
		}
	}
	for _, o := range entries {
		labels := map[string]string{v1.CapacityTypeLabelKey: o.CapacityType, corev1.LabelTopologyZone: o.Zone}
		if o.ReservationID != "" {
			labels[cloudprovider.ReservationIDLabel] = o.ReservationID
		}
		price, err := o.Price.Float64()
		if err != nil {
			return nil, nil, nil, fmt.Errorf("price of %s in %s: %w", o.CapacityType, o.Zone, err)
		}
		offerings = append(offerings, &cloudprovider.Offering{
			Available: o.Available == nil || *o.Available, Price: price, ReservationCapacity: o.Count,
			Requirements: scheduling.NewLabelRequirements(labels),
		})
		note(&zones, o.Zone)
		note(&capacityTypes, o.CapacityType)
	}
	sort.Strings(zones)
	sort.Strings(capacityTypes)
	return offerings, zones, capacityTypes, nil
}

func resources(amounts map[string]any) (corev1.ResourceList, error) {
	list := corev1.ResourceList{}
	for name, amount := range amounts {
		quantity, err := resource.ParseQuantity(fmt.Sprint(amount))
		if err != nil {
			return nil, fmt.Errorf("%s: %q: %w", name, fmt.Sprint(amount), err)
		}
		list[corev1.ResourceName(name)] = quantity
	}
	return list, nil
}
