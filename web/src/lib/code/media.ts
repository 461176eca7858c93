// Which addresses of media in traces a page shows by itself. Traces are hostile: only data inside of the address is shown, so that
// opening a trace sends no request to another server.

const inline_image = /^data:image\/(png|jpeg|jpg|gif|webp|avif);base64,/i;

export type MediaView = "image" | "download" | "link" | "none";

/** SVG is a download: it can contain scripts and load other files. */
export function media_view(source: string): MediaView {
  if (inline_image.test(source)) return "image";
  if (/^data:[\w.+/-]+(;[\w=.-]+)*,/i.test(source)) return "download";
  return /^https?:\/\//i.test(source) ? "link" : "none";
}

/** Bytes of a base64 address. */
export function media_size(source: string): number {
  const data = source.slice(source.indexOf(",") + 1);
  return Math.floor((data.replace(/=+$/, "").length * 3) / 4);
}
