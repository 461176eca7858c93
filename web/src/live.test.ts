import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "@playwright/test";
import { follow } from "./live";

// A real server with a log of events 1..total that cuts every connection in the middle of an event.
async function serve(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<[Server, string]> {
  const server = createServer(answer);
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return [server, `http://127.0.0.1:${(server.address() as AddressInfo).port}/events`];
}

test("a lost connection resumes after the last complete event, without gaps or duplicates", async () => {
  const asked: string[] = [];
  const [server, url] = await serve((request, response) => {
    const after = Number(request.headers["last-event-id"] ?? 0);
    asked.push(String(request.headers["last-event-id"] ?? ""));
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    response.write(`: hello\n\nid: ${after + 1}\ndata: event ${after + 1}\n\nid: ${after + 2}\ndata: even`, () =>
      response.destroy(),
    );
  });
  const received: string[] = [];
  let finish: () => void = () => undefined;
  const enough = new Promise<void>((done) => {
    finish = done;
  });
  const live = follow(url, "40", (event) => {
    received.push(`${event.id} ${event.data}`);
    if (received.length === 3) finish();
  });
  await enough;
  live.close();
  server.close();
  expect(received).toEqual(["41 event 41", "42 event 42", "43 event 43"]);
  expect(asked.slice(0, 3)).toEqual(["40", "41", "42"]);
});

test("a client error ends the stream without a retry", async () => {
  let requests = 0;
  const [server, url] = await serve((_, response) => {
    requests += 1;
    response.writeHead(403).end();
  });
  const live = follow(url, "", () => undefined);
  await expect.poll(() => live.state.value).toBe("closed");
  server.close();
  expect(requests).toBe(1);
});

test("the stream is retried while the server restarts", async () => {
  let requests = 0;
  const [server, url] = await serve((_, response) => {
    requests += 1;
    if (requests === 1) response.writeHead(503).end();
    else response.writeHead(200, { "Content-Type": "text/event-stream" }).write("data: back\n\n");
  });
  const data = await new Promise<string>((done) => {
    const live = follow(url, "", (event) => {
      expect(live.state.value).toBe("open");
      live.close();
      done(event.data);
    });
  });
  server.close();
  expect(data).toBe("back");
});
