import { expect, test } from "@playwright/test";
import jsqr from "jsqr";
import { qr_code } from "./qr";

/** Draws the code with a margin and reads the picture as a camera would. */
function read(modules: boolean[][]): string | undefined {
  const scale = 4;
  const side = (modules.length + 8) * scale;
  const pixels = new Uint8ClampedArray(side * side * 4).fill(255);
  for (let y = 0; y < side; y++) {
    for (let x = 0; x < side; x++) {
      if (!modules[Math.floor(y / scale) - 4]?.[Math.floor(x / scale) - 4]) continue;
      for (let channel = 0; channel < 3; channel++) pixels[(y * side + x) * 4 + channel] = 0;
    }
  }
  return jsqr(pixels, side, side)?.data;
}

test("another program reads what is drawn, for every version", () => {
  const sizes = new Set<number>();
  for (let length = 1; length <= 858; length += 23) {
    const text = `otpauth://totp/${"Abc123@=&%".repeat(100)}`.slice(0, length);
    const modules = qr_code(text);
    expect(modules, `${length} bytes`).not.toBeNull();
    sizes.add(modules?.length ?? 0);
    expect(read(modules ?? []), `${length} bytes`).toBe(text);
  }
  expect(sizes.size).toBe(20);
});

test("text that does not fit has no code", () => {
  expect(qr_code("x".repeat(858))).not.toBeNull();
  expect(qr_code("x".repeat(859))).toBeNull();
});
