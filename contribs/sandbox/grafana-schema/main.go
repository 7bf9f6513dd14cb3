// SPDX-License-Identifier: GPL-2.0-or-later

// grafana-schema FILE…: whether dashboards are what Grafana's own schema allows. A line for each that is not, with what is wrong: a
// field that the schema does not know, one of another type, a value out of its range. Exit status 0: all are well formed.
package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"
	"github.com/grafana/grafana-foundation-sdk/go/stat"
	"github.com/grafana/grafana-foundation-sdk/go/table"
	"github.com/grafana/grafana-foundation-sdk/go/text"
	"github.com/grafana/grafana-foundation-sdk/go/timeseries"
)

// words returns what an error says; the schema's own may be there and say nothing.
func words(err error) string {
	if err == nil {
		return ""
	}
	return strings.ReplaceAll(err.Error(), "\n", "; ")
}

func wrong(file string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		return words(err)
	}
	board := dashboard.Dashboard{}
	if said := words(board.UnmarshalJSONStrict(text)); said != "" {
		return said
	}
	return words(board.Validate())
}

// Queries and panels that dashboards may have. All of them would take minutes to build.
func register() {
	runtime := cog.NewRuntime()
	runtime.RegisterDataqueryVariant(prometheus.VariantConfig())
	runtime.RegisterPanelcfgVariant(stat.VariantConfig())
	runtime.RegisterPanelcfgVariant(table.VariantConfig())
	runtime.RegisterPanelcfgVariant(text.VariantConfig())
	runtime.RegisterPanelcfgVariant(timeseries.VariantConfig())
}

func main() {
	register()
	status := 0
	for _, file := range os.Args[1:] {
		if said := wrong(file); said != "" {
			fmt.Printf("%s: %s\n", file, said)
			status = 1
		}
	}
	os.Exit(status)
}
