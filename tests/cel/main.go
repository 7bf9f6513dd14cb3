// SPDX-License-Identifier: GPL-2.0-or-later

// Reads selectors, one a line, and writes each behind kube-scheduler's answer for
// one device: true, false, error (when evaluated) or refused (when compiled). '@'
// stands for the attributes of the driver. Empty lines and lines that begin with
// '#' are written as they are. See tests/cel/README.md.
package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strings"

	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	dracel "k8s.io/dynamic-resource-allocation/cel"
)

func pointer[T any](value T) *T { return &value }

// As gpu() in tests/unit/cel/device.h.
var gpu = dracel.Device{
	Driver: "gpu.example.com",
	Attributes: map[resourceapi.QualifiedName]resourceapi.DeviceAttribute{
		"index":                          {IntValue: pointer(int64(2))},
		"model":                          {StringValue: pointer("A100")},
		"productName":                    {StringValue: pointer("NVIDIA A100-SXM4-40GB")},
		"healthy":                        {BoolValue: pointer(true)},
		"driverVersion":                  {VersionValue: pointer("1.10.2")},
		"resource.kubernetes.io/numaNode": {IntValue: pointer(int64(0))},
		"resource.kubernetes.io/pcieRoot": {StringValue: pointer("pci0000:01")},
	},
	Capacity: map[resourceapi.QualifiedName]resourceapi.DeviceCapacity{
		"memory":                      {Value: resource.MustParse("40Gi")},
		"other.example.com/bandwidth": {Value: resource.MustParse("1G")},
	},
}

func answer(expression string) string {
	compiled := dracel.GetCompiler(dracel.Features{EnableConsumableCapacity: true}).
		CompileCELExpression(expression, dracel.Options{})
	if compiled.Error != nil {
		return "refused"
	}
	matches, _, err := compiled.DeviceMatches(context.Background(), gpu)
	if err != nil {
		return "error"
	}
	return fmt.Sprint(matches)
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		line := lines.Text()
		if line == "" || strings.HasPrefix(line, "#") {
			fmt.Println(line)
			continue
		}
		expression := strings.ReplaceAll(line, "@", "device.attributes['gpu.example.com']")
		fmt.Printf("%s\t%s\n", answer(expression), line)
	}
}
