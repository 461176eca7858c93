// Reading traces: messages with Markdown and media, texts found inside of a trace, the way from one trace to the next, and sessions
// about what is on the page.

import { readFile } from "node:fs/promises";
import type { Page } from "@playwright/test";
import { check_page } from "./axe";
import { api_key } from "./chat";
import { expect, type Person, test, unique } from "./fixtures";
import { send_spans } from "./spans";

const pixel =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

const markdown = `# Refunds

| plan | days |
|---|---|
| gold | 30 |

Use **refund** and \`order_id\`. <img src=x onerror="document.title='hacked'">

- one
- two`;

const message = (at: number, role: string, content: string) => ({
  [`llm.input_messages.${at}.message.role`]: role,
  [`llm.input_messages.${at}.message.content`]: content,
});

const part = (at: number, kind: string, field: string, value: string) => ({
  [`llm.input_messages.1.message.contents.${at}.message_content.type`]: kind,
  [`llm.input_messages.1.message.contents.${at}.message_content.${field}`]: value,
});

async function with_media(request: Parameters<typeof send_spans>[0], url: string, admin: Person) {
  const project = unique("reading");
  const trace = await send_spans(request, url, await api_key(admin), project, [
    {
      name: "describe",
      attributes: {
        "openinference.span.kind": "LLM",
        ...message(0, "system", markdown),
        "llm.input_messages.1.message.role": "user",
        ...part(0, "text", "text", "What is on these pictures?"),
        ...part(1, "image", "image.image.url", pixel),
        ...part(2, "image", "image.image.url", "https://tracker.example/pixel.png"),
        "llm.output_messages.0.message.role": "assistant",
        "llm.output_messages.0.message.content": "A single pixel.",
      },
    },
  ]);
  return { project, trace };
}

const trace_address = (project: string, trace: string) => `/s/default/projects/${project}/traces/${trace}`;

test("messages are formatted, images of the trace are shown, other servers are not contacted", async ({
  page,
  request,
  server,
  admin,
}) => {
  const { project, trace } = await with_media(request, server.url, admin);
  const foreign: string[] = [];
  page.on("request", (sent) => {
    if (!sent.url().startsWith(server.url) && !sent.url().startsWith("data:")) foreign.push(sent.url());
  });
  await page.goto(trace_address(project, trace));
  const panel = page.getByRole("complementary", { name: "Span describe" });
  const messages = panel.getByRole("list", { name: "Messages to the model" });
  await expect(messages.getByRole("heading", { name: "Refunds" })).toBeVisible();
  await expect(messages.getByRole("cell", { name: "30" })).toBeVisible();
  await expect(messages.getByText("<img src=x")).toBeVisible();
  const image = messages.getByRole("img", { name: "image 1" });
  await expect(image).toBeVisible();
  await expect.poll(() => image.evaluate((element) => (element as HTMLImageElement).naturalWidth)).toBe(1);
  await expect(messages.getByRole("link", { name: /tracker\.example/ })).toHaveAttribute("rel", /noreferrer/);
  expect(foreign).toEqual([]);
  await expect(page).not.toHaveTitle(/hacked/);

  await panel.getByRole("button", { name: "Raw text" }).click();
  await expect(messages.getByText("| gold | 30 |")).toBeVisible();
  await expect(messages.getByRole("heading", { name: "Refunds" })).toHaveCount(0);
  await page.reload();
  await expect(messages.getByText("| gold | 30 |")).toBeVisible();
  await panel.getByRole("button", { name: "Raw text" }).click();
  await expect(messages.getByRole("heading", { name: "Refunds" })).toBeVisible();
});

/** Half a second of silence: 8000 samples of 8 bits in a second. */
function silence(): string {
  const samples = 4000;
  const wav = Buffer.alloc(44 + samples, 128);
  wav.write("RIFF", 0);
  wav.writeUInt32LE(36 + samples, 4);
  wav.write("WAVEfmt ", 8);
  for (const [at, value] of [
    [16, 16],
    [24, 8000],
    [28, 8000],
    [40, samples],
  ] as const)
    wav.writeUInt32LE(value, at);
  for (const [at, value] of [
    [20, 1],
    [22, 1],
    [32, 1],
    [34, 8],
  ] as const)
    wav.writeUInt16LE(value, at);
  wav.write("data", 36);
  return wav.toString("base64");
}

