# shellcheck shell=bash
# Certificates by openssl: one authority for a sandbox.

# certificate NAME SUBJECT [EXTENSION]: $PKI/NAME.key and .crt, signed by the sandbox's authority; kept if there.
certificate() {
    local name=$PKI/$1 subject=$2 extension=${3:-extendedKeyUsage=clientAuth}
    [[ -s $name.crt ]] && return
    openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$name.key" -out "$name.csr" -subj "$subject" 2> /dev/null
    openssl x509 -req -in "$name.csr" -CA "$PKI/ca.crt" -CAkey "$PKI/ca.key" -CAcreateserial -days 3650 -out "$name.crt" \
        -extfile <(echo "$extension") 2> /dev/null
    rm "$name.csr"
}

# kubeconfig NAME: prints one that logs in with NAME's certificate.
kubeconfig() {
    cat <<EOF
apiVersion: v1
kind: Config
clusters:
- name: sandbox
  cluster: {server: "$API", certificate-authority-data: $(base64 -w0 "$PKI/ca.crt")}
users:
- name: $1
  user: {client-certificate-data: $(base64 -w0 "$PKI/$1.crt"), client-key-data: $(base64 -w0 "$PKI/$1.key")}
contexts:
- name: sandbox
  context: {cluster: sandbox, user: $1}
current-context: sandbox
EOF
}
