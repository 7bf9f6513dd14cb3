// SPDX-License-Identifier: GPL-2.0-or-later

// CoreDNS with what daemons/coredns asks of it. All of its plugins together would be several times as much to build, mostly of cloud
// providers.
package main

import (
	_ "github.com/coredns/coredns/plugin/bind"
	_ "github.com/coredns/coredns/plugin/errors"
	_ "github.com/coredns/coredns/plugin/kubernetes"
	_ "github.com/coredns/coredns/plugin/ready"
	_ "github.com/coredns/coredns/plugin/template"

	"github.com/coredns/coredns/coremain"
)

func main() { coremain.Run() }
