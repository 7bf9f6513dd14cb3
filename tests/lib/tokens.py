# SPDX-License-Identifier: GPL-2.0-or-later
"""An identity provider: a key, its JSON Web Key Set (RFC 7517), and tokens that it
has signed (RS256, RFC 7519)."""
import base64
import json
import pathlib
import re
import subprocess
import tempfile
import time


def _text(raw):
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


class Provider:
    def __init__(self, key_id="one"):
        self.key_id = key_id
        self._folder = tempfile.TemporaryDirectory()
        self._key = pathlib.Path(self._folder.name) / "key.pem"
        self._openssl("genrsa", "-out", str(self._key), "2048")

    def _openssl(self, *words, stdin=None):
        return subprocess.run(["openssl", *words], input=stdin, check=True,
                              stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL).stdout

    def keys(self):
        """The key set, as its file."""
        said = self._openssl("rsa", "-in", str(self._key), "-noout",
                             "-modulus").decode()
        modulus = bytes.fromhex(re.search("Modulus=([0-9A-F]+)", said).group(1))
        return json.dumps({"keys": [{
            "alg": "RS256", "kty": "RSA", "use": "sig", "kid": self.key_id,
            "n": _text(modulus), "e": "AQAB"}]})

    def token(self, user, seconds=600):
        """For this user of Slurm."""
        now = int(time.time())
        parts = ({"alg": "RS256", "typ": "JWT", "kid": self.key_id},
                 {"sun": user, "iat": now, "exp": now + seconds})
        head = ".".join(_text(json.dumps(part).encode()) for part in parts)
        signature = self._openssl("dgst", "-sha256", "-sign", str(self._key),
                                  stdin=head.encode())
        return f"{head}.{_text(signature)}"
