// Examples per language for sending traces: those of docs/send-traces.md, which the tests run, with this server's
// address and the project's name.

import document from "../../../../docs/send-traces.md";
import { code_blocks } from "../../lib/code/document";
import { CodeBlock } from "../../parts/copy";
import { stored_signal } from "../../stored";

const languages = [
  "Environment variables",
  "Python",
  "JavaScript",
  "OpenAI",
  "Anthropic",
  "OpenAI Agents",
  "LangChain",
];
const frameworks = [
  "LlamaIndex",
  "CrewAI",
  "Google ADK",
  "Pydantic AI",
  "AutoGen",
  "DSPy",
  "smolagents",
  "BeeAI",
  "LiteLLM",
  "Vercel AI SDK",
  "Vercel AI SDK 5 and 6",
  "Mastra",
  "Genkit",
  "VoltAgent",
  "Claude Code",
  "OpenInference",
];
const products = ["Langfuse", "LangSmith", "Traceloop", "MLflow"];
const more = ["Go", "Java", "Collector", "curl"];
const chosen = stored_signal("send_language", "Environment variables");
const sections = code_blocks(document);

const written_here = (code: string, project: string) =>
  code
    .replaceAll("http://127.0.0.1:7070", window.location.origin)
    .replaceAll("127.0.0.1:7070", window.location.host)
    .replaceAll("my-app", project);

interface SendTraceProps {
  project: string;
  /** The secret of a key that was created here. */
  secret?: string;
}

export function SendTrace({ project, secret }: SendTraceProps) {
  const names = [...languages, ...frameworks, ...products, ...more].filter((name) => sections.has(name));
  const name = names.includes(chosen.value) ? chosen.value : (names[0] ?? "");
  return (
    <div class="send-trace">
      <label class="send-language">
        Send from
        <select
          value={name}
          onChange={(event) => {
            chosen.value = event.currentTarget.value;
          }}
        >
          {names.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
      </label>
      {secret && <CodeBlock text={`export HONE_API_KEY=${secret}`} label="key" />}
      {(sections.get(name) ?? []).map((block) => (
        <CodeBlock key={block} text={written_here(block, project)} label={`${name} example`} />
      ))}
      <p class="faint">
        {secret
          ? "Copy the key now: Hone stores only a hash of it and cannot show it again."
          : "HONE_API_KEY is an API key that may send traces. Create one in Settings, API keys."}
      </p>
    </div>
  );
}
