#!/bin/sh
trap 'echo "warned"; exit 4' USR1
echo "ready"
while :; do
    sleep 0.2
done
