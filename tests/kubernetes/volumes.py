"""Volumes for the claims of threads: folders of the node, made by hand as an operator would. Their owner gives them to whom
the pod's fsGroup names."""

import json

import configuration

CLASS = "local"


def create(bench, count):
    made = {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": CLASS},
            "provisioner": "kubernetes.io/no-provisioner", "volumeBindingMode": "WaitForFirstConsumer"}
    bench.must("post", "/apis/storage.k8s.io/v1/storageclasses", given=json.dumps(made).encode())
    terms = [{"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": [configuration.NODE]}]}]
    for number in range(count):
        folder = bench.cluster.state / "volumes" / str(number)
        folder.mkdir(parents=True)
        volume = {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": f"volume-{number}"},
                  "spec": {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "storageClassName": CLASS,
                           "persistentVolumeReclaimPolicy": "Retain", "local": {"path": str(folder)},
                           "nodeAffinity": {"required": {"nodeSelectorTerms": terms}}}}
        bench.must("post", "/api/v1/persistentvolumes", given=json.dumps(volume).encode())
