#!/bin/sh
# Bytes come in and go out as they are.
md5sum
cat <<'END'
of a here-document: $HOME `id`
END
printf '\000\377 and no end of line'
