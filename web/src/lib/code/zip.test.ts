import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "@playwright/test";
import { crc32, safe_name, unique_names, zip } from "./zip";

const bytes = (text: string) => new TextEncoder().encode(text);

test("checksums are CRC-32", () => {
  expect(crc32(bytes("123456789"))).toBe(0xcbf43926);
  expect(crc32(bytes(""))).toBe(0);
});

test("another program reads the archive", () => {
  const time = new Date("2026-02-03T04:05:06Z");
  const archive = zip([
    { name: "notes/größe.md", content: bytes("# Größe\n"), time },
    { name: "empty", content: bytes(""), time },
  ]);
  const directory = mkdtempSync(join(tmpdir(), "hone-zip-"));
  try {
    const path = join(directory, "all.zip");
    writeFileSync(path, Buffer.concat(archive));
    const script =
      "import sys,zipfile;z=zipfile.ZipFile(sys.argv[1]);print(z.testzip());[print(i.filename,i.date_time,z.read(i).decode()) for i in z.infolist()]";
    const told = execFileSync("python3", ["-c", script, path], { encoding: "utf8", env: { PYTHONIOENCODING: "utf8" } });
    expect(told).toBe("None\nnotes/größe.md (2026, 2, 3, 4, 5, 6) # Größe\n\nempty (2026, 2, 3, 4, 5, 6) \n");
  } finally {
    rmSync(directory, { recursive: true });
  }
});

test("file names stay inside the folder and are unique", () => {
  expect(safe_name("../../etc/passwd")).toBe("etc/passwd");
  expect(safe_name("/a\\..\\b: c\u0000")).toBe("a/b_ c_");
  expect(safe_name("..")).toBe("unnamed");
  expect(unique_names(["a.txt", "A.txt", "a.txt", ".env", "x/.env", "b", "b"])).toEqual([
    "a.txt",
    "A (2).txt",
    "a (3).txt",
    ".env",
    "x/.env",
    "b",
    "b (2)",
  ]);
});
