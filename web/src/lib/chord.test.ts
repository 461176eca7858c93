import { expect, test } from "@playwright/test";
import { chord_caps, follow_chord, key_name } from "./chord";

const chords = ["ctrl+k", "g m", "g k", "k", "?"];

test("a single key matches immediately", () => {
  expect(follow_chord("", "?", chords)).toEqual({ hit: "?", prefix: "" });
});

test("a prefix is kept for the second key", () => {
  expect(follow_chord("", "g", chords)).toEqual({ hit: null, prefix: "g" });
  expect(follow_chord("g", "k", chords)).toEqual({ hit: "g k", prefix: "" });
});

test("an unknown second key starts a new sequence", () => {
  expect(follow_chord("g", "?", chords)).toEqual({ hit: "?", prefix: "" });
  expect(follow_chord("g", "z", chords)).toEqual({ hit: null, prefix: "" });
});

test("names contain modifiers, labels list them separately", () => {
  expect(key_name({ key: "K", ctrl: true, alt: false })).toBe("ctrl+k");
  expect(key_name({ key: "?", ctrl: false, alt: false })).toBe("?");
  expect(chord_caps("ctrl+k")).toEqual(["Ctrl", "K"]);
  expect(chord_caps("g m")).toEqual(["G", "M"]);
});
