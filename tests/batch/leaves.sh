#!/bin/sh
# Fails, and leaves something running that has its output open.
sleep 600 &
echo "left"
exit 3