test("sounds of the trace are played when a person wants it, those of other servers are links", async ({
  page,
  request,
  server,
  admin,
}) => {
  const project = unique("sound");
  const wav = silence();
  const parts = [
    { type: "text", text: "What do you hear?" },
    { type: "input_audio", input_audio: { data: wav, format: "wav" } },
    { inline_data: { mime_type: "audio/wav", data: wav } },
    { type: "audio", audio: { url: "https://tracker.example/voice.wav" } },
    { type: "input_audio", input_audio: { data: wav, format: "pcm16" } },
  ];
  const spoken = {
    role: "assistant",
    content: null,
    audio: { id: "audio_1", data: wav, transcript: "Nothing at all." },
  };
  const trace = await send_spans(request, server.url, await api_key(admin), project, [
    {
      name: "listen",
      attributes: {
        "gen_ai.operation.name": "chat",
        "gen_ai.input.messages": JSON.stringify([{ role: "user", content: parts }]),
        "gen_ai.output.messages": JSON.stringify([spoken]),
      },
    },
  ]);
  const foreign: string[] = [];
  page.on("request", (sent) => {
    if (!sent.url().startsWith(server.url) && !sent.url().startsWith("data:")) foreign.push(sent.url());
  });
  const refused: string[] = [];
  page.on("console", (line) => {
    if (line.text().includes("Content Security Policy")) refused.push(line.text());
  });
  await page.goto(trace_address(project, trace));
  const panel = page.getByRole("complementary", { name: "Span listen" });
  const sounds = panel.locator("audio");
  await expect(sounds).toHaveCount(3);
  await expect(panel.getByText("Nothing at all.")).toBeVisible();
  // Nothing is read before it is played.
  expect(await sounds.evaluateAll((all) => all.map((one) => (one as HTMLAudioElement).readyState))).toEqual([0, 0, 0]);
  for (const sound of await sounds.all()) {
    const played = await sound.evaluate(async (element) => {
      const audio = element as HTMLAudioElement;
      audio.muted = true;
      await audio.play();
      return { duration: audio.duration, ready: audio.readyState };
    });
    expect(played.duration).toBeCloseTo(0.5, 2);
    expect(played.ready).toBeGreaterThanOrEqual(2);
  }
  // A format that browsers do not play is a download, as each sound is one too.
  await expect(panel.getByRole("link", { name: /^audio\/wav/ })).toHaveCount(3);
  await expect(panel.getByRole("link", { name: /^audio\/pcm16/ })).toHaveAttribute("download", /audio/);
  await expect(panel.getByRole("link", { name: /tracker\.example/ })).toHaveAttribute("rel", /noreferrer/);
  await check_page(page);
  expect(foreign).toEqual([]);
  expect(refused).toEqual([]);
});

test("the search of a trace finds texts inside of spans", async ({ page, request, server, admin }) => {
  const project = unique("inside");
  const trace = await send_spans(request, server.url, await api_key(admin), project, [
    { name: "first", attributes: { "input.value": "the warehouse is empty" } },
    { name: "second", start: 10, attributes: { "output.value": "order 4411 was shipped" } },
    { name: "third", start: 20, error: "timeout of the carrier" },
  ]);
  await page.goto(trace_address(project, trace));
  const search = page.getByRole("searchbox", { name: "Search in the trace" });
  const chosen = page.getByRole("treegrid", { name: "Spans" }).locator("[aria-selected=true]");
  await search.fill("arehous");
  await expect(page.getByRole("status").filter({ hasText: "1" }).first()).toBeVisible();
  await search.fill("shipped");
  await search.press("Enter");
  await expect(chosen).toContainText("second");
  await search.fill("carrier");
  await search.press("Enter");
  await expect(chosen).toContainText("third");
  await search.fill("nowhere to be found");
  await expect(page.getByText("none", { exact: true })).toBeVisible();
});

const list_of = (page: Page) => page.getByRole("table", { name: "Traces", exact: true });

