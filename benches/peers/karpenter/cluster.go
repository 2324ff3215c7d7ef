package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
	yamlstream "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	apifake "sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/awslabs/operatorpkg/object"
	_ "sigs.k8s.io/karpenter/pkg/apis"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/cloudprovider/fake"
	"sigs.k8s.io/karpenter/pkg/controllers/dynamicresources/deviceallocation"
	"sigs.k8s.io/karpenter/pkg/controllers/provisioning"
	"sigs.k8s.io/karpenter/pkg/controllers/state"
	"sigs.k8s.io/karpenter/pkg/events"
	"sigs.k8s.io/karpenter/pkg/operator/injection"
	"sigs.k8s.io/karpenter/pkg/operator/options"
	"sigs.k8s.io/karpenter/pkg/state/virtualpods"
	"sigs.k8s.io/karpenter/pkg/test"
	"sigs.k8s.io/karpenter/pkg/test/v1alpha1"
)

// provider offers the catalogue's types to every pool.
type provider struct {
	*fake.CloudProvider
	types []*cloudprovider.InstanceType
}

func (p *provider) GetInstanceTypes(context.Context, *v1.NodePool) ([]*cloudprovider.InstanceType, error) {
	return p.types, nil
}

// cluster is Karpenter's provisioner over an in-memory API server.
type cluster struct {
	ctx         context.Context
	provisioner *provisioning.Provisioner
}

// indexed answers the one query a scheduling pass makes all the time, the pods
// of a node, from a map; the in-memory API would scan every object for it,
// which the cache of a real controller does not.
type indexed struct {
	client.Client
	onNode map[string][]corev1.Pod
}

func (x *indexed) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	asked := client.ListOptions{}
	asked.ApplyOptions(opts)
	if pods, ok := list.(*corev1.PodList); ok && asked.FieldSelector != nil && asked.LabelSelector == nil && asked.Namespace == "" {
		if node, exact := asked.FieldSelector.RequiresExactMatch("spec.nodeName"); exact {
			pods.Items = append([]corev1.Pod(nil), x.onNode[node]...)
			return nil
		}
	}
	return x.Client.List(ctx, list, opts...)
}

// readObjects decodes every document of the files; kinds that the scheme does
// not know are told and left out.
func readObjects(paths []string) ([]client.Object, error) {
	decoder := serializer.NewCodecFactory(scheme.Scheme).UniversalDeserializer()
	var objects []client.Object
	var decode func(text []byte)
	decode = func(text []byte) {
		decoded, _, err := decoder.Decode(text, nil, nil)
		if err != nil {
			fmt.Fprintln(os.Stderr, "left out:", string(bytes.SplitN([]byte(err.Error()), []byte("\n"), 2)[0]))
			return
		}
		if list, ok := decoded.(*corev1.List); ok {
			for _, item := range list.Items {
				decode(item.Raw)
			}
			return
		}
		if one, ok := decoded.(client.Object); ok {
			objects = append(objects, one)
		}
	}
	for _, path := range paths {
		file, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		documents := yamlstream.NewYAMLReader(bufio.NewReaderSize(file, 1<<20))
		for {
			text, err := documents.Read()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				file.Close()
				return nil, fmt.Errorf("%s: %w", path, err)
			}
			if len(bytes.TrimSpace(text)) > 0 {
				decode(text)
			}
		}
		file.Close()
	}
	return objects, nil
}

// complete fills in what an API server or Karpenter's controllers would have.
func complete(objects []client.Object) {
	class := object.GVK(&v1alpha1.TestNodeClass{})
	reference := &v1.NodeClassReference{Group: class.Group, Kind: class.Kind, Name: "default"}
	for i, o := range objects {
		if o.GetUID() == "" {
			o.SetUID(types.UID(fmt.Sprintf("uid-%d", i)))
		}
		if created := o.GetCreationTimestamp(); created.IsZero() {
			o.SetCreationTimestamp(metav1.NewTime(time.Now().Add(-time.Hour)))
		}
		// An API server holds what is being deleted only for a finalizer's sake.
		o.SetFinalizers(nil)
		if o.GetDeletionTimestamp() != nil {
			o.SetFinalizers([]string{"millwright.dev/peer"})
		}
		switch t := o.(type) {
		case *v1.NodePool:
			for _, condition := range []string{"Ready", "ValidationSucceeded", "NodeClassReady"} {
				t.StatusConditions().SetTrue(condition)
			}
			t.Spec.Template.Spec.NodeClassRef = reference
		case *v1.NodeClaim:
			t.Spec.NodeClassRef = reference
		}
	}
}

