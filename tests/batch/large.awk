#!/bin/awk -f
# 50 MB, by an interpreter that is no shell.
BEGIN {
    for (i = 0; i < 12; i++)
        line = line "0123456789"
    for (i = 0; i < 413000; i++)
        print line
}