test("a trace leads to its neighbours in the list, and its actions copy and save it", async ({
  page,
  request,
  server,
  admin,
}) => {
  const project = unique("neighbours");
  const key = await api_key(admin);
  for (const [at, name] of ["oldest", "middle", "newest"].entries())
    await send_spans(request, server.url, key, project, [{ name }], 60_000 - at * 1000);
  await page.goto(`/s/default/projects/${project}/traces`);
  await list_of(page).getByRole("link", { name: "middle" }).click();
  const heading = page.getByRole("heading", { level: 1 });
  await expect(heading).toHaveText("middle");
  await page.getByRole("button", { name: "Next trace" }).click();
  await expect(heading).toHaveText("oldest");
  await expect(page.getByRole("button", { name: "Next trace" })).toBeDisabled();
  await page.keyboard.press("[");
  await expect(heading).toHaveText("middle");
  await page.keyboard.press("[");
  await expect(heading).toHaveText("newest");
  await expect(page.getByRole("link", { name: "1 of 3" })).toBeVisible();

  await page.getByRole("button", { name: "More actions" }).click();
  const saved = page.waitForEvent("download");
  await page.getByRole("menuitem", { name: "Download as OTLP" }).click();
  const file = await (await saved).path();
  const line = JSON.parse((await readFile(file, "utf8")).trim().split("\n")[0] ?? "");
  expect(line.resourceSpans[0].scopeSpans[0].spans[0].name).toBe("newest");
});

test("a filter without matches can be cleared or searched in a longer range", async ({
  page,
  request,
  server,
  admin,
}) => {
  const project = unique("widen");
  const key = await api_key(admin);
  await send_spans(request, server.url, key, project, [{ name: "today", attributes: { "input.value": "refund" } }]);
  await send_spans(
    request,
    server.url,
    key,
    project,
    [{ name: "last week", attributes: { "input.value": "chargeback" } }],
    3 * 86_400_000,
  );
  await page.goto(`/s/default/projects/${project}/traces`);
  const bar = page.getByRole("combobox", { name: "Filter traces by their spans" });
  await bar.fill("chargeback");
  await bar.press("Enter");
  await expect(page.getByText("No matches")).toBeVisible();
  await page.getByRole("button", { name: "Search the last 7 d" }).click();
  await expect(list_of(page).getByRole("link")).toHaveText(["last week"]);
  await bar.fill("nothing like it");
  await bar.press("Enter");
  await page.getByRole("button", { name: "Clear the filter" }).click();
  await expect(list_of(page).getByRole("link")).toHaveText(["today", "last week"]);
});

test("Ask a worker opens the Studio about what is on the page, and each subject can be removed", async ({
  page,
  request,
  server,
  admin,
}) => {
  const { project, trace } = await with_media(request, server.url, admin);
  await page.goto(trace_address(project, trace));
  await page.getByRole("link", { name: "Ask a worker" }).click();
  const subjects = page.getByRole("list", { name: "The session is about" });
  await expect(subjects.getByRole("listitem")).toHaveText([new RegExp(`Trace ${trace.slice(0, 8)}`)]);
  await expect(page.getByLabel("on", { exact: true })).toHaveValue(project);
  await subjects.getByRole("button", { name: /^Remove/ }).click();
  await expect(subjects).toHaveCount(0);

  await page.goto(`/s/default/projects/${project}/traces?filter=${encodeURIComponent('name = "describe"')}`);
  await page.getByRole("link", { name: "Ask a worker" }).click();
  await expect(subjects.getByRole("listitem")).toHaveText(['Traces with name = "describe"', "Last 24 h"]);
});

test("two messages of a conversation are compared", async ({ page, request, server, admin }) => {
  const project = unique("turns");
  const message = (at: string, role: string, content: string) => ({
    [`llm.${at}.message.role`]: role,
    [`llm.${at}.message.content`]: content,
  });
  const attributes = {
    "openinference.span.kind": "LLM",
    "llm.model_name": "small-1",
    ...message("input_messages.0", "assistant", "The order is late.\nIt arrives on Monday."),
    ...message("input_messages.1", "user", "Are you sure?"),
    ...message("output_messages.0", "assistant", "The order is late.\nIt arrives on Tuesday."),
  };
  const trace = await send_spans(request, server.url, await api_key(admin), project, [{ name: "chat", attributes }]);
  await page.goto(trace_address(project, trace));
  const panel = page.getByRole("complementary", { name: "Span chat" });
  const buttons = panel.getByRole("button", { name: "Compare this message" });
  await expect(buttons).toHaveCount(3);
  await buttons.last().click();
  await expect(panel.getByText("Choose another message to compare it with.")).toBeVisible();
  await buttons.first().click();
  const differences = panel.getByRole("group", { name: "Differences of the messages" });
  await expect(differences).toContainText("removed: It arrives on Monday.");
  await expect(differences).toContainText("added: It arrives on Tuesday.");
  await check_page(page);
  await panel.getByRole("button", { name: "Close", exact: true }).click();
  await expect(differences).toHaveCount(0);
});
