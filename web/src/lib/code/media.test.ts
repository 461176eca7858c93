import { expect, test } from "@playwright/test";
import { media_size, media_view } from "./media";

test("only data inside of the address is shown; everything else is a link, a download or nothing", () => {
  expect(media_view("data:image/png;base64,AAAA")).toBe("image");
  expect(media_view("data:audio/wav;base64,AAAA")).toBe("download");
  expect(media_view("data:video/mp4;base64,AAAA")).toBe("download");
  expect(media_view("data:image/svg+xml;base64,AAAA")).toBe("download");
  expect(media_view("data:text/html,<script>alert(1)</script>")).toBe("download");
  expect(media_view("data:application/pdf;base64,AAAA")).toBe("download");
  expect(media_view("https://example.com/a.png")).toBe("link");
  expect(media_view("javascript:alert(1)")).toBe("none");
  expect(media_view("")).toBe("none");
});

test("the size of data is that of its bytes", () => {
  expect(media_size("data:image/png;base64,AAAA")).toBe(3);
  expect(media_size("data:image/png;base64,AA==")).toBe(1);
});
