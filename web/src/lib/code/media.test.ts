import { expect, test } from "@playwright/test";
import { is_audio_file, media_size, media_view } from "./media";

test("only data inside of the address is shown; everything else is a link, a download or nothing", () => {
  expect(media_view("data:image/png;base64,AAAA")).toBe("image");
  for (const type of ["wav", "x-wav", "mpeg", "mp3", "ogg", "flac", "webm", "aac", "mp4", "ogg;codecs=opus"])
    expect(media_view(`data:audio/${type};base64,AAAA`), type).toBe("audio");
  for (const type of ["pcm16", "basic", "x-scpls", "mpegurl", "svg+xml", "wavy"])
    expect(media_view(`data:audio/${type};base64,AAAA`), type).toBe("download");
  expect(media_view("data:audio/wav,AAAA")).toBe("download");
  expect(media_view("https://example.com/a.wav")).toBe("link");
  expect(media_view("data:video/mp4;base64,AAAA")).toBe("download");
  expect(media_view("data:image/svg+xml;base64,AAAA")).toBe("download");
  expect(media_view("data:text/html,<script>alert(1)</script>")).toBe("download");
  expect(media_view("data:application/pdf;base64,AAAA")).toBe("download");
  expect(media_view("https://example.com/a.png")).toBe("link");
  expect(media_view("javascript:alert(1)")).toBe("none");
  expect(media_view("")).toBe("none");
});

test("files of sound have the endings of formats that browsers play", () => {
  for (const name of ["a.wav", "b.MP3", "c.d.flac"]) expect(is_audio_file(name), name).toBe(true);
  for (const name of ["wav", "a.wav.txt", "a.webm", "a.m3u", "a.mid"]) expect(is_audio_file(name), name).toBe(false);
});

test("the size of data is that of its bytes", () => {
  expect(media_size("data:image/png;base64,AAAA")).toBe(3);
  expect(media_size("data:image/png;base64,AA==")).toBe(1);
});
