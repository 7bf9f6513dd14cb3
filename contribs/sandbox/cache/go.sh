# shellcheck shell=bash
# The Go settings of our builds: static, reproducible, exactly what go.sum says, with the module proxy that the host uses.
export CGO_ENABLED=0 GOWORK=off GOFLAGS='-buildvcs=false -mod=readonly -trimpath'
export GOTOOLCHAIN=auto                     # from 1.21 on, a Go that is too old fetches the one that go.mod asks for

# A host with no such Go lends us its network only: the calling script is run again where Debian's Go is.
if ! [[ $(go version 2> /dev/null) =~ go1\.([0-9]+) ]] || ((BASH_REMATCH[1] < 21)); then
    exec "$(dirname "$0")/with-debian-go" "$0" "$@"
fi
