#!/bin/sh
kill -TERM $$
sleep 60
