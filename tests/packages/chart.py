"""The Helm chart, rendered and compared with Kubernetes' own types, with what the server needs, and with the documents. No
cluster is needed: helm and the types are built once, from the Go module proxy, into a cache folder."""

import json
import os
import pathlib
import re
import shutil
import tempfile

from machine import run

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
HERE = pathlib.Path(__file__).resolve().parent
CHART = ROOT / "packaging/helm/hone"
HELM = "v3.16.4"

WORKERS = "workers.enabled=true,workers.image=registry.example.com/worker:1"
SEVERAL = "replicas=3,databaseSecret=db,masterKeySecret=mk,clickhouse.url=https://spans.example.com:8443,clickhouse.secret=ch," \
    "objectStore.url=s3://bucket/hone,objectStore.secret=s3"
EVERYTHING = f"{WORKERS},{SEVERAL},ingress.enabled=true,ingress.host=hone.example.com,ingress.tlsSecret=tls,ingress.className=nginx," \
    "ingress.annotations.a=b,adminPasswordSecret=pw,publicUrl=https://hone.example.com,persistence.storageClassName=fast," \
    "env.HONE_LOG_LEVEL=debug,envSecret=more,imagePullSecrets[0].name=pull,nodeSelector.disk=ssd,podAnnotations.a=b," \
    "workers.runtimeClass=gvisor,workers.storageClass=default,workers.podUser=user_namespace,workers.namespace=runs,networkPolicy.from[0].podSelector.matchLabels.a=b," \
    "tolerations[0].key=a,affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight=1," \
    "affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].preference.matchExpressions[0].key=a," \
    "affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].preference.matchExpressions[0].operator=Exists"
REFUSED = ("ingress.enabled=true", "image.tag=", "service.httpPort=0", "env.PATH=x", "typo=1", "workers.enabled=true", "replicas=2", "replicas=0",
           "env.HONE_LOG_LEVLE=debug", "env.HONE_LISTEN=0.0.0.0:1", "env.HONE_SMTP_PASSWORD=x", "env.HONE_DATABASE_URL=postgres://a",
           f"{WORKERS},workers.podUser=root", "clickhouse.url=https://user:password@host", "persistence.size=lots", "databaseSecret=a b",
           f"{SEVERAL},databaseSecret=", f"{SEVERAL},masterKeySecret=", f"{SEVERAL},clickhouse.url=")


def helm():
    if found := shutil.which("helm"):
        return found
    place = pathlib.Path.home() / f".cache/hone/helm-{HELM[1:]}"
    if not (place / "helm").exists():
        run("go", "install", f"helm.sh/helm/v3/cmd/helm@{HELM}", env=os.environ | {"GOBIN": str(place)}, timeout=1800)
    return place / "helm"


def rendered(values="", *words, chart=CHART, **more):
    chosen = ["--set", values] if values else []
    return run(helm(), "template", "--kube-version", "1.31", "--namespace", "here", "hone", chart, *chosen, *words, **more)


def objects(text, check=True):
    """Each object as Kubernetes decodes it: a field that its type does not have is an error."""
    done = run("go", "run", ".", cwd=HERE / "objects", input=text, timeout=900, check=check)
    return {(one["kind"], one["metadata"]["name"]): one for one in map(json.loads, done.stdout.splitlines())} if check else done


def pod_of(found):
    return found["StatefulSet", "hone"]["spec"]["template"]["spec"]


def check_kinds():
    always = {("ServiceAccount", "hone"), ("Service", "hone"), ("StatefulSet", "hone"), ("NetworkPolicy", "hone")}
    workers = {("NetworkPolicy", "workers-deny-all"), ("Role", "hone"), ("RoleBinding", "hone"), ("ResourceQuota", "hone")}
    plain = rendered().stdout
    assert objects(plain).keys() == always
    assert objects(rendered(WORKERS).stdout).keys() == always | workers | {("Namespace", "hone-workers")}
    assert objects(rendered(f"{WORKERS},workers.createNamespace=false,workers.quota=null").stdout).keys() == always | workers - {("ResourceQuota", "hone")}
    assert objects(rendered("networkPolicy.enabled=false").stdout).keys() == always - {("NetworkPolicy", "hone")}
    everything = objects(rendered(EVERYTHING).stdout)
    assert everything.keys() == always | workers | {("Namespace", "runs"), ("Ingress", "hone"), ("PodDisruptionBudget", "hone")}
    broken = objects(plain.replace("containerPort", "containerDoor"), check=False)
    assert broken.returncode != 0 and "containerDoor" in broken.stderr, broken
    return everything


