// Command control-plane is Kubernetes without nodes, in one binary, for tests:
//
//	control-plane etcd|kube-apiserver|kube-controller-manager|kube-scheduler FLAGS
//	control-plane proxy ADDRESS SERVER TOKEN  plain HTTP on loopback to the API server
//	control-plane key FILE                    makes a key to sign service accounts with
//
// One binary, because the programs share most of their packages. Each server runs as a process of its own, and
// ends when its standard input does: whoever started it is gone then. There is no kubelet;
// what it would do, the test does.
package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"

	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
)

func main() {
	if len(os.Args) < 2 {
		fail(fmt.Errorf("which program?"))
	}
	// Each program reads the arguments itself, as if it had been called by its own name.
	program := os.Args[1]
	os.Args = os.Args[1:]
	if program != "key" {
		go func() {
			_, _ = io.Copy(io.Discard, os.Stdin)
			os.Exit(1)
		}()
	}
	switch program {
	case "etcd":
		etcdmain.Main(os.Args)
	case "kube-apiserver":
		os.Exit(cli.Run(apiserver.NewAPIServerCommand()))
	case "kube-controller-manager":
		os.Exit(cli.Run(controllermanager.NewControllerManagerCommand()))
	case "kube-scheduler":
		os.Exit(cli.Run(scheduler.NewSchedulerCommand()))
	case "key":
		fail(key(os.Args[1]))
	case "proxy":
		fail(proxy(os.Args[1], os.Args[2], os.Args[3]))
	default:
		fail(fmt.Errorf("there is no program %q", program))
	}
}

// key writes a new key in the one form of which the API server reads the public half, too.
func key(file string) error {
	made, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	bytes, err := x509.MarshalECPrivateKey(made)
	if err != nil {
		return err
	}
	return os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: bytes}), 0o600)
}

// proxy takes plain HTTP, and asks the API server with the token: its certificate is its own making, and it
// is on loopback.
func proxy(address, server, token string) error {
	target, err := url.Parse(server)
	if err != nil {
		return err
	}
	return http.ListenAndServe(address, &httputil.ReverseProxy{
		Rewrite: func(request *httputil.ProxyRequest) {
			request.SetURL(target)
			request.Out.Header.Set("Authorization", "Bearer "+token)
		},
		Transport: &http.Transport{
			TLSClientConfig:     &tls.Config{InsecureSkipVerify: true},
			MaxIdleConnsPerHost: 16,
		},
	})
}

func fail(why error) {
	if why != nil {
		fmt.Fprintf(os.Stderr, "control-plane: %v\n", why)
		os.Exit(2)
	}
}
