import { expect, test } from "@playwright/test";
import { EventParser, retry_delay } from "./sse";

test("events are parsed from any split of the bytes", () => {
  const stream = "id: 7\nevent: message\ndata: a\ndata: b\n\n: heartbeat\n\nid: 8\r\ndata: c\r\n\r\n";
  for (let cut = 0; cut <= stream.length; cut++) {
    const parser = new EventParser();
    const events = [...parser.push(stream.slice(0, cut)), ...parser.push(stream.slice(cut))];
    expect(events).toEqual([
      { id: "7", event: "message", data: "a\nb" },
      { id: "8", event: "message", data: "c" },
    ]);
    expect(parser.last_id).toBe("8");
  }
});

test("an incomplete event is requested again", () => {
  const parser = new EventParser();
  parser.push("id: 1\ndata: whole\n\nid: 2\ndata: ha");
  expect(parser.last_id).toBe("1");
  parser.reset();
  expect(parser.push(": hello\n\n")).toEqual([]);
  expect(parser.last_id).toBe("1");
  expect(parser.push("id: 2\ndata: half\n\n")).toEqual([{ id: "2", event: "message", data: "half" }]);
});

test("an event without data is not delivered but its id is used", () => {
  const parser = new EventParser();
  expect(parser.push("id: 5\n\n")).toEqual([]);
  expect(parser.last_id).toBe("5");
});

test("the retry delay grows up to a limit", () => {
  expect(retry_delay(0, 0.5)).toBe(500);
  expect(retry_delay(3, 0.5)).toBe(4000);
  expect(retry_delay(50, 1)).toBe(18_750);
  expect(retry_delay(2, 0)).toBeLessThan(retry_delay(2, 1));
});
