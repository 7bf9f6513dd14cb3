#!/bin/sh
# Its arguments, as they were given.
echo "$# arguments"
for argument in "$@"; do
    printf '<%s>\n' "$argument"
done
echo "and an error" >&2
