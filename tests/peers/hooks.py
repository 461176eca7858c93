"""What Schemathesis is told about this server: which ids exist, and which it must leave alone.

tests/peers/run.py names both in the variable HONE_PEERS, as JSON.
"""

import json
import os
import zlib

import schemathesis
from schemathesis.core.parameters import ParameterLocation

told = json.loads(os.environ["HONE_PEERS"])
IDS = told["ids"]  # name of a path parameter -> ids of things that exist
KEPT = told["kept"]  # name -> id without which the run would talk as nobody
REMOVING = ("DELETE", "PATCH", "POST", "PUT")


@schemathesis.hook
def before_call(context, case, kwargs):
    """Every second generated path leads to something that exists; the others are left as they were generated."""
    parameters = case.path_parameters
    if not parameters or case.meta is None:
        return
    known = not case.meta.is_negative_at(ParameterLocation.PATH)
    for name in list(parameters):
        dice = zlib.crc32(f"{case.operation.label} {name} {parameters[name]!r}".encode())
        choices = IDS.get(name, [])
        is_kept = parameters[name] == KEPT.get(name) and case.method.upper() in REMOVING
        if choices and (is_kept or (known and dice % 2 == 0)):
            parameters[name] = choices[dice // 2 % len(choices)]