func newCluster(objects []client.Object, kinds []*cloudprovider.InstanceType) (*cluster, error) {
	complete(objects)
	ctx := options.ToContext(injection.WithControllerName(context.Background(), "provisioner"), test.Options())
	builder := apifake.NewClientBuilder().WithScheme(scheme.Scheme)
	index := func(of client.Object, field string, value func(client.Object) string) {
		builder = builder.WithIndex(of, field, func(o client.Object) []string { return []string{value(o)} })
	}
	index(&corev1.Pod{}, "spec.nodeName", func(o client.Object) string { return o.(*corev1.Pod).Spec.NodeName })
	index(&corev1.Node{}, "spec.providerID", func(o client.Object) string { return o.(*corev1.Node).Spec.ProviderID })
	index(&v1.NodeClaim{}, "status.providerID", func(o client.Object) string { return o.(*v1.NodeClaim).Status.ProviderID })
	index(&storagev1.VolumeAttachment{}, "spec.nodeName", func(o client.Object) string { return o.(*storagev1.VolumeAttachment).Spec.NodeName })
	class := func(o client.Object) *v1.NodeClassReference { return o.(*v1.NodePool).Spec.Template.Spec.NodeClassRef }
	index(&v1.NodePool{}, "spec.template.spec.nodeClassRef.group", func(o client.Object) string { return class(o).Group })
	index(&v1.NodePool{}, "spec.template.spec.nodeClassRef.kind", func(o client.Object) string { return class(o).Kind })
	index(&v1.NodePool{}, "spec.template.spec.nodeClassRef.name", func(o client.Object) string { return class(o).Name })
	builder = builder.WithObjects(&v1alpha1.TestNodeClass{ObjectMeta: metav1.ObjectMeta{Name: "default"}}).WithObjects(objects...)

	api := &indexed{Client: builder.Build(), onNode: map[string][]corev1.Pod{}}
	for _, o := range objects {
		if pod, ok := o.(*corev1.Pod); ok {
			api.onNode[pod.Spec.NodeName] = append(api.onNode[pod.Spec.NodeName], *pod)
		}
	}
	cloud := &provider{CloudProvider: fake.NewCloudProvider(), types: kinds}
	now := clock.RealClock{}
	known := state.NewCluster(now, api, cloud)
	recorder := events.NewRecorder(&record.FakeRecorder{})
	provisioner := provisioning.NewProvisioner(api, recorder, cloud, known, now, deviceallocation.NewController(api), virtualpods.NewVirtualPodCache(api))
	if err := inform(ctx, known, objects); err != nil {
		return nil, err
	}
	return &cluster{ctx: ctx, provisioner: provisioner}, nil
}

// inform tells Karpenter's cache of every object: claims before nodes before
// the pods on them.
func inform(ctx context.Context, known *state.Cluster, objects []client.Object) error {
	for _, o := range objects {
		if claim, ok := o.(*v1.NodeClaim); ok {
			known.UpdateNodeClaim(claim.DeepCopy())
		}
	}
	for _, o := range objects {
		if node, ok := o.(*corev1.Node); ok {
			if err := known.UpdateNode(ctx, node.DeepCopy()); err != nil {
				return fmt.Errorf("node %s: %w", node.Name, err)
			}
		}
	}
	for _, o := range objects {
		var err error
		switch t := o.(type) {
		case *corev1.Pod:
			err = known.UpdatePod(ctx, t.DeepCopy())
		case *appsv1.DaemonSet:
			err = known.UpdateDaemonSet(ctx, t.DeepCopy())
		}
		if err != nil {
			return fmt.Errorf("%s/%s: %w", o.GetNamespace(), o.GetName(), err)
		}
	}
	known.SetSynced(true)
	return nil
}
