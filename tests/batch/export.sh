#!/bin/sh
env | sort | sed 's/^/env /'