def check_security():
    """The restricted pod security standard, unless sandboxes in the pod are wanted: then what they need, and no more."""
    pod = pod_of(objects(rendered(EVERYTHING).stdout))
    container, = pod["containers"]
    assert pod["securityContext"]["runAsNonRoot"] and pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert container["securityContext"] == {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}}
    assert not {"hostNetwork", "hostPID", "hostIPC", "hostUsers", "initContainers"} & pod.keys()
    assert {kind for volume in pod["volumes"] for kind in volume if kind != "name"} == {"emptyDir", "secret"}
    assert pod["enableServiceLinks"] is False, "a Service named hone would set HONE_PORT"
    assert pod["automountServiceAccountToken"] is True and pod_of(objects(rendered().stdout))["automountServiceAccountToken"] is False
    opened = pod_of(objects(rendered(f"{EVERYTHING},localSandboxes=true").stdout))
    assert opened.pop("hostUsers") is False
    assert opened["securityContext"].pop("seccompProfile") == {"type": "Unconfined"} and pod["securityContext"].pop("seccompProfile")
    context = opened["containers"][0]["securityContext"]
    assert context.pop("procMount") == "Unmasked" and context.pop("appArmorProfile") == {"type": "Unconfined"}
    assert opened == pod


def check_settings():
    """Every variable is a setting that docs/config.md lists, set once; what is secret comes from a Secret."""
    settings = set(re.findall(r"`(HONE_[A-Z0-9_]+)`", (ROOT / "docs/config.md").read_text()))
    container, = pod_of(objects(rendered(EVERYTHING).stdout))["containers"]
    names = [variable["name"] for variable in container["env"]]
    assert len(names) == len(set(names)) and len(names) > 12, names
    unknown = set(names) - settings - {"HONE_ADMIN_PASSWORD", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"}
    assert not unknown, unknown
    secret = {variable["name"] for variable in container["env"] if "secretKeyRef" in variable.get("valueFrom", {})}
    assert secret == {"HONE_ADMIN_PASSWORD", "HONE_DATABASE_URL", "HONE_CLICKHOUSE_USER", "HONE_CLICKHOUSE_PASSWORD", "AWS_ACCESS_KEY_ID",
                      "AWS_SECRET_ACCESS_KEY"}, secret
    assert container["envFrom"] == [{"secretRef": {"name": "more"}}]
    image = re.findall(r"HONE_[A-Z_]+(?==)", (ROOT / "tools/package.py").read_text())
    assert set(image) <= settings and not set(image) & set(names), "the image sets these itself"


def check_rights(found):
    """The role has what `hone check` verifies, and nothing else; the network of workers is what docs/providers.md shows."""
    source = (ROOT / "src/kubernetes/provider/cluster_check.cpp").read_text()
    tables = dict(re.findall(r"constexpr Right (\w+)\[\] = \{(.*?)\n\};", source, re.S))
    needed = {name: {(verb, resource + ("/" + part if part else ""), group)
                     for verb, resource, part, group in re.findall(r'\{"(\w+)", "(\w+)", "(\w*)", "([\w.]*)"\}', table)}
              for name, table in tables.items()}
    rules = lambda role: {(verb, resource, group) for rule in role["rules"] for verb in rule["verbs"] for resource in rule["resources"]
                          for group in rule["apiGroups"]}
    assert {name: len(table) for name, table in needed.items()} == {"rights": 10, "volume_rights": 4}, needed
    role = found["Role", "hone"]
    assert rules(role) == needed["rights"] | needed["volume_rights"], rules(role)
    # Volumes of sessions are a choice, and so are the rights to make them.
    plain = objects(rendered(WORKERS).stdout)
    assert rules(plain["Role", "hone"]) == needed["rights"], rules(plain["Role", "hone"])
    assert "HONE_KUBERNETES_STORAGE_CLASS" not in {variable["name"] for variable in pod_of(plain)["containers"][0]["env"]}
    binding = found["RoleBinding", "hone"]
    assert binding["subjects"] == [{"kind": "ServiceAccount", "name": "hone", "namespace": "here"}]
    policy = found["NetworkPolicy", "workers-deny-all"]
    shown = re.search(r"```yaml\n(apiVersion: networking.*?)```", (ROOT / "docs/providers.md").read_text(), re.S).group(1)
    assert policy["spec"] == objects(shown)["NetworkPolicy", "workers-deny-all"]["spec"]
    assert policy["spec"] == {"podSelector": {"matchLabels": {"hone/role": "worker"}}, "policyTypes": ["Ingress", "Egress"]}
    assert {one["metadata"]["namespace"] for one in (role, binding, policy, found["ResourceQuota", "hone"])} == {"runs"}
    assert found["Namespace", "runs"]["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "restricted"


def check_network(found):
    ports = {port["name"]: port["containerPort"] for port in pod_of(found)["containers"][0]["ports"]}
    assert {port["targetPort"] for port in found["Service", "hone"]["spec"]["ports"]} == set(ports)
    exposed = re.search(r'"ExposedPorts": (\{.*?\}\})', (ROOT / "tools/package.py").read_text()).group(1)
    assert {int(port.removesuffix("/tcp")) for port in json.loads(exposed)} == set(ports.values())
    assert {port["port"] for port in found["NetworkPolicy", "hone"]["spec"]["ingress"][0]["ports"]} == set(ports)
    backend = found["Ingress", "hone"]["spec"]["rules"][0]["http"]["paths"][0]["backend"]["service"]
    assert backend == {"name": "hone", "port": {"name": "http"}}


def leaves(values, path=()):
    for name, value in values.items():
        if isinstance(value, dict) and value:
            yield from leaves(value, (*path, name))
        else:
            yield ".".join((*path, name))


def check_values():
    """Every value is used and described; wrong ones are refused."""
    values = json.loads(run("go", "run", ".", "values", cwd=HERE / "objects", input=(CHART / "values.yaml").read_text(), timeout=900).stdout)
    templates = "".join(path.read_text() for path in (CHART / "templates").iterdir())
    described = (ROOT / "docs/install.md").read_text().split("## Kubernetes")[1]
    schema = json.loads((CHART / "values.schema.json").read_text())
    assert values.keys() == schema["properties"].keys() - {"global"}
    for name in leaves(values):
        parts = name.split(".")
        assert any(re.search(rf"\.Values\.{re.escape('.'.join(parts[:count]))}\b(?!\.)", templates) for count in range(1, len(parts) + 1)), f"nothing uses {name}"
        assert f"`{name.split('.')[0]}" in described, f"docs/install.md does not name {name.split('.')[0]}"
    for wrong in REFUSED:
        assert rendered(wrong, check=False).returncode != 0, f"the chart takes {wrong}"
    for given in ("localSandboxes=true", "service.type=NodePort", "env.HONE_LOG_LEVEL=debug", f"{SEVERAL},env.HONE_ROLES=api"):
        assert objects(rendered(given).stdout)


def check_notes():
    """What `helm install` prints. `helm template` leaves it out, so that it is rendered as an object here."""
    with tempfile.TemporaryDirectory() as folder:
        chart = pathlib.Path(folder, "hone")
        shutil.copytree(CHART, chart)
        notes = (chart / "templates/NOTES.txt").read_text()
        (chart / "templates/_notes.tpl").write_text('{{- define "notes" -}}' + notes + "{{- end -}}")
        (chart / "templates/notes.yaml").write_text('kind: Notes\nnotes: {{ include "notes" . | quote }}\n')
        shown = lambda values: rendered(values, "--show-only", "templates/notes.yaml", chart=chart).stdout
        plain = shown("publicUrl=")
        full = shown(f"{EVERYTHING},localSandboxes=true")
    for part in ("logs hone-0", "port-forward service/hone 7070:7070", "localSandboxes=true", "publicUrl is not set"):
        assert part in plain and part not in full, (part, plain, full)
    for part in ("the Secret pw", "https://hone.example.com", "namespace runs", "hone check"):
        assert part in full and part not in plain, (part, plain, full)


def check_chart():
    run(helm(), "lint", "--strict", CHART)
    everything = check_kinds()
    check_security()
    check_settings()
    check_rights(everything)
    check_network(everything)
    check_values()
    check_notes()
    return len(everything)
