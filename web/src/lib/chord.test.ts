import { expect, test } from "@playwright/test";
import { chord_caps, follow_chord, key_name } from "./chord";

const chords = ["ctrl+k", "g m", "g k", "k", "?"];

test("a single key hits at once", () => {
  expect(follow_chord("", "?", chords)).toEqual({ hit: "?", prefix: "" });
});

test("a prefix waits for the second key", () => {
  expect(follow_chord("", "g", chords)).toEqual({ hit: null, prefix: "g" });
  expect(follow_chord("g", "k", chords)).toEqual({ hit: "g k", prefix: "" });
});

test("a wrong second key is read as a new first one", () => {
  expect(follow_chord("g", "?", chords)).toEqual({ hit: "?", prefix: "" });
  expect(follow_chord("g", "z", chords)).toEqual({ hit: null, prefix: "" });
});

test("names carry modifiers, caps show them apart", () => {
  expect(key_name({ key: "K", ctrl: true, alt: false })).toBe("ctrl+k");
  expect(key_name({ key: "?", ctrl: false, alt: false })).toBe("?");
  expect(chord_caps("ctrl+k")).toEqual(["Ctrl", "K"]);
  expect(chord_caps("g m")).toEqual(["G", "M"]);
});
