"""Certificates and configuration files of the test cluster, all below one folder."""

import json
import subprocess

import programs as built

NODE_ADDRESS, POD_RANGE, SERVICE_RANGE = "10.77.0.1", "10.78.0.0/24", "10.96.0.0/24"
NODE = "node1"
SERVER = f"https://{NODE_ADDRESS}:6443"


def openssl(*words):
    subprocess.run(["openssl", *words], check=True, capture_output=True)


class Certificates:
    def __init__(self, folder):
        self.folder = folder
        folder.mkdir(mode=0o700)
        for name in ("ca", "front-ca"):
            self.make_key(name)
            openssl("req", "-x509", "-new", "-key", self.path(name, "key"), "-days", "2", "-subj", f"/CN={name}",
                    "-out", self.path(name, "crt"))
        openssl("genrsa", "-out", self.path("accounts", "key"), "2048")
        openssl("rsa", "-in", self.path("accounts", "key"), "-pubout", "-out", self.path("accounts", "pub"))

    def path(self, name, kind):
        return str(self.folder / f"{name}.{kind}")

    def make_key(self, name):
        openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", self.path(name, "key"))

    def issue(self, name, subject, names=""):
        self.make_key(name)
        openssl("req", "-new", "-key", self.path(name, "key"), "-subj", subject, "-out", self.path(name, "csr"))
        (self.folder / f"{name}.ext").write_text(
            "keyUsage=digitalSignature\nextendedKeyUsage=clientAuth,serverAuth\n"
            + (f"subjectAltName={names}\n" if names else ""))
        openssl("x509", "-req", "-in", self.path(name, "csr"), "-CA", self.path("ca", "crt"), "-CAkey",
                self.path("ca", "key"), "-CAcreateserial", "-days", "2", "-extfile", self.path(name, "ext"), "-out",
                self.path(name, "crt"))

    def kubeconfig(self, path, name):
        path.write_text(json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": "test",
            "clusters": [{"name": "test", "cluster": {"server": SERVER, "certificate-authority": self.path("ca", "crt")}}],
            "users": [{"name": name, "user": {"client-certificate": self.path(name, "crt"),
                                              "client-key": self.path(name, "key")}}],
            "contexts": [{"name": "test", "context": {"cluster": "test", "user": name}}]}, indent=1))


def write_certificates(state):
    made = Certificates(state / "pki")
    made.issue("apiserver", "/CN=kube-apiserver",
               f"IP:{NODE_ADDRESS},IP:127.0.0.1,IP:10.96.0.1,DNS:kubernetes.default.svc,DNS:localhost")
    made.issue("kubelet-server", f"/CN={NODE}", f"IP:{NODE_ADDRESS},DNS:{NODE}")
    made.issue("apiserver-kubelet-client", "/O=system:masters/CN=kube-apiserver-kubelet-client")
    users = {"admin": "/O=system:masters/CN=admin", "hone": "/CN=hone", "nobody": "/CN=nobody", "kubelet": f"/O=system:nodes/CN=system:node:{NODE}",
             "controller-manager": "/CN=system:kube-controller-manager", "scheduler": "/CN=system:kube-scheduler"}
    for name, subject in users.items():
        made.issue(name, subject)
        made.kubeconfig(state / f"{name}.conf", name)


