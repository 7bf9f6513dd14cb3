#!/bin/sh
echo "one"
echo "two" >&2
echo "made" > made
mkdir directory
