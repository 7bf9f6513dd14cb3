# SPDX-License-Identifier: GPL-2.0-or-later
"""An OCI archive of one image, with everything in it checked against its digest
and its size, and the files that its layers make."""
import gzip
import hashlib
import io
import json
import tarfile

from tap import check, equal

CONFIG = "application/vnd.oci.image.config.v1+json"
MANIFEST = "application/vnd.oci.image.manifest.v1+json"
LAYER = "application/vnd.oci.image.layer.v1.tar+gzip"
REFERENCE = "org.opencontainers.image.ref.name"


class Image:
    def __init__(self, path):
        with tarfile.open(path) as archive:
            self._blobs = {m.name.removeprefix("./"): archive.extractfile(m).read()
                           for m in archive if m.isfile()}
        self._used = {"oci-layout", "index.json"}
        equal(json.loads(self._blobs["oci-layout"])["imageLayoutVersion"], "1.0.0",
              "layout")
        index = json.loads(self._blobs["index.json"])
        equal(index["schemaVersion"], 2, "version of the index")
        (entry,) = index["manifests"]
        self.reference = entry["annotations"][REFERENCE]
        self.digest = entry["digest"]
        self.manifest = json.loads(self._blob(entry, MANIFEST))
        self.config = json.loads(self._blob(self.manifest["config"], CONFIG))
        self.layers = self.manifest["layers"]
        self._unpacked = [gzip.decompress(self._blob(layer, LAYER))
                          for layer in self.layers]
        equal(self.config["rootfs"],
              {"type": "layers",
               "diff_ids": [_digest(layer) for layer in self._unpacked]}, "rootfs")
        equal(set(self._blobs), self._used, "files of the archive")

    def _blob(self, descriptor, media_type):
        equal(descriptor["mediaType"], media_type, "media type")
        kind, _, digest = descriptor["digest"].partition(":")
        name = f"blobs/{kind}/{digest}"
        blob = self._blobs[name]
        self._used.add(name)
        equal((len(blob), _digest(blob)),
              (descriptor["size"], descriptor["digest"]), name)
        return blob

    def members(self):
        """Of each path what tar says of it, in the layer where it is last, and
        what is in it."""
        found = {}
        for layer in self._unpacked:
            with tarfile.open(fileobj=io.BytesIO(layer)) as tar:
                entries = [(_path(m.name), m,
                            tar.extractfile(m).read() if m.isfile() else b"")
                           for m in tar]
            for path, _, _ in entries:
                folder, _, name = path.rpartition("/")
                check(name != ".wh..wh..opq", f"{path}: not understood here")
                if name.startswith(".wh."):
                    gone = f"{folder}/{name.removeprefix('.wh.')}"
                    for each in [f for f in found
                                 if f == gone or f.startswith(gone + "/")]:
                        del found[each]
            found.update({path: (member, data) for path, member, data in entries
                          if not path.rpartition("/")[2].startswith(".wh.")})
        return found

    def files(self):
        """Path and content of each file of each layer, also where a later layer
        hides it."""
        for layer in self._unpacked:
            with tarfile.open(fileobj=io.BytesIO(layer)) as tar:
                for member in tar:
                    if member.isfile():
                        yield _path(member.name), tar.extractfile(member).read()


def _path(name):
    return "/" + name.removeprefix("./").strip("/")


def _digest(data):
    return "sha256:" + hashlib.sha256(data).hexdigest()
