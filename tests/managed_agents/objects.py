"""Agents, environments, vaults and files of the scripted Managed Agents API: shapes and limits as in the vendor's SDK."""
import datetime
import random
import re
import threading
import time

ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
TOOLSET = "agent_toolset_20260401"
NETWORK_DEFAULTS = {"type": "limited", "allowed_hosts": [], "allow_package_managers": False, "allow_mcp_servers": False}
PACKAGE_MANAGERS = ("apt", "cargo", "gem", "go", "npm", "pip")


class Refused(Exception):
    """An error response in the vendor's envelope."""

    def __init__(self, status, message, kind="", details=None, headers=None):
        super().__init__(message)
        kinds = {400: "invalid_request_error", 401: "authentication_error", 403: "permission_error", 404: "not_found_error",
                 409: "invalid_request_error", 412: "invalid_request_error", 413: "request_too_large", 429: "rate_limit_error",
                 529: "overloaded_error"}
        self.status, self.headers = status, headers or {}
        self.error = {"type": kind or kinds.get(status, "api_error"), "message": message}
        if details:
            self.error["details"] = details


def need(condition, message):
    if not condition:
        raise Refused(400, message)


def text_of_time(seconds):
    """Milliseconds only, so that several events share one time."""
    return datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"


def now():
    return text_of_time(time.time())


class Ids:
    def __init__(self, seed):
        self.random, self.lock = random.Random(seed), threading.Lock()

    def make(self, prefix):
        with self.lock:
            return prefix + "_01" + "".join(self.random.choice(ALPHABET) for _ in range(22))


def check_metadata(metadata):
    need(isinstance(metadata, dict) and len(metadata) <= 16, "metadata: at most 16 pairs")
    for key, value in metadata.items():
        need(1 <= len(key) <= 64 and isinstance(value, str) and len(value) <= 512, f"metadata.{key}: 64 and 512 characters")
    return dict(metadata)


def patched(metadata, patch):
    """A patch sets keys to texts, and removes those set to null."""
    merged = metadata | {key: value for key, value in (patch or {}).items() if value is not None}
    return check_metadata({key: value for key, value in merged.items() if (patch or {}).get(key, "") is not None})


def model_of(model):
    config = {"id": model} if isinstance(model, str) else dict(model or {})
    need(isinstance(config.get("id"), str) and config["id"], "model: field required")
    if isinstance(config.get("effort"), str):
        config["effort"] = {"type": config["effort"]}
    return {key: value for key, value in config.items() if value is not None}


def tool_of(tool):
    kind = tool.get("type")
    if kind == "custom":
        need(re.fullmatch(r"[a-zA-Z0-9_-]{1,128}", tool.get("name", "")), "tools: the name of a custom tool is invalid")
        need(tool.get("description") and tool.get("input_schema", {}).get("type") == "object", "tools: description and input_schema")
        return {key: tool[key] for key in ("type", "name", "description", "input_schema")}
    need(kind in (TOOLSET, "mcp_toolset"), f"tools: unknown type {kind}")
    policy = {"enabled": True, "permission_policy": {"type": "always_allow"}} | (tool.get("default_config") or {})
    configs = [policy | {"type": config["name"]} | config for config in tool.get("configs") or []]
    return {key: value for key, value in tool.items() if key == "mcp_server_name"} | {
        "type": kind, "default_config": policy, "configs": configs}


def tools_of(tools):
    need(len(tools) <= 256, "tools: at most 256")
    made = [tool_of(tool) for tool in tools]
    names = [tool["name"] for tool in made if tool["type"] == "custom"]
    need(len(set(names)) == len(names), "tools: two custom tools with one name")
    return made


def config_of(config):
    config = config or {"type": "cloud"}
    if config.get("type") == "self_hosted":
        return {"type": "self_hosted"}
    need(config.get("type") == "cloud", "config: cloud or self_hosted")
    network = config.get("networking") or {"type": "unrestricted"}
    need(network.get("type") in ("unrestricted", "limited"), "config.networking: unrestricted or limited")
    if network["type"] == "limited":
        network = NETWORK_DEFAULTS | {key: value for key, value in network.items() if value is not None}
    packages = {manager: (config.get("packages") or {}).get(manager) or [] for manager in PACKAGE_MANAGERS}
    return {"type": "cloud", "networking": network, "packages": packages | {"type": "packages"}}


