#!/bin/sh
# What a process is born with.
echo "process script=$0"
echo "process directory=$(pwd)"
echo "process umask=$(umask)"
echo "process user=$(id -u)"
echo "process group=$(id -g)"
echo "process groups=$(id -G | tr ' ' '\n' | sort -n | tr '\n' ' ')"
echo "process host=$(hostname)"
echo "process stdin=$(readlink /proc/self/fd/0)"
echo "process nice=$(cut -d ' ' -f 19 /proc/self/stat)"
grep -E '^(SigBlk|NoNewPrivs|CapEff):' /proc/self/status |
    sed 's/^\([^:]*\):[[:blank:]]*/process \1=/'
for limit in c d f n s t v; do
    echo "limit -$limit=$(ulimit -S "-$limit")"
done
