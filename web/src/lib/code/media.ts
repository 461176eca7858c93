// Which addresses of media in traces a page shows by itself. Traces are hostile: only data inside of the address is shown, so that
// opening a trace sends no request to another server.

const inline_image = /^data:image\/(png|jpeg|jpg|gif|webp|avif);base64,/i;

// Formats that browsers play and that hold nothing but sound.
const inline_audio =
  /^data:audio\/(wav|wave|x-wav|vnd\.wave|mpeg|mp3|ogg|opus|flac|x-flac|webm|aac|mp4|m4a|x-m4a)(;codecs=[\w."]+)?;base64,/i;

const audio_file = /\.(wav|mp3|ogg|oga|opus|flac|weba|aac|m4a)$/i;

export type MediaView = "image" | "audio" | "download" | "link" | "none";

export const is_audio_file = (name: string) => audio_file.test(name);

/** SVG is a download: it can contain scripts and load other files. */
export function media_view(source: string): MediaView {
  if (inline_image.test(source)) return "image";
  if (inline_audio.test(source)) return "audio";
  if (/^data:[\w.+/-]+(;[\w=.-]+)*,/i.test(source)) return "download";
  return /^https?:\/\//i.test(source) ? "link" : "none";
}

/** Bytes of a base64 address. */
export function media_size(source: string): number {
  const data = source.slice(source.indexOf(",") + 1);
  return Math.floor((data.replace(/=+$/, "").length * 3) / 4);
}
