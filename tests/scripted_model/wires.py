"""The four wire formats a scripted answer is told in. Each class reads a request (how many answers were given so far,
which tools are offered) and writes an Answer, whole or as a list of frames. A frame is (bytes, told): `told` is the
Usage that a client knows once it has read the frame, or None when the frame says nothing about tokens."""
import json
import secrets


class Usage:
    """Tokens in buckets that never overlap."""
    NAMES = ("input", "cache_read", "cache_write", "output", "reasoning")

    def __init__(self, **counts):
        for name in self.NAMES:
            setattr(self, name, int(counts.get(name, 0)))

    def with_(self, **counts):
        return Usage(**dict(self.as_dict(), **counts))

    def as_dict(self):
        return {name: getattr(self, name) for name in self.NAMES}

    @property
    def prompt(self):
        return self.input + self.cache_read + self.cache_write

    @property
    def completion(self):
        return self.output + self.reasoning


class Answer:
    def __init__(self, text="", thought="", calls=(), usage=None, pieces=2):
        self.text, self.thought, self.calls, self.usage, self.pieces = text, thought, list(calls), usage, pieces

    def split(self, text):
        """The text in `pieces` parts, as a model streams it."""
        size = max(1, -(-len(text) // self.pieces))
        return [text[i:i + size] for i in range(0, len(text), size)]


class Tool:
    def __init__(self, name, schema=None, namespace=None):
        self.name, self.schema, self.namespace = name, schema or {}, namespace


def new_id(kind):
    return kind + "_" + secrets.token_hex(8)


def plain_text(content):
    if isinstance(content, str):
        return content
    return "".join(part.get("text") or "" for part in content or [] if isinstance(part, dict))


def turns(speakers):
    """Answers given so far: neighbouring parts of one speaker are one turn."""
    count, before = 0, None
    for speaker in speakers:
        count += speaker == "model" and before != "model"
        before = speaker
    return count


def event(data, name=None, end="\n"):
    head = "event: " + name + end if name else ""
    return (head + "data: " + (data if isinstance(data, str) else json.dumps(data)) + end + end).encode()


class Messages:
    """Anthropic's Messages."""
    api = "messages"

    @staticmethod
    def read(request):
        done = turns("model" if m.get("role") == "assistant" else "user" for m in request.get("messages", [])
                     if m.get("role") != "system")
        return done, [Tool(t["name"], t.get("input_schema")) for t in request.get("tools") or [] if "name" in t]

    @staticmethod
    def usage(told):
        return {"input_tokens": told.input, "cache_creation_input_tokens": told.cache_write,
                "cache_read_input_tokens": told.cache_read, "output_tokens": told.completion}

    @classmethod
    def told(cls, usage):
        return usage.with_(output=usage.completion, reasoning=0)  # this format has no number for thinking

    @classmethod
    def whole(cls, request, answer):
        content = [{"type": "thinking", "thinking": answer.thought, "signature": "c2ln"}] if answer.thought else []
        content += [{"type": "text", "text": answer.text}] if answer.text else []
        content += [{"type": "tool_use", "id": new_id("toolu"), "name": tool.name, "input": arguments}
                    for tool, arguments in answer.calls]
        return {"id": new_id("msg"), "type": "message", "role": "assistant", "model": request.get("model"),
                "content": content, "stop_reason": "tool_use" if answer.calls else "end_turn", "stop_sequence": None,
                "usage": cls.usage(answer.usage)}

    @classmethod
    def stream(cls, request, answer):
        def say(data, told=None):
            return event(data, data["type"]), told

        message = cls.whole(request, answer)
        first = answer.usage.with_(output=1, reasoning=0)
        frames = [say({"type": "message_start", "message": dict(
            message, content=[], stop_reason=None, usage=cls.usage(first))}, first), say({"type": "ping"})]
        for index, block in enumerate(message["content"]):
            if block["type"] == "thinking":
                empty = dict(block, thinking="", signature="")
                deltas = [{"type": "thinking_delta", "thinking": t} for t in answer.split(block["thinking"])]
                deltas.append({"type": "signature_delta", "signature": block["signature"]})
            elif block["type"] == "text":
                empty = dict(block, text="")
                deltas = [{"type": "text_delta", "text": t} for t in answer.split(block["text"])]
            else:
                empty = dict(block, input={})
                deltas = [{"type": "input_json_delta", "partial_json": t}
                          for t in answer.split(json.dumps(block["input"]))]
            frames.append(say({"type": "content_block_start", "index": index, "content_block": empty}))
            frames += [say({"type": "content_block_delta", "index": index, "delta": d}) for d in deltas]
            frames.append(say({"type": "content_block_stop", "index": index}))
        last = {"type": "message_delta", "delta": {"stop_reason": message["stop_reason"], "stop_sequence": None},
                "usage": {"output_tokens": answer.usage.completion}}
        return frames + [say(last, cls.told(answer.usage)), say({"type": "message_stop"})]

    @staticmethod
    def error(status, text):
        kind = {400: "invalid_request_error", 401: "authentication_error", 429: "rate_limit_error",
                529: "overloaded_error"}.get(status, "api_error")
        return {"type": "error", "error": {"type": kind, "message": text}, "request_id": new_id("req")}


class Responses:
    """OpenAI's Responses."""
    api = "responses"

    @staticmethod
    def read(request):
        tools = []
        for tool in request.get("tools") or []:
            if tool.get("type") == "namespace":
                tools += [Tool(t["name"], t.get("parameters"), tool["name"]) for t in tool.get("tools", [])]
            elif "name" in tool:
                tools.append(Tool(tool["name"], tool.get("parameters")))
        items = request.get("input")
        items = items if isinstance(items, list) else []
        mine = ("reasoning", "function_call", "custom_tool_call", "local_shell_call")
        return turns("model" if i.get("role") == "assistant" or i.get("type") in mine else "user"
                     for i in items), tools

    @staticmethod
    def told(usage):
        return usage.with_(input=usage.input + usage.cache_write, cache_write=0)  # no number for cache writes

    @classmethod
    def whole(cls, request, answer):
        output = []
        if answer.thought:
            output.append({"type": "reasoning", "id": new_id("rs"), "encrypted_content": "c2NyaXB0",
                           "summary": [{"type": "summary_text", "text": answer.thought}]})
        if answer.text:
            output.append({"type": "message", "id": new_id("msg"), "role": "assistant", "status": "completed",
                           "content": [{"type": "output_text", "text": answer.text, "annotations": []}]})
        for tool, arguments in answer.calls:
            call = {"type": "function_call", "id": new_id("fc"), "call_id": new_id("call"), "name": tool.name,
                    "arguments": json.dumps(arguments), "status": "completed"}
            output.append(dict(call, namespace=tool.namespace) if tool.namespace else call)
        usage = answer.usage
        return {"id": new_id("resp"), "object": "response", "created_at": 1700000000, "status": "completed",
                "model": request.get("model"), "output": output,
                "usage": {"input_tokens": usage.prompt, "input_tokens_details": {"cached_tokens": usage.cache_read},
                          "output_tokens": usage.completion,
                          "output_tokens_details": {"reasoning_tokens": usage.reasoning},
                          "total_tokens": usage.prompt + usage.completion}}

    @classmethod
    def stream(cls, request, answer):
        response, frames = cls.whole(request, answer), []

        def say(data, told=None):
            frames.append((event(dict(data, sequence_number=len(frames)), data["type"]), told))

        say({"type": "response.created", "response": dict(response, output=[], status="in_progress", usage=None)})
        for index, item in enumerate(response["output"]):
            at = {"output_index": index, "item_id": item["id"]}
            if item["type"] == "message":
                say({"type": "response.output_item.added", "output_index": index, "item": dict(item, content=[])})
                for text in answer.split(answer.text):
                    say(dict(at, type="response.output_text.delta", content_index=0, delta=text))
                say(dict(at, type="response.output_text.done", content_index=0, text=answer.text))
            elif item["type"] == "function_call":
                say({"type": "response.output_item.added", "output_index": index, "item": dict(item, arguments="")})
                for text in answer.split(item["arguments"]):
                    say(dict(at, type="response.function_call_arguments.delta", delta=text))
                say(dict(at, type="response.function_call_arguments.done", arguments=item["arguments"]))
            else:
                say({"type": "response.output_item.added", "output_index": index, "item": dict(item, summary=[])})
            say({"type": "response.output_item.done", "output_index": index, "item": item})
        say({"type": "response.completed", "response": response}, cls.told(answer.usage))
        return frames

    @staticmethod
    def error(status, text):
        kind = {400: "invalid_request_error", 401: "authentication_error", 429: "rate_limit_exceeded"}
        return {"error": {"message": text, "type": kind.get(status, "server_error"), "param": None, "code": None}}


class Chat(Responses):
    """OpenAI's Chat Completions, also as others offer them."""
    api = "chat"

    @staticmethod
    def read(request):
        tools = [Tool(t["function"]["name"], t["function"].get("parameters")) for t in request.get("tools") or []]
        return turns("model" if m.get("role") == "assistant" else "user" for m in request.get("messages", [])), tools

    @classmethod
    def whole(cls, request, answer):
        message = {"role": "assistant", "content": answer.text or None}
        if answer.thought:
            message["reasoning_content"] = answer.thought
        if answer.calls:
            message["tool_calls"] = [{"id": new_id("call"), "type": "function", "function": {
                "name": tool.name, "arguments": json.dumps(arguments)}} for tool, arguments in answer.calls]
        usage = answer.usage
        return {"id": new_id("chatcmpl"), "object": "chat.completion", "created": 1700000000,
                "model": request.get("model"),
                "choices": [{"index": 0, "message": message, "logprobs": None,
                             "finish_reason": "tool_calls" if answer.calls else "stop"}],
                "usage": {"prompt_tokens": usage.prompt, "completion_tokens": usage.completion,
                          "total_tokens": usage.prompt + usage.completion,
                          "prompt_tokens_details": {"cached_tokens": usage.cache_read},
                          "completion_tokens_details": {"reasoning_tokens": usage.reasoning}}}

    @classmethod
    def stream(cls, request, answer):
        whole = cls.whole(request, answer)
        asked = bool((request.get("stream_options") or {}).get("include_usage"))
        base = {"id": whole["id"], "object": "chat.completion.chunk", "created": whole["created"],
                "model": whole["model"]}
        if asked:
            base["usage"] = None
        frames = []

        def say(delta, finish=None):
            frames.append((event(dict(base, choices=[{"index": 0, "delta": delta, "finish_reason": finish}])), None))

        say({"role": "assistant", "content": ""})
        for text in answer.split(answer.thought):
            say({"reasoning_content": text})
        for text in answer.split(answer.text):
            say({"content": text})
        for index, call in enumerate(whole["choices"][0]["message"].get("tool_calls", [])):
            say({"tool_calls": [dict(call, index=index, function=dict(call["function"], arguments=""))]})
            for text in answer.split(call["function"]["arguments"]):
                say({"tool_calls": [{"index": index, "function": {"arguments": text}}]})
        say({}, whole["choices"][0]["finish_reason"])
        if asked:
            frames.append((event(dict(base, choices=[], usage=whole["usage"])), cls.told(answer.usage)))
        return frames + [(event("[DONE]"), None)]


class Gemini:
    """Google's generateContent."""
    api = "gemini"

    @staticmethod
    def read(request):
        tools = [Tool(f["name"], f.get("parametersJsonSchema") or f.get("parameters"))
                 for t in request.get("tools") or [] for f in t.get("functionDeclarations") or []]
        return turns("model" if c.get("role") == "model" else "user" for c in request.get("contents", [])), tools

    @staticmethod
    def told(usage):
        return usage.with_(input=usage.input + usage.cache_write, cache_write=0)

    @staticmethod
    def piece(request, parts, usage, finish):
        candidate = {"index": 0, "content": {"role": "model", "parts": parts}}
        if finish:
            candidate["finishReason"] = "STOP"
        return {"candidates": [candidate], "modelVersion": request.get("model", ""), "responseId": new_id("resp"),
                "usageMetadata": {"promptTokenCount": usage.prompt, "cachedContentTokenCount": usage.cache_read,
                                  "candidatesTokenCount": usage.output, "thoughtsTokenCount": usage.reasoning,
                                  "totalTokenCount": usage.prompt + usage.completion}}

    @classmethod
    def parts(cls, answer, split):
        parts = [{"text": t, "thought": True} for t in split(answer.thought)]
        parts += [{"text": t} for t in split(answer.text)]
        return parts + [{"functionCall": {"name": tool.name, "args": arguments}} for tool, arguments in answer.calls]

    @classmethod
    def whole(cls, request, answer):
        return cls.piece(request, cls.parts(answer, lambda t: [t] if t else []), answer.usage, True)

    @classmethod
    def stream(cls, request, answer):
        parts, frames = cls.parts(answer, answer.split) or [{"text": ""}], []
        for index, part in enumerate(parts):
            is_last = index == len(parts) - 1
            share = lambda count: count if is_last else count * (index + 1) // len(parts)  # the counts only grow
            usage = answer.usage.with_(output=share(answer.usage.output), reasoning=share(answer.usage.reasoning))
            frames.append((cls.piece(request, [part], usage, is_last), cls.told(usage)))
        if request.get("alt") == "sse":
            return [(event(data, end="\r\n"), told) for data, told in frames]
        texts = [(("[" if i == 0 else ",\r\n") + json.dumps(data)).encode() for i, (data, _) in enumerate(frames)]
        return list(zip(texts, (told for _, told in frames))) + [(b"]", None)]

    @staticmethod
    def error(status, text):
        name = {400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 429: "RESOURCE_EXHAUSTED", 500: "INTERNAL"}
        return {"error": {"code": status, "message": text, "status": name.get(status, "UNAVAILABLE")}}