def write_configuration(state, programs, cgroup):
    debian = programs / "debian"
    (state / "containerd.toml").write_text(f"""version = 2
root = "/var/lib/containerd"
state = "/run/containerd"
[grpc]
  address = "/run/containerd/containerd.sock"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "test.local/pause:1"
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "{debian}/usr/lib/cni"
    conf_dir = "{state}/cni"
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "overlayfs"
    default_runtime_name = "runc"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
        BinaryName = "{debian}/usr/sbin/runc"
        SystemdCgroup = false
""")
    (state / "cni").mkdir()
    (state / "cni/10-bridge.conflist").write_text(json.dumps({
        "cniVersion": "0.4.0", "name": "pods",
        "plugins": [{"type": "bridge", "bridge": "cni0", "isGateway": True,
                     "ipam": {"type": "host-local", "dataDir": "/run/cni-addresses", "ranges": [[{"subnet": POD_RANGE}]],
                              "routes": [{"dst": "0.0.0.0/0"}]}}]}))
    (state / "resolv.conf").write_text("nameserver 127.0.0.1\n")
    # What Hone requests, and nothing of what the cluster requests of itself.
    (state / "audit.json").write_text(json.dumps({
        "apiVersion": "audit.k8s.io/v1", "kind": "Policy", "omitStages": ["RequestReceived"],
        "rules": [{"level": "Metadata", "users": ["hone"]}, {"level": "None"}]}))
    write_stages(state)
    pki = state / "pki"
    (state / "kubelet.json").write_text(json.dumps({
        "apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration", "address": NODE_ADDRESS,
        "authentication": {"anonymous": {"enabled": False}, "webhook": {"enabled": True},
                           "x509": {"clientCAFile": str(pki / "ca.crt")}},
        "authorization": {"mode": "Webhook"},
        "tlsCertFile": str(pki / "kubelet-server.crt"), "tlsPrivateKeyFile": str(pki / "kubelet-server.key"),
        "containerRuntimeEndpoint": "unix:///run/containerd/containerd.sock",
        "cgroupDriver": "cgroupfs", "cgroupRoot": "/" + cgroup, "cgroupsPerQOS": True, "enforceNodeAllocatable": [],
        "failSwapOn": False, "makeIPTablesUtilChains": False, "oomScoreAdj": 0, "protectKernelDefaults": False,
        "clusterDNS": ["127.0.0.1"], "clusterDomain": "cluster.local", "resolvConf": str(state / "resolv.conf"),
        "evictionHard": {"memory.available": "50Mi", "nodefs.available": "1%", "imagefs.available": "1%",
                         "nodefs.inodesFree": "1%"},
        "imageGCHighThresholdPercent": 100, "maxPods": 200, "volumePluginDir": str(state / "volume-plugins"),
        "registerNode": True, "syncFrequency": "10s", "nodeStatusUpdateFrequency": "4s"}))


# Nodes with this label do not exist: kwok reports that they are ready, and that their pods run. A pod with this deadline ends a
# second later.
FAKE_LABEL, SHORT_DEADLINE = {"kind": "fake"}, 61
NODE_STATUS = """{{ $now := Now }}
addresses: [{type: InternalIP, address: %s}]
conditions: [{type: Ready, status: "True", reason: Fake, message: "there is no node", lastHeartbeatTime: {{ $now | Quote }},
              lastTransitionTime: {{ $now | Quote }}}]
allocatable: {cpu: "1000", memory: 1Ti, ephemeral-storage: 100Ti, pods: "1000"}
capacity: {cpu: "1000", memory: 1Ti, ephemeral-storage: 100Ti, pods: "1000"}
""" % NODE_ADDRESS
RUNNING_STATUS = """{{ $now := Now }}
phase: Running
startTime: {{ $now | Quote }}
conditions: [{type: Initialized, status: "True", lastTransitionTime: {{ $now | Quote }}},
             {type: Ready, status: "True", lastTransitionTime: {{ $now | Quote }}}]
containerStatuses:
{{ range .spec.containers }}
- {name: {{ .name | Quote }}, image: {{ .image | Quote }}, imageID: "", ready: true, started: true, restartCount: 0,
   state: {running: {startedAt: {{ $now | Quote }}}}}
{{ end }}
"""
ENDED_STATUS = """phase: Failed
reason: DeadlineExceeded
message: Pod was active on the node longer than the specified deadline
"""


def stage(name, kind, conditions, next_step, delay=0):
    matches = [{"key": key, "operator": operator, "values": values} for key, operator, values in conditions]
    return {"apiVersion": "kwok.x-k8s.io/v1alpha1", "kind": "Stage", "metadata": {"name": name},
            "spec": {"resourceRef": {"apiGroup": "v1", "kind": kind}, "selector": {"matchExpressions": matches},
                     "delay": {"durationMilliseconds": delay}, "next": next_step}}


