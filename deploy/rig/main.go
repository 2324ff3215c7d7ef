// Command kubebox holds a whole throw-away Kubernetes control plane in one
// binary: etcd, kube-apiserver, kube-scheduler, kube-controller-manager and
// kubectl. The component is the name the binary is called by, else the first
// argument.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	_ "time/tzdata"

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	kubectl "k8s.io/kubectl/pkg/cmd"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllers "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
)

// cobraCommand runs a component that is a cobra command and never returns.
func cobraCommand(build func() *cobra.Command) func() {
	return func() { os.Exit(cli.Run(build())) }
}

var components = map[string]func(){
	// etcd parses os.Args itself.
	"etcd":                    func() { etcdmain.Main(os.Args) },
	"kube-apiserver":          cobraCommand(apiserver.NewAPIServerCommand),
	"kube-controller-manager": cobraCommand(controllers.NewControllerManagerCommand),
	"kube-scheduler":          cobraCommand(func() *cobra.Command { return scheduler.NewSchedulerCommand() }),
	"kubectl":                 cobraCommand(kubectl.NewDefaultKubectlCommand),
}

func main() {
	run, known := components[filepath.Base(os.Args[0])]
	if !known && len(os.Args) > 1 {
		os.Args = os.Args[1:]
		run, known = components[os.Args[0]]
	}
	if !known {
		names := make([]string, 0, len(components))
		for name := range components {
			names = append(names, name)
		}
		sort.Strings(names)
		fmt.Fprintf(os.Stderr, "usage: kubebox %s [flags]\n", strings.Join(names, "|"))
		os.Exit(2)
	}
	run()
}
