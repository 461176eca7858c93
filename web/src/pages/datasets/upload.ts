// Sends a file with progress; fetch reports none for what is sent.

import { ApiError, api_url, csrf } from "../../api";

export interface Sending {
  /** The response's data. */
  done: Promise<unknown>;
  cancel: () => void;
}

export function send_file(
  path: string,
  query: Record<string, string | undefined>,
  file: File,
  on_progress: (share: number) => void,
  /** A compressed file is unpacked by the server, unless it is kept as it is. */
  unpack = true,
): Sending {
  const request = new XMLHttpRequest();
  const done = new Promise<unknown>((resolve, reject) => {
    request.open("POST", api_url(path, query));
    request.setRequestHeader("Accept", "application/json");
    request.setRequestHeader("Content-Type", "application/octet-stream");
    if (unpack && file.name.endsWith(".gz")) request.setRequestHeader("Content-Encoding", "gzip");
    const token = csrf();
    if (token) request.setRequestHeader("X-CSRF-Token", token);
    request.upload.addEventListener("progress", (event) => {
      if (event.lengthComputable) on_progress(event.loaded / Math.max(1, event.total));
    });
    const fail = (message: string, status = 0, code = "unavailable") =>
      reject(new ApiError(status, code, message, request.getResponseHeader("X-Request-Id"), null));
    request.addEventListener("abort", () => fail("The transfer was cancelled. Nothing was changed.", 0, "cancelled"));
    request.addEventListener("error", () => fail("Could not reach the server. Check your network, then try again."));
    request.addEventListener("load", () => {
      let body: { data?: unknown; error?: { code?: string; message?: string } } = {};
      try {
        body = JSON.parse(request.responseText);
      } catch {
        // Not JSON, for example an error page of a proxy: only the status is known.
      }
      if (request.status >= 200 && request.status < 300) resolve(body.data);
      else
        fail(
          body.error?.message ?? `The server responded with ${request.status}`,
          request.status,
          body.error?.code ?? "internal",
        );
    });
    request.send(file);
  });
  return { done, cancel: () => request.abort() };
}

/** By the name of the file; null when it is neither. */
export function format_of(name: string): "csv" | "jsonl" | null {
  const plain = name.toLowerCase().replace(/\.gz$/, "");
  if (plain.endsWith(".csv")) return "csv";
  if (/\.(jsonl|ndjson)$/.test(plain)) return "jsonl";
  return null;
}