def write_stages(state):
    stays = (".metadata.deletionTimestamp", "DoesNotExist", [])
    documents = [
        {"apiVersion": "config.kwok.x-k8s.io/v1alpha1", "kind": "KwokConfiguration",
         "options": {"manageAllNodes": False, "manageNodesWithAnnotationSelector": "", "cidr": "10.79.0.0/16",
                     "manageNodesWithLabelSelector": ",".join(f"{name}={value}" for name, value in FAKE_LABEL.items()),
                     "nodeIP": NODE_ADDRESS, "nodeLeaseDurationSeconds": 40}},
        stage("node-is-ready", "Node", [('.status.conditions[] | select(.type == "Ready") | .status', "NotIn", ["True"])],
              {"statusTemplate": NODE_STATUS}),
        stage("pod-runs", "Pod", [stays, (".status.phase", "In", ["Pending"])], {"statusTemplate": RUNNING_STATUS}),
        stage("pod-ends", "Pod", [stays, (".status.phase", "In", ["Running"]),
                                  (".spec.activeDeadlineSeconds | tostring", "In", [str(SHORT_DEADLINE)])],
              {"statusTemplate": ENDED_STATUS}, delay=1000),
        stage("pod-is-deleted", "Pod", [(".metadata.deletionTimestamp", "Exists", [])], {"delete": True})]
    (state / "kwok.yaml").write_text("\n---\n".join(json.dumps(document) for document in documents))


def daemons(state):
    """Name and command of each, in the order in which they are started; kwok only by the cases that need it."""
    pki = state / "pki"
    local = "http://127.0.0.1:2379"
    users = {name: str(state / f"{name}.conf") for name in ("controller-manager", "scheduler", "kubelet")}

    def three(name):
        return [f"--{kind}kubeconfig={users[name]}" for kind in ("", "authentication-", "authorization-")]

    return {
        "etcd": ["etcd", "--name", "n1", "--data-dir", f"{state}/etcd", "--unsafe-no-fsync", "--listen-client-urls", local,
                 "--advertise-client-urls", local, "--listen-peer-urls", "http://127.0.0.1:2380",
                 "--initial-advertise-peer-urls", "http://127.0.0.1:2380", "--initial-cluster", "n1=http://127.0.0.1:2380",
                 "--watch-progress-notify-interval=5s", "--log-level", "warn"],
        "containerd": ["containerd", "-c", f"{state}/containerd.toml"],
        "kube-apiserver": [
            "kube-apiserver", f"--etcd-servers={local}", f"--bind-address={NODE_ADDRESS}",
            f"--advertise-address={NODE_ADDRESS}", "--secure-port=6443", f"--tls-cert-file={pki}/apiserver.crt",
            f"--tls-private-key-file={pki}/apiserver.key", f"--client-ca-file={pki}/ca.crt",
            f"--kubelet-client-certificate={pki}/apiserver-kubelet-client.crt",
            f"--kubelet-client-key={pki}/apiserver-kubelet-client.key", f"--kubelet-certificate-authority={pki}/ca.crt",
            "--kubelet-preferred-address-types=InternalIP", "--service-account-issuer=https://kubernetes.default.svc",
            f"--service-account-signing-key-file={pki}/accounts.key", f"--service-account-key-file={pki}/accounts.pub",
            "--authorization-mode=Node,RBAC", "--enable-admission-plugins=NodeRestriction", "--allow-privileged=true",
            f"--service-cluster-ip-range={SERVICE_RANGE}", "--anonymous-auth=false",
            f"--audit-policy-file={state}/audit.json", f"--audit-log-path={state}/audit.log",
            f"--requestheader-client-ca-file={pki}/front-ca.crt", "--requestheader-allowed-names=front-proxy",
            "--requestheader-username-headers=X-Remote-User", "--requestheader-group-headers=X-Remote-Group",
            "--requestheader-extra-headers-prefix=X-Remote-Extra-"],
        "kube-controller-manager": [
            "kube-controller-manager", *three("controller-manager"), f"--root-ca-file={pki}/ca.crt",
            f"--service-account-private-key-file={pki}/accounts.key", "--use-service-account-credentials",
            "--leader-elect=false", "--bind-address=127.0.0.1", f"--flex-volume-plugin-dir={state}/volume-plugins"],
        "kube-scheduler": ["kube-scheduler", *three("scheduler"), "--leader-elect=false", "--bind-address=127.0.0.1"],
        "kubelet": ["kubelet", f"--config={state}/kubelet.json", f"--kubeconfig={users['kubelet']}",
                    f"--hostname-override={NODE}", f"--node-ip={NODE_ADDRESS}", "--root-dir=/var/lib/kubelet"],
        "kwok": [str(built.place_of_kwok()), f"--config={state}/kwok.yaml", f"--kubeconfig={state}/admin.conf"],
    }
