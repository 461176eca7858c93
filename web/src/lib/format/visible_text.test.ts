import { expect, test } from "@playwright/test";
import { has_unseen, turns, visible_pieces, visible_text } from "./visible_text";

test("plain text stays one piece, tabs included", () => {
  expect(visible_pieces("\tif (a) b(); // größer 你好 🙂\u200d")).toHaveLength(2);
  expect(visible_pieces("\tplain")).toEqual([{ text: "\tplain", mark: null }]);
  expect(has_unseen("\tplain text, ünïcode, 你好, 🙂")).toBe(false);
  expect(visible_pieces("")).toEqual([]);
});

test("characters that change the direction are marked", () => {
  expect(visible_text("access = '\u202e\u2066user\u2069'")).toBe("access = '⟨U+202E⟩⟨U+2066⟩user⟨U+2069⟩'");
  expect(turns("a\u202eb")).toBe(true);
  expect(turns("a\u200bb")).toBe(false);
});

test("characters without width, controls, tags and halves of pairs are marked", () => {
  expect(visible_text("a\u200bb\u00adc\ufeffd")).toBe("a⟨U+200B⟩b⟨U+00AD⟩c⟨U+FEFF⟩d");
  expect(visible_text("\u001b[31m\u0000\r")).toBe("⟨U+001B⟩[31m⟨U+0000⟩⟨U+000D⟩");
  expect(visible_text("\u{e0041}\ud800x\udc00")).toBe("⟨U+E0041⟩⟨U+D800⟩x⟨U+DC00⟩");
  expect(has_unseen("\u200d")).toBe(true);
  expect(has_unseen("\u200d")).toBe(true);
});

test("checking for marks does not hide the first one", () => {
  const text = "False\u202e\u2066 # \u200b";
  expect(has_unseen(text)).toBe(true);
  expect(visible_text(text)).toBe("False⟨U+202E⟩⟨U+2066⟩ # ⟨U+200B⟩");
  expect(visible_pieces(text).filter((piece) => piece.mark !== null)).toHaveLength(3);
});

test("joined emoji and line breaks are kept", () => {
  const worker = "\u{1f469}\u{1f3fd}\u200d\u{1f4bb} \u2764\ufe0f\u200d\u{1f525}\nnext";
  expect(visible_text(worker)).toBe(worker);
  expect(visible_text("a\u200d\u{1f525}")).toBe("a⟨U+200D⟩\u{1f525}");
});