class Catalog:
    """Objects that are no sessions. Methods raise Refused; the caller has the server's lock."""

    def __init__(self, ids):
        self.ids = ids
        self.agents, self.environments, self.vaults, self.files = {}, {}, {}, {}
        self.secrets = {}  # of credentials, by id: written, never returned

    def find(self, kind, id):
        objects = getattr(self, kind + "s")
        if id not in objects:
            raise Refused(404, f"{kind} not found: {id}", details={"error_code": "environment_not_found"} if kind == "environment" else None)
        return objects[id]

    # --- agents: versions are never changed ---------------------------------------------------------------------------

    def put_agent(self, body, id=None):
        versions = self.find("agent", id) if id else []
        last = versions[-1] if versions else None
        need(not last or not last["archived_at"], "the agent is archived")
        if last and body.get("version") not in (None, last["version"]):
            raise Refused(409, f"the current version of the agent is {last['version']}")
        old = last or {"description": None, "system": None, "tools": [], "mcp_servers": [], "skills": [], "metadata": {}, "multiagent": None}
        need(body.get("name", old.get("name")), "name: field required")
        system = body.get("system", old["system"]) or None
        need(len(system or "") <= 100_000, "system: at most 100000 characters")
        tools = tools_of(body["tools"] or []) if "tools" in body else old["tools"]
        servers = (body["mcp_servers"] or []) if "mcp_servers" in body else old["mcp_servers"]
        skills = (body["skills"] or []) if "skills" in body else old["skills"]
        need(len(servers) <= 20 and len(skills) <= 20, "mcp_servers and skills: at most 20 each")
        used = {tool.get("mcp_server_name") for tool in tools if tool["type"] == "mcp_toolset"}
        need({server["name"] for server in servers} == used, "mcp_servers: each needs an mcp_toolset, and the reverse")
        made = {"id": id or self.ids.make("agent"), "type": "agent", "version": len(versions) + 1, "archived_at": None,
                "name": body.get("name", old.get("name")), "description": body.get("description", old["description"]),
                "model": model_of(body["model"]) if "model" in body else model_of(old.get("model")), "system": system,
                "tools": tools, "mcp_servers": servers, "skills": skills, "multiagent": body.get("multiagent", old["multiagent"]),
                "execution_identity": {"type": "service_account"}, "metadata": patched(old["metadata"], body.get("metadata")),
                "created_at": last["created_at"] if last else now(), "updated_at": now()}
        same = last and all(made[key] == last[key] for key in made if key not in ("version", "updated_at"))
        if same:
            return last  # a change without an effect makes no version
        self.agents[made["id"]] = versions + [made]
        return made

    def agent(self, reference):
        """The version that a session names: an id, an id with a version, or an id with overrides."""
        if isinstance(reference, str):
            reference = {"type": "agent", "id": reference}
        versions = self.find("agent", reference.get("id"))
        version = reference.get("version") or len(versions)
        if not 1 <= version <= len(versions):
            raise Refused(404, f"the agent has no version {version}")
        made = dict(versions[version - 1])
        need(not versions[-1]["archived_at"], "the agent is archived")
        if reference.get("type") == "agent_with_overrides":
            given = {key: reference[key] for key in ("system", "mcp_servers", "skills") if key in reference}
            made |= given | ({"tools": tools_of(reference["tools"])} if "tools" in reference else {})
            made |= {"model": model_of(reference["model"])} if "model" in reference else {}
        kept = ("id", "type", "version", "name", "description", "model", "system", "tools", "mcp_servers", "skills", "multiagent",
                "execution_identity")
        return {key: made[key] for key in kept}

    # --- environments: names are unique -------------------------------------------------------------------------------

    def put_environment(self, body, id=None):
        old = self.find("environment", id) if id else None
        need(not old or not old["archived_at"], "the environment is archived")
        name = body.get("name") or (old or {}).get("name")
        need(name, "name: field required")
        if any(other["name"] == name and other is not old and not other["archived_at"] for other in self.environments.values()):
            raise Refused(409, f"an environment named {name} exists")
        config = config_of(body.get("config")) if body.get("config") or not old else old["config"]
        if old and config["type"] != old["config"]["type"]:
            raise Refused(400, "the type of an environment cannot change", details={"error_code": "invalid_config_type_change"})
        made = {"id": id or self.ids.make("env"), "type": "environment", "name": name, "config": config, "archived_at": None,
                "description": body.get("description", (old or {}).get("description")),
                "metadata": patched((old or {}).get("metadata", {}), body.get("metadata")), "scope": "organization",
                "created_at": old["created_at"] if old else now(), "updated_at": now()}
        self.environments[made["id"]] = made
        return made

    # --- vaults: a secret goes in and never out -------------------------------------------------------------------------

    def put_vault(self, body, id=None):
        old = self.find("vault", id) if id else None
        made = {"id": id or self.ids.make("vlt"), "type": "vault", "display_name": body.get("display_name") or (old or {}).get("display_name"),
                "metadata": patched((old or {}).get("metadata", {}), body.get("metadata")), "archived_at": None,
                "created_at": old["created_at"] if old else now(), "updated_at": now()}
        need(made["display_name"], "display_name: field required")
        self.vaults[made["id"]] = made | {"credentials": (old or {}).get("credentials", {})}
        return made

    def add_credential(self, vault_id, body):
        vault, auth = self.find("vault", vault_id), dict(body.get("auth") or {})
        kinds = {"environment_variable": "secret_value", "static_bearer": "token", "mcp_oauth": "access_token"}
        need(auth.get("type") in kinds, "auth.type: unknown")
        secret = auth.pop(kinds[auth["type"]], None)
        need(secret, f"auth.{kinds[auth['type']]}: field required")
        if auth["type"] == "environment_variable":
            network = auth.get("networking") or {}
            hosts = network.get("allowed_hosts", [])
            need(re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", auth.get("secret_name", "")), "auth.secret_name: not the name of a variable")
            need(network.get("type") == "unrestricted" or (network.get("type") == "limited" and 1 <= len(hosts) <= 16),
                 "auth.networking: unrestricted, or limited to 1 to 16 hosts")
            need(all(re.fullmatch(r"(\*\.)?[A-Za-z0-9.-]+", host) for host in hosts), "allowed_hosts: no ports and no paths")
            need(all(other["auth"].get("secret_name") != auth["secret_name"] for other in vault["credentials"].values()),
                 "auth.secret_name: used in this vault")
            auth["injection_location"] = {"header": True, "body": False} | (auth.get("injection_location") or {})
        made = {"id": self.ids.make("vcrd"), "type": "vault_credential", "vault_id": vault_id, "auth": auth, "archived_at": None,
                "display_name": body.get("display_name"), "metadata": check_metadata(body.get("metadata", {})),
                "created_at": now(), "updated_at": now()}
        vault["credentials"][made["id"]] = made
        self.secrets[made["id"]] = secret
        return made

    def delete_credential(self, vault_id, id):
        if self.find("vault", vault_id)["credentials"].pop(id, None) is None:
            raise Refused(404, f"credential not found: {id}")
        self.secrets.pop(id, None)
        return {"id": id, "type": "vault_credential_deleted"}

    def delete_vault(self, id):
        for credential in list(self.find("vault", id)["credentials"]):
            self.delete_credential(id, credential)
        del self.vaults[id]
        return {"id": id, "type": "vault_deleted"}

    # --- files --------------------------------------------------------------------------------------------------------

    def add_file(self, name, content, kind="application/octet-stream", scope=None, visible_at=0.0, expires_in=None):
        need(expires_in is None or 3600 <= expires_in <= 90 * 86400, "expires_in_seconds: 1 hour to 90 days")
        made = {"id": self.ids.make("file"), "type": "file", "filename": name, "mime_type": kind, "size_bytes": len(content),
                "created_at": now(), "downloadable": scope is not None, "scope": {"type": "session", "id": scope} if scope else None,
                "expires_at": text_of_time(time.time() + expires_in) if expires_in else None}
        self.files[made["id"]] = {"metadata": made, "content": content, "visible_at": visible_at}
        return made
